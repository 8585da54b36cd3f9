# The whole of what Octave runs for schemaxis: answers one request after another until its input ends.
#
# A request on standard input and an answer on the descriptor that SCHEMAXIS_ANSWERS names are doubles:
# a mark, the number of arrays, their lengths, their values. The first array of a request is the name of
# an operation in character codes, the others are its arguments. The first two of an answer are its kind
# (0 done, 1 refused, 2 failed) and a text (warnings, or the reason), the others the results.
function sx_serve ()
  global SX_WARNINGS
  crash_dumps_octave_core (false);
  sighup_dumps_octave_core (false);
  sigterm_dumps_octave_core (false);
  answers = fopen (["/dev/fd/" getenv("SCHEMAXIS_ANSWERS")], "w");
  sx_rehearse ();
  send (answers, {0, double(OCTAVE_VERSION)});
  while (true)
    request = receive ();
    if (isempty (request))
      return;
    endif
    SX_WARNINGS = {};
    lastwarn ("");
    try
      results = feval (["sx_op_" char(request{1}')], request{2:end});
      said = lastwarn ();
      if (! isempty (said))
        sx_warn ("Octave warns: %s", said);
      endif
      answer = [{0, double(strjoin (SX_WARNINGS, "\n"))}, results];
    catch reason
      if (strcmp (reason.identifier, "schemaxis:refused"))
        answer = {1, double(reason.message)};
      else
        answer = {2, double(reason.message)};
      endif
    end_try_catch
    send (answers, answer);
  endwhile
endfunction

function request = receive ()
  request = {};
  head = fread (stdin, 2, "double");
  if (numel (head) < 2 || head(1) != 20241231)
    return;
  endif
  lengths = fread (stdin, head(2), "double");
  for place = 1:head(2)
    # An array without elements must not be read for, and stays a column.
    values = zeros (0, 1);
    if (lengths(place) > 0)
      values = fread (stdin, lengths(place), "double");
    endif
    if (numel (values) != lengths(place))
      request = {};
      return;
    endif
    request{end + 1} = values;
  endfor
endfunction

function send (answers, arrays)
  lengths = cellfun (@numel, arrays);
  columns = cellfun (@(one) one(:), arrays, "UniformOutput", false);
  fwrite (answers, [20241231; numel(arrays); lengths(:); vertcat(columns{:})], "double");
  fflush (answers);
endfunction
