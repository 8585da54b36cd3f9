function results = sx_op_trap_wrong ()
  results = {[1; 2; 3]};
  no_such_function (results);
endfunction
