# A formula as a list of allow-listed functions: rows of function, argument, argument (0 for none) and place of
# the result, over numbered places of which the first hold the variables and the next the constants.
function program = sx_program (names, steps, constants, places, results)
  functions = sx_functions ();
  program.handles = {};
  for name = strsplit (char (names'), "\n")
    program.handles{end + 1} = functions.(name{1});
  endfor
  program.steps = reshape (steps, 4, [])';
  program.constants = num2cell (constants');
  program.places = places;
  program.results = results;
endfunction
