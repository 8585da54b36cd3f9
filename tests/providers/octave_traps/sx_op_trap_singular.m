function results = sx_op_trap_singular ()
  results = {[1, 1; 1, 1] \ [1; 2]};
endfunction
