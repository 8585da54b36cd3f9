# A bound that is NaN is none. The twelve numbers are in the order in which the vocabulary names them.
function results = sx_op_statistics (x, y, low, high)
  chosen = true (size (x));
  if (! isnan (low))
    chosen &= x >= low;
  endif
  if (! isnan (high))
    chosen &= x <= high;
  endif
  if (! any (chosen))
    sx_refuse ("/options", "No sample lies in the range of x.");
  endif
  x = x(chosen);
  y = y(chosen);
  results = {x, y, describe(y)};
endfunction

function found = describe (y)
  count = numel (y);
  if (any (isnan (y)))
    found = [count; NaN(10, 1)];
    return;
  endif
  total = sx_sum (y);
  mean_y = total / count;
  away = y - mean_y;
  squares = sx_sum (away .^ 2);
  ordered = sort (y);
  level = ordered(1) == ordered(end);
  variance = 0;
  skewness = 0;
  if (count > 1)
    variance = squares / (count - 1);
  endif
  if (! level)
    skewness = sx_sum (away .^ 3) / count / (squares / count) ^ 1.5;
  elseif (isfinite (ordered(1)))
    variance = 0;
  endif
  found = [count; total; mean_y; quartile(ordered, 2); variance; sqrt(variance); ordered(1); ordered(end); ...
           quartile(ordered, 1); quartile(ordered, 3); skewness];
endfunction

function found = quartile (ordered, quarter)
  place = quarter * (numel (ordered) - 1);
  rest = mod (place, 4);
  found = ordered((place - rest) / 4 + 1);
  if (rest > 0)
    found += (ordered((place - rest) / 4 + 2) - found) * rest / 4;
  endif
endfunction
