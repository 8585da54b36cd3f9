# count numbers from start to stop, each operation rounded to a double; the last is exactly stop.
function x = sx_grid (start, stop, count)
  step = (stop - start) / (count - 1);
  # A range is computed only when it is read, and by other operations: take its numbers first.
  place = double (0:count - 1)(:);
  x = place * step + start;
  x(end) = stop;
endfunction
