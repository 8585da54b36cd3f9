function results = sx_op_trap_hang ()
  fdisp (stderr, "hanging");
  while (true)
  endwhile
endfunction
