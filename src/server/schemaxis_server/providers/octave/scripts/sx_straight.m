# y on the straight lines between samples, at each t within them.
function found = sx_straight (x, y, t)
  place = lookup (x, t, "lr");
  part = (t - x(place)) ./ (x(place + 1) - x(place));
  found = y(place) + (y(place + 1) - y(place)) .* part;
  last = part == 1;
  found(last) = y(place(last) + 1);
endfunction
