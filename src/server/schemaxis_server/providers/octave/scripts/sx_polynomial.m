# The best polynomial by orthogonal factors of Chebyshev's polynomials over the range of x: its values at x,
# and its coefficients in x, the highest power first.
function [fit, coefficients] = sx_polynomial (x, y, degree)
  sx_need_finite (x, y);
  different = numel (unique (x));
  if (different <= degree)
    sx_refuse ("/options/degree", "The series has %d different x; a polynomial of degree %d needs %d.", ...
               different, degree, degree + 1);
  endif
  low = min (x);
  high = max (x);
  middle = low + (high - low) / 2;
  half = (high - low) / 2;
  if (half == 0)
    half = 1;
  endif
  t = (x - middle) / half;
  basis = ones (numel (x), degree + 1);
  powers = zeros (degree + 1);
  powers(1, end) = 1;
  if (degree > 0)
    basis(:, 2) = t;
    powers(2, end - 1) = 1;
  endif
  for order = 3:degree + 1
    basis(:, order) = 2 * t .* basis(:, order - 1) - basis(:, order - 2);
    powers(order, :) = 2 * [powers(order - 1, 2:end), 0] - powers(order - 2, :);
  endfor
  [q, r] = qr (basis, 0);
  weights = q' * y;
  # Once more for what is left over: the fit is then as exact as y.
  weights += q' * (y - q * weights);
  fit = q * weights;
  inner = (r \ weights)' * powers;
  coefficients = 0;
  for place = 1:degree + 1
    coefficients = conv (coefficients, [1 / half, -middle / half]);
    coefficients(end) += inner(place);
  endfor
  coefficients = coefficients(end - degree:end)(:);
endfunction
