function results = sx_op_integral (x, y, initial)
  sx_need_increasing (x, y, 1);
  results = {cumtrapz(x, y) + initial};
endfunction
