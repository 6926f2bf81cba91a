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

// path is a line within a box, as SVG wants it. It is broken where nothing is known, and where
// points are further apart than they should be.
export function path(at, values, {from, to, top, step, width, height}) {
  const x = t => (t - from) / (to - from) * width;
  const y = v => height - Math.min(1, v / top) * height;
  let text = "", last = null;
  values.forEach((v, i) => {
    if (v === null || v === undefined || at[i] < from) { last = null; return; }
    const joined = last !== null && at[i] - last <= 2.5 * step;
    text += (joined ? "L" : "M") + x(at[i]).toFixed(1) + " " + y(v).toFixed(1);
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
// as is asked for.
export function axis(history, since = 0) {
  const from = Date.parse(history.from), to = Date.parse(history.to);
  const first = history.at.length ? Math.max(history.at[0], since) : to;
  return {from: Math.max(from, Math.min(first, to - leastShown)), to};
}
