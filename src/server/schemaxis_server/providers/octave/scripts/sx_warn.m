# Adds a line to what the answer tells besides its results.
function sx_warn (varargin)
  global SX_WARNINGS
  SX_WARNINGS{end + 1} = strrep (strtrim (sprintf (varargin{:})), "\n", " ");
endfunction
