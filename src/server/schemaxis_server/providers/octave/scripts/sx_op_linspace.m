function results = sx_op_linspace (start, stop, count)
  results = {sx_grid(start, stop, count)};
endfunction
