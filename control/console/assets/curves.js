// Lines over time: where their points are, and nothing of how they look.

// nice is the end of an axis: 1, 2 or 5 of a power of ten, not below what is to be seen.
export function nice(most) {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  for (const step of [1, 2, 5, 10]) if (step * power >= most * 0.999) return step * power;
  return 10 * power;
}

// highest of all lines; 0 if there is nothing.
export const highest = lines => lines.reduce((most, line) => line.values.reduce((m, v) => v > m ? v : m, most), 0);

// spikes is how many times the usual value a value must exceed so that it does not determine the scale.
const spikes = 4;

// within returns the values of the lines from a time to another.
const within = (lines, at, {from, to}) => lines.flatMap(l => l.values.filter((v, i) => v !== null && v !== undefined && at[i] >= from && at[i] <= to));

// scale returns the axis of some lines in a part of time: its bottom, its top, the ticks from top to bottom, and the height of a value as a share.
// On a linear axis a few high values are cut off, so that they do not flatten the rest: peak is the highest of them, or 0.
export function scale(lines, at, part, logarithmic) {
  const values = within(lines, at, part).sort((a, b) => a - b);
  const most = values.length ? values[values.length - 1] : 0;
  return logarithmic ? logarithmicScale(values, most) : linearScale(values, most);
}

function linearScale(values, most) {
  const usual = values.length >= 20 ? values[Math.floor(0.95 * (values.length - 1))] : most;
  const cut = usual > 0 && most > spikes * usual;
  const top = nice(cut ? 1.5 * usual : most);
  return {ticks: [top, top / 2, 0], peak: cut ? most : 0, share: v => Math.min(1, v / top)};
}

// A logarithmic axis has four powers of ten at most. What is below it, as 0, is at its bottom.
function logarithmicScale(values, most) {
  const least = values.find(v => v > 0) || 1;
  const high = most > 0 ? Math.ceil(Math.log10(most) - 0.001) : 0;
  const low = Math.max(high - 4, Math.min(high - 1, Math.floor(Math.log10(least) + 0.001)));
  const ticks = [];
  for (let power = high; power >= low; power--) ticks.push(10 ** power);
  return {ticks, peak: 0, share: v => v > 0 ? Math.min(1, Math.max(0, (Math.log10(v) - low) / (high - low))) : 0};
}

// path is a line within a box, as SVG wants it. It is broken where nothing is known, and where
// points are further apart than they should be.
export function path(at, values, {from, to, share, step, width, height}) {
  const x = t => (t - from) / (to - from) * width;
  let text = "", last = null;
  values.forEach((v, i) => {
    if (v === null || v === undefined || at[i] < from || at[i] > to) { last = null; return; }
    const joined = last !== null && at[i] - last <= 2.5 * step;
    text += (joined ? "L" : "M") + x(at[i]).toFixed(1) + " " + (height - share(v) * height).toFixed(1);
    if (!joined && (i + 1 === values.length || values[i + 1] === null)) text += "h0.1"; // a point by itself
    last = at[i];
  });
  return text;
}

// nearest is the index of the point that is nearest to a time; -1: there is none.
export function nearest(at, time) {
  let best = -1;
  at.forEach((t, i) => { if (best < 0 || Math.abs(t - time) < Math.abs(at[best] - time)) best = i; });
  return best;
}

// newest is the last known value of a line.
export function newest(values) {
  for (let i = values.length - 1; i >= 0; i--) if (values[i] !== null && values[i] !== undefined) return values[i];
  return null;
}

// leastShown is what a chart shows at least, in milliseconds, where less is known.
const leastShown = 120000;

// axis is from when to when a chart is: the span, or as far back as something is known, or
// as is asked for. A part of it may be chosen.
export function axis(history, since = 0, part = {}) {
  const from = Date.parse(history.from), to = Date.parse(history.to);
  if (part.to > from && part.from < to) return {from: Math.max(from, part.from), to: Math.min(to, part.to)};
  const first = history.at.length ? Math.max(history.at[0], since) : to;
  return {from: Math.max(from, Math.min(first, to - leastShown)), to};
}
