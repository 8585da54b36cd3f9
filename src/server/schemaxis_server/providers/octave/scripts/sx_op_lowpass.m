function results = sx_op_lowpass (x, y, cutoff, order)
  step = sx_need_uniform (x, y);
  if (cutoff >= 0.5 / step)
    sx_warn ("cutoff is not below half the sampling frequency (%g), so that little is damped.", 0.5 / step);
  endif
  count = numel (y);
  place = (0:2 * count - 1)';
  frequency = min (place, 2 * count - place) / (2 * count * step);
  gain = 1 ./ (1 + (frequency / cutoff) .^ (2 * order));
  filtered = real (ifft (fft ([y; flipud(y)]) .* gain));
  results = {filtered(1:count)};
endfunction
