# normalize: 1 amplitude, 2 power, 3 none.
function results = sx_op_window (x, y, coefficients, normalize)
  sx_need_samples (y, 4, "a window");
  sx_need_finite (x, y);
  turn = 2 * pi * (0:numel (y) - 1)' / numel (y);
  order = 0:numel (coefficients) - 1;
  weights = cos (turn * order) * (coefficients .* (-1) .^ order');
  if (normalize == 1)
    weights /= mean (weights);
  elseif (normalize == 2)
    weights /= sqrt (mean (weights .^ 2));
  endif
  results = {y .* weights};
endfunction
