# What libraries print goes to the log and not among the answers.
function results = sx_op_trap_talk ()
  disp ("on entry to DGESDD parameter number 5 had an illegal value");
  fdisp (stderr, "said besides");
  printf ("%s", repmat ("x", 1, 200000));
  results = cellfun (@double, {getenv("HOME"), getenv("TMPDIR"), tempdir(), pwd()}, "UniformOutput", false);
endfunction
