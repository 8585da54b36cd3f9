# Bytes on the channel of the answers that are no answer.
function results = sx_op_trap_garbage ()
  answers = fopen (["/dev/fd/" getenv("SCHEMAXIS_ANSWERS")], "w");
  fwrite (answers, repmat (7, 100, 1), "double");
  fclose (answers);
  exit (0);
endfunction
