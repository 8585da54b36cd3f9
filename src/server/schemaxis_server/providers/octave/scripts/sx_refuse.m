# Ends an operation because of its input; the pointer is relative to the node.
function sx_refuse (pointer, varargin)
  error ("schemaxis:refused", "%s\n%s", pointer, sprintf (varargin{:}));
endfunction
