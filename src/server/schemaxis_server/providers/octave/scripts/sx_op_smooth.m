# The mean of up to `window` samples around each, from running sums.
function results = sx_op_smooth (x, y, window)
  sx_need_finite (x, y);
  count = numel (y);
  if (count == 0)
    results = {y};
    return;
  endif
  place = (1:count)';
  reach = min ((window - 1) / 2, min (place - 1, count - place));
  # Sums of differences to the middle of the range lose no digits to an offset of y.
  middle = max (y) / 2 + min (y) / 2;
  sums = [0; cumsum(y - middle)];
  means = (sums(place + reach + 1) - sums(place - reach)) ./ (2 * reach + 1) + middle;
  means(reach == 0) = y(reach == 0);
  results = {means};
endfunction
