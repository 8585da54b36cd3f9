# A·u = b; what a first solution leaves over, in twice the digits, corrects it. The matrix comes row by row.
function results = sx_op_solveLinear (matrix, right)
  count = numel (right);
  matrix = reshape (matrix, count, count)';
  largest = max (abs (matrix), [], 2);
  wrong = find (largest == 0, 1);
  if (! isempty (wrong))
    sx_refuse (sprintf ("/options/matrix/%d", wrong - 1), "Row %d is all zeros; the matrix is singular.", wrong - 1);
  endif
  scaled = matrix ./ largest;
  sizes = svd (scaled);
  condition = sizes(1) / sizes(end);
  if (! (condition <= 1e12))
    sx_refuse ("/options/matrix", ["The matrix is singular, or nearly so (condition number %.3g); its rows depend " ...
                                   "on each other."], condition);
  endif
  if (condition > 1e8)
    sx_warn ("The condition number is %.3g; about %d digits are lost.", condition, fix (log10 (condition)));
  endif
  target = right ./ largest;
  [lower, upper, order] = lu (scaled);
  found = upper \ (lower \ (order * target));
  # Rounding of the scaled rows is not part of the equations: what is left over is that of the rows themselves.
  for again = 1:3
    correction = upper \ (lower \ (order * (left_over (matrix, found, right) ./ largest)));
    if (! all (isfinite (correction)))
      break;
    endif
    found += correction;
  endfor
  if (! all (isfinite (found)))
    sx_refuse ("/options/rightHandSide", "The solution is beyond the range of a double.");
  endif
  results = {found, sx_rms(left_over (matrix, found, right))};
endfunction

# b - A·u as the sum of exact products and the errors of their sum (Dekker, Knuth).
function left = left_over (matrix, found, right)
  left = right;
  lost = zeros (size (right));
  for column = 1:numel (found)
    [product, error_of] = exact_product (matrix(:, column), -found(column));
    total = left + product;
    other = total - left;
    lost += ((left - (total - other)) + (product - other)) + error_of;
    left = total;
  endfor
  left += lost;
endfunction

function [product, error_of] = exact_product (a, b)
  product = a * b;
  [a_high, a_low] = halves (a);
  [b_high, b_low] = halves (b);
  error_of = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
endfunction

function [high, low] = halves (a)
  far = 134217729 * a;
  high = far - (far - a);
  low = a - high;
endfunction
