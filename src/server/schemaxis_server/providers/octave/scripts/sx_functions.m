# What the functions and operators of formulas mean. Octave goes over to complex numbers where there is no
# real value, and its min and max pass over NaN; in formulas the one and the other is NaN.
function table = sx_functions ()
  persistent known
  if (isempty (known))
    known.add = @plus;
    known.subtract = @minus;
    known.multiply = @times;
    known.divide = @rdivide;
    known.power = @power_of;
    known.negate = @uminus;
    for name = {"sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "exp", "abs", "floor", "ceil", "atan2", "hypot"}
      known.(name{1}) = str2func (name{1});
    endfor
    known.asin = @(a) asin (within (a, -1, 1));
    known.acos = @(a) acos (within (a, -1, 1));
    known.log = @(a) log (within (a, 0, Inf));
    known.log10 = @(a) log10 (within (a, 0, Inf));
    known.log2 = @(a) log2 (within (a, 0, Inf));
    known.sqrt = @(a) sqrt (within (a, 0, Inf));
    known.sign = @(a) unless_nan (sign (a), a);
    known.step = @(a) unless_nan (double (a >= 0), a);
    known.min = @(a, b) unless_nan (min (a, b), a, b);
    known.max = @(a, b) unless_nan (max (a, b), a, b);
  endif
  table = known;
endfunction

function a = within (a, low, high)
  a(! (a >= low & a <= high)) = NaN;
endfunction

function found = unless_nan (found, varargin)
  for place = 1:numel (varargin)
    found(isnan (varargin{place}) & true (size (found))) = NaN;
  endfor
endfunction

# Powers of what is below 0 by those of its size: a whole exponent gives the sign, another one no real value.
function found = power_of (a, b)
  below = a < 0;
  # A zero keeps its sign.
  a(below) *= -1;
  found = a .^ b;
  found(below & mod (b, 2) == 1) *= -1;
  found(below & (isnan (b) | (isfinite (a) & isfinite (b) & b != fix (b)))) = NaN;
endfunction
