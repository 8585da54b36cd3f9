# The job is known now: work in its directories.
function results = sx_op_settle (home, temporary)
  setenv ("HOME", char (home'));
  setenv ("TMPDIR", char (temporary'));
  cd (char (temporary'));
  results = {};
endfunction
