# The sum, in more digits where it is finite.
function found = sx_sum (values)
  found = sum (values, "extra");
  if (! isfinite (found))
    found = sum (values);
  endif
endfunction
