// Which colour a weight has, from nothing to the most.

// heat is a part of 1: linear, or logarithmic from the least that there is.
export function heat(value, least, most, logarithmic) {
  if (!(value > 0) || !(most > 0)) return 0;
  if (!logarithmic) return value / most;
  return most > least ? Math.min(1, 0.08 + 0.92 * Math.log(value / least) / Math.log(most / least)) : 0.5;
}

export const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));

// rgb reads #rrggbb.
export function rgb(colour) {
  const n = parseInt(colour.slice(1), 16);
  return [n >> 16 & 255, n >> 8 & 255, n & 255];
}

// ramp goes from low by middle to high.
export const ramp = (t, low, middle, high) => t < 0.5 ? mix(low, middle, 2 * t) : mix(middle, high, 2 * t - 1);

// spread has a list of runs be an array of so many: [how many, value, …].
export function spread(runs, cells) {
  const all = new Float64Array(cells);
  let at = 0;
  for (let i = 0; i + 1 < runs.length; i += 2) { all.fill(runs[i + 1], at, at + runs[i]); at += runs[i]; }
  return all;
}
