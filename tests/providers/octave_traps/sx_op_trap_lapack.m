function results = sx_op_trap_lapack (count)
  matrix = rand (count);
  fdisp (stderr, "in lapack");
  results = {svd(matrix)};
endfunction
