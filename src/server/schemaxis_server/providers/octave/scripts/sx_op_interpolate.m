# cubic: 0 for straight lines, 1 for the not-a-knot spline; listed: whether t are the points of the options.
function results = sx_op_interpolate (x, y, t, cubic, listed)
  sx_need_increasing (x, y, 2);
  outside = find (t < x(1) | t > x(end), 1);
  if (! isempty (outside))
    pointer = "/inputs/1";
    if (listed)
      pointer = sprintf ("/options/points/%d", outside - 1);
    endif
    sx_refuse (pointer, "Point %d (%.9g) lies outside the series, which goes from %.9g to %.9g.", ...
               outside - 1, t(outside), x(1), x(end));
  endif
  if (isempty (t))
    results = {zeros(0, 1)};
  elseif (cubic && numel (x) > 2)
    results = {spline(x, y, t)};
  else
    results = {sx_straight(x, y, t)};
  endif
endfunction
