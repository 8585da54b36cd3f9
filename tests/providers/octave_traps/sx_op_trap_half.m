# The heading of an answer, and an end before its numbers.
function results = sx_op_trap_half ()
  answers = fopen (["/dev/fd/" getenv("SCHEMAXIS_ANSWERS")], "w");
  fwrite (answers, [20241231; 3; 1; 0; 1000; 0; 1; 2; 3], "double");
  fclose (answers);
  exit (0);
endfunction
