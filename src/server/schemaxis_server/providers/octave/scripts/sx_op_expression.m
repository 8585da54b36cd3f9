# A program over x and the y of each input, given as x, y, x, y, …
function results = sx_op_expression (names, steps, constants, places, result, varargin)
  x = varargin{1};
  room = 0;
  if (! isempty (x))
    room = 1e-9 * (max (x) - min (x));
  endif
  for place = 3:2:numel (varargin)
    other = varargin{place};
    pointer = sprintf ("/inputs/%d", (place - 1) / 2);
    if (numel (other) != numel (x))
      sx_refuse (pointer, "The inputs have %d and %d samples; resample or interpolate one.", numel (x), numel (other));
    endif
    wrong = find (abs (other - x) > room, 1);
    if (! isempty (wrong))
      sx_refuse (pointer, "x differs at sample %d (%.9g and %.9g); resample or interpolate one.", ...
                 wrong - 1, x(wrong), other(wrong));
    endif
  endfor
  program = sx_program (names, steps, constants, places, result);
  y = sx_evaluate (program, [{x}, varargin(2:2:end)]){1};
  lost = sum (! isfinite (y));
  if (lost > 0)
    sx_warn ("y is not finite at %d of %d samples.", lost, numel (y));
  endif
  results = {y};
endfunction
