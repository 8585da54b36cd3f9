# least_height is NaN where there is none.
function results = sx_op_peaks (x, y, least_height, least_prominence, least_distance, most)
  sx_need_increasing (x, y, 1);
  span = max (y) - min (y);
  grain = 1e-9 * span;
  # Runs of equal samples, so that each neighbour of a run differs from it.
  first = [1; find(diff (y) != 0) + 1];
  last = [first(2:end) - 1; numel(y)];
  level = y(first);
  rising = [false; level(2:end) > level(1:end - 1)];
  falling = [level(1:end - 1) > level(2:end); false];
  # Of a scalar find gives no column.
  runs = find (rising & falling)(:);
  place = floor ((first(runs) + last(runs)) / 2);
  heights = y(place);
  keep = prominences (level, runs) >= max (least_prominence, grain);
  if (! isnan (least_height))
    keep &= heights >= least_height;
  endif
  place = place(keep);
  heights = heights(keep);
  # Peaks of one height but for rounding count as equal, so that every engine takes the same.
  if (grain == 0)
    grain = 1;
  endif
  [~, order] = sortrows ([floor((max (y) - heights) / grain + 0.5), place]);
  kept = zeros (0, 1);
  for which = order'
    if (all (abs (x(place(kept)) - x(place(which))) >= least_distance))
      kept(end + 1, 1) = which;
      if (numel (kept) == most)
        break;
      endif
    endif
  endfor
  place = sort (place(kept));
  results = {x(place), y(place)};
endfunction

# The height of each peak above the higher of the lowest levels to its left and right before a higher one.
function found = prominences (level, runs)
  found = zeros (numel (runs), 1);
  if (isempty (runs))
    return;
  endif
  # Between two peaks only the lowest level counts.
  edges = [1; runs; numel(level)];
  valleys = zeros (numel (runs) + 1, 1);
  for place = 1:numel (valleys)
    valleys(place) = min (level(edges(place):edges(place + 1)));
  endfor
  peaks = level(runs);
  outer = [level(1), level(end)];
  left = lowest_before_higher (peaks, valleys(1:end - 1), outer(1));
  right = flipud (lowest_before_higher (flipud (peaks), flipud (valleys(2:end)), outer(2)));
  found = peaks - max (left, right);
endfunction

# valleys(k) is the lowest level between the peak before k (or the end, of level `outer`) and peak k.
function found = lowest_before_higher (peaks, valleys, outer)
  count = numel (peaks);
  found = zeros (count, 1);
  heights = zeros (count + 1, 1);
  lows = zeros (count + 1, 1);
  heights(1) = outer;
  lows(1) = Inf;
  standing = 1;
  for place = 1:count
    height = peaks(place);
    low = valleys(place);
    while (standing > 0 && heights(standing) <= height)
      low = min (low, lows(standing));
      standing--;
    endwhile
    found(place) = low;
    standing++;
    heights(standing) = height;
    lows(standing) = low;
  endfor
endfunction
