function results = sx_op_derivative (x, y)
  sx_need_increasing (x, y, 2);
  steps = diff (x);
  slopes = diff (y) ./ steps;
  if (numel (y) == 2)
    results = {[slopes; slopes]};
    return;
  endif
  # The slope of the parabola through three samples, in differences: these lose no digits to an offset of y.
  h = steps(1:end - 1);
  g = steps(2:end);
  bend = (slopes(2:end) - slopes(1:end - 1)) ./ (h + g);
  inner = slopes(1:end - 1) + h .* bend;
  results = {[slopes(1) - h(1) * bend(1); inner; slopes(end) + g(end) * bend(end)]};
endfunction
