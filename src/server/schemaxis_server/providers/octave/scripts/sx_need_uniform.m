# The step of x, which is the same everywhere to a thousandth.
function step = sx_need_uniform (x, y)
  sx_need_increasing (x, y, 2);
  count = numel (x);
  step = (x(end) - x(1)) / (count - 1);
  grid = x(1) + step * (0:count - 1)';
  wrong = find (abs (x - grid) > 1e-3 * step, 1);
  if (! isempty (wrong))
    sx_refuse ("/inputs/0", ["The steps of x are not equal (sample %d lies at %.9g, an equal grid has %.9g there); " ...
                             "put resample before it."], wrong - 1, x(wrong), grid(wrong));
  endif
endfunction
