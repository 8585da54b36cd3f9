function results = sx_op_trap_exit ()
  exit (0);
endfunction
