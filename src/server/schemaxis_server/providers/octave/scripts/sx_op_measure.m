# min, max, mean, rms, last, integral, peakX and peakY of a series.
function results = sx_op_measure (x, y)
  last = NaN;
  if (! isempty (y))
    last = y(end);
  endif
  if (isempty (y) || any (isnan (y)))
    results = {[NaN; NaN; NaN; NaN; last; NaN; NaN; NaN]};
    return;
  endif
  highest = max (y);
  room = 1e-9 * max (abs (y));
  bar = highest;
  if (isfinite (room))
    bar -= room;
  endif
  peak = find (y >= bar, 1);
  area = sx_sum (diff (x) .* (y(2:end) + y(1:end - 1)) / 2);
  results = {[min(y); highest; sx_sum(y) / numel(y); sx_rms(y); last; area; x(peak); y(peak)]};
endfunction
