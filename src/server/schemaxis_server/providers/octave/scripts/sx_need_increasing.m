# x increases, y is finite, and there are enough samples.
function sx_need_increasing (x, y, count)
  sx_need_samples (y, count, "it");
  sx_need_finite (x, y);
  wrong = find (! (diff (x) > 0), 1);
  if (! isempty (wrong))
    sx_refuse ("/inputs/0", ["x does not increase at sample %d (%g, then %g); sort the rows, and keep one of " ...
                             "equal x."], wrong, x(wrong), x(wrong + 1));
  endif
endfunction
