function results = sx_op_polyfit (x, y, degree)
  [fit, coefficients] = sx_polynomial (x, y, degree);
  if (! all (isfinite (coefficients)))
    sx_refuse ("/inputs/0", "The coefficients are beyond the range of a double; scale x.");
  endif
  results = {fit, coefficients, sx_rms(y - fit)};
endfunction
