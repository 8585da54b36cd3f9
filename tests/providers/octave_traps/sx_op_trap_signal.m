function results = sx_op_trap_signal (number)
  kill (getpid (), number);
  while (true)
  endwhile
endfunction
