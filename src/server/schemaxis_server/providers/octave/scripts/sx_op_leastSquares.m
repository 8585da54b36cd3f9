# Levenberg-Marquardt as the vocabulary defines it. The program gives the model and its slopes by each parameter.
function results = sx_op_leastSquares (x, y, initial, parameters, most, names, steps, constants, places, all)
  sx_need_finite (x, y);
  sx_need_samples (y, numel (initial), "the fit");
  parameters = strsplit (char (parameters'), "\n");
  program = sx_program (names, steps, constants, places, all);
  model = setfield (program, "results", all(1));
  at = @(p) sx_evaluate (program, [{x}, num2cell(p')]);
  now = initial;
  found = at (now);
  if (! all_finite (found{1}))
    sx_refuse ("/options/initial", "The model is not finite at the initial parameters; change them.");
  endif
  size_y = max (sx_rms (y), realmin);
  misfit = y - found{1};
  damping = 1e-3;
  for attempt = 1:most
    slopes = horzcat (found{2:end});
    lengths = sqrt (sumsq (slopes, 1));
    wrong = find (! isfinite (lengths) | lengths == 0, 1);
    if (! isempty (wrong))
      sx_refuse ("/options/initial", ["The model's slope by %s is 0 everywhere, or not finite, at %s; change the " ...
                                      "initial parameters or the model."], parameters{wrong}, shown (parameters, now));
    endif
    scaled = slopes ./ lengths;
    [q, r] = qr ([scaled; sqrt(damping) * eye(numel (now))], 0);
    step = r \ (q(1:numel (y), :)' * misfit);
    change = sx_rms (scaled * step);
    trial = now + step ./ lengths';
    fit = sx_evaluate (model, [{x}, num2cell(trial')]){1};
    before = sx_rms (misfit);
    after = sx_rms (y - fit);
    noticed = 1e-12 * before + 1e-13 * size_y;
    if (after <= before + noticed)
      now = trial;
      misfit = y - fit;
      if ((1 + damping) * change <= 1e-12 * max (size_y, after))
        need_independent (scaled, parameters);
        results = {fit, now, sx_rms(misfit)};
        return;
      endif
      if (after < before - noticed)
        damping /= 10;
      endif
      found = at (now);
    else
      damping *= 10;
      if (damping > 1e15)
        break;
      endif
    endif
  endfor
  sx_refuse ("/options/initial", ["The search found no minimum within %d steps; it stands at %s. Give better initial " ...
                                  "parameters or a simpler model."], most, shown (parameters, now));
endfunction

function found = all_finite (values)
  found = all (isfinite (values));
endfunction

function need_independent (scaled, parameters)
  [~, sizes, turns] = svd (scaled, 0);
  sizes = diag (sizes);
  if (sizes(end) < 1e-6)
    [~, order] = sort (-abs (turns(:, end)));
    told = strjoin (parameters(order(1:min (2, end))), " and ");
    sx_refuse ("/options/model", "The data cannot tell %s apart; remove one of them, or shift x.", told);
  endif
endfunction

function text = shown (parameters, values)
  parts = cellfun (@(name, value) sprintf ("%s = %.6g", name, value), parameters, num2cell (values'), ...
                   "UniformOutput", false);
  text = strjoin (parts, ", ");
endfunction
