# The sum, in more digits where all values are finite.
function found = sx_sum (values)
  if (all (isfinite (values)))
    found = sum (values, "extra");
  else
    found = sum (values);
  endif
endfunction
