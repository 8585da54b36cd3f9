function results = sx_op_resample (x, y, count)
  sx_need_increasing (x, y, 2);
  t = sx_grid (x(1), x(end), count);
  results = {t, sx_straight(x, y, t)};
endfunction
