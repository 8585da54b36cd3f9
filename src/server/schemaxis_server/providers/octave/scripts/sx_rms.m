# Root mean square, without overflow.
function found = sx_rms (values)
  found = max ([0; abs(values)]);
  if (any (isnan (values)))
    found = NaN;
  elseif (isfinite (found) && found > 0)
    found *= sqrt (sum ((values / found) .^ 2) / numel (values));
  endif
endfunction
