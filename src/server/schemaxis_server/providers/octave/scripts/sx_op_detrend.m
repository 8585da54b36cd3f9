function results = sx_op_detrend (x, y, degree)
  results = {y - sx_polynomial(x, y, degree)};
endfunction
