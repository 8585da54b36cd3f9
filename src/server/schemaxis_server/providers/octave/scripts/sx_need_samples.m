function sx_need_samples (y, count, why)
  if (numel (y) < count)
    sx_refuse ("/inputs/0", "The series has %d samples; %s needs %d.", numel (y), why, count);
  endif
endfunction
