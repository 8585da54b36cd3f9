# One state of a named system over time, by Taylor series of high order, whose terms follow from each other.
#
# Every system is written with products of two: z' = L·z + Σ c·z_i·z_j, where z are the states and helpers
# such as the sine of an angle, which are set anew from the states at the start of each series.
function results = sx_op_ode (name, parameters, initial, span, component)
  [linear, products, helpers] = feval (["system_" char(name')], parameters);
  times = sx_grid (span(1), span(2), span(3));
  count = numel (initial);
  found = zeros (size (times));
  found(1) = initial(component);
  done = 1;
  state = initial;
  t = times(1);
  steps = 0;
  while (done < numel (times))
    terms = series ([state; helpers(state, t)], linear, products);
    reach = radius (terms(1:count, :)) / e ^ 2;
    if (! (reach > 0))
      lost ("The solution leaves every bound before stop; shorten the time.");
    endif
    # The next time is a double: what the step really is follows from it.
    next = min (t + reach, times(end));
    steps++;
    if (next == t || steps > 25000)
      lost (["It needs too many steps: the system is stiff or the time is long; shorten it or change the " ...
             "parameters."]);
    endif
    last = done + lookup (times(done + 1:end), next);
    found(done + 1:last) = polyval (terms(component, end:-1:1), times(done + 1:last) - t);
    done = last;
    state = values_of (terms(1:count, :), next - t);
    t = next;
    if (! all (isfinite (state)))
      lost ("The solution leaves every bound before stop; shorten the time.");
    endif
  endwhile
  if (! all (isfinite (found)))
    lost ("The solution leaves every bound before stop; shorten the time.");
  endif
  results = {times, found};
endfunction

function lost (text)
  sx_refuse ("/options/stop", "%s", text);
endfunction

# The coefficients of each z in powers of the time since the start of the series.
function terms = series (z, linear, products)
  order = 26;
  terms = zeros (numel (z), order + 1);
  terms(:, 1) = z;
  for n = 1:order
    rate = linear * terms(:, n);
    for product = products
      row = product(1);
      rate(row) += product(4) * (terms(product(2), 1:n) * terms(product(3), n:-1:1)');
    endfor
    terms(:, n + 1) = rate / n;
  endfor
endfunction

# How far the series reaches, from its last two terms.
function found = radius (terms)
  order = columns (terms) - 1;
  size_of = max (abs (terms(:, 1)));
  last = max (abs (terms(:, end - 1:end)), [], 1);
  if (size_of == 0)
    size_of = realmin;
  endif
  found = min ((size_of ./ last) .^ (1 ./ [order - 1, order]));
  # Where numbers are so small that terms vanish, the first ones still tell.
  first = max (abs (terms(:, 2)));
  if (first > 0)
    found = min (found, order * size_of / first);
  endif
endfunction

function found = values_of (terms, h)
  found = terms(:, end);
  for place = columns (terms) - 1:-1:1
    found = found * h + terms(:, place);
  endfor
endfunction

# Each system: the matrix L, the products as columns of (row; i; j; c), and the helpers.

function [linear, products, helpers] = system_decay (p)
  linear = -p(1);
  products = zeros (4, 0);
  helpers = @(state, t) zeros (0, 1);
endfunction

function [linear, products, helpers] = system_logistic (p)
  linear = p(1);
  products = [1; 1; 1; -p(1) / p(2)];
  helpers = @(state, t) zeros (0, 1);
endfunction

# Helpers are the cosine and the sine of the force.
function [linear, products, helpers] = system_oscillator (p)
  w = p(1);
  linear = [0, 1, 0, 0; -w^2, -2*p(2)*w, p(3), 0; 0, 0, 0, -p(4); 0, 0, p(4), 0];
  products = zeros (4, 0);
  helpers = @(state, t) [cos(p(4) * t); sin(p(4) * t)];
endfunction

# Helpers are the sine and the cosine of the angle.
function [linear, products, helpers] = system_pendulum (p)
  linear = [0, 1, 0, 0; 0, -p(3), -p(2) / p(1), 0; 0, 0, 0, 0; 0, 0, 0, 0];
  products = [3, 4; 4, 3; 2, 2; 1, -1];
  helpers = @(state, t) [sin(state(1)); cos(state(1))];
endfunction

# The helper is the square of the position.
function [linear, products, helpers] = system_vanDerPol (p)
  linear = [0, 1, 0; -1, p(1), 0; 0, 0, 0];
  products = [2, 3; 3, 1; 2, 2; -p(1), 2];
  helpers = @(state, t) state(1) ^ 2;
endfunction

function [linear, products, helpers] = system_lotkaVolterra (p)
  linear = [p(1), 0; 0, -p(4)];
  products = [1, 2; 1, 1; 2, 2; -p(2), p(3)];
  helpers = @(state, t) zeros (0, 1);
endfunction

function [linear, products, helpers] = system_epidemic (p)
  linear = [0, 0, 0; 0, -p(2), 0; 0, p(2), 0];
  products = [1, 2; 1, 1; 2, 2; -p(1), p(1)];
  helpers = @(state, t) zeros (0, 1);
endfunction
