# No y is NaN or infinite.
function sx_need_finite (x, y)
  wrong = find (! isfinite (y), 1);
  if (! isempty (wrong))
    names = {"-Infinity", "NaN", "Infinity"};
    which = 2;
    if (! isnan (y(wrong)))
      which += sign (y(wrong));
    endif
    sx_refuse ("/inputs/0", "y is %s at sample %d (x = %g); only expression and statistics take that.", ...
               names{which}, wrong - 1, x(wrong));
  endif
endfunction
