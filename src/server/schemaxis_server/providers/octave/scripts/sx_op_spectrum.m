# scaling: 1 amplitude, 2 power.
function results = sx_op_spectrum (x, y, scaling)
  step = sx_need_uniform (x, y);
  count = numel (y);
  transformed = fft (y)(1:floor (count / 2) + 1);
  found = (abs (transformed) / count) .^ scaling;
  both = 2:ceil (count / 2);
  found(both) *= 2;
  results = {(0:numel (found) - 1)' / (count * step), found};
endfunction
