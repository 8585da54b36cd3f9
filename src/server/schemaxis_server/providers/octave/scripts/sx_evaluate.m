# The results of a program, each a column as long as the first variable.
function found = sx_evaluate (program, variables)
  values = cell (1, program.places);
  known = [variables, program.constants];
  values(1:numel (known)) = known;
  handles = program.handles;
  for step = program.steps'
    handle = handles{step(1)};
    if (step(3))
      values{step(4)} = handle (values{step(2)}, values{step(3)});
    else
      values{step(4)} = handle (values{step(2)});
    endif
  endfor
  found = values(program.results);
  for place = 1:numel (found)
    if (numel (found{place}) != numel (variables{1}))
      found{place} = repmat (found{place}, numel (variables{1}), 1);
    endif
  endfor
endfunction
