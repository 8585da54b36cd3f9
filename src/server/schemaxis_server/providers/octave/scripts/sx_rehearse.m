# What an operation needs is read from its file at its first call: that is done while there is time.
function sx_rehearse ()
  x = (0:7)';
  y = [0; 1; 0; 2; 0; 3; 1; 1];
  sx_op_smooth (x, y, 3);
  sx_op_lowpass (x, y, 0.1, 2);
  sx_op_interpolate (x, y, 0.5, 1, 1);
  sx_op_integral (x, y, 0);
  sx_op_derivative (x, y);
  sx_op_spectrum (x, y, 1);
  sx_op_peaks (x, y, NaN, 0, 0, 5);
  sx_op_statistics (x, y, NaN, NaN);
  sx_op_polyfit (x, y, 1);
  sx_op_measure (x, y);
  program = {double("add")', [1; 1; 2; 3], zeros(0, 1), 3, 3};
  sx_op_expression (program{:}, x, y);
  program = {double("multiply")', [1; 1; 2; 3], zeros(0, 1), 3, [3; 1]};
  sx_op_leastSquares (x, y, 1, double("a")', 200, program{:});
  sx_op_solveLinear ([2; 0; 0; 2], [1; 1]);
  sx_op_ode (double("decay")', 1, 1, [0; 1; 2], 1);
endfunction
