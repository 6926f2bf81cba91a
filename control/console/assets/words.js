// Numbers and times as people read them.

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});

export const count = n => whole.format(n || 0);

// digits keeps as many as people look at: 1,234, 56.7, 8.90, 0.012.
export function digits(n) {
  const size = Math.abs(n || 0);
  if (size === 0) return "0";
  if (size >= 100) return whole.format(n);
  if (size >= 10) return n.toFixed(1);
  if (size >= 1) return n.toFixed(2);
  return String(Number(n.toPrecision(2)));
}

export const rate = n => digits(n) + "/s";

// often is a rate as people say it: 12/s, 3 a minute, 2 an hour.
export function often(perSecond) {
  const n = perSecond || 0;
  for (const [unit, seconds] of [["/s", 1], ["/min", 60], ["/h", 3600]]) if (n * seconds >= 0.95) return digits(n * seconds) + unit;
  return n > 0 ? "< 1/h" : "0";
}

// bytes is a size: 512 B, 1.50 KiB, 20.3 GiB.
export function bytes(n) {
  let size = n || 0, unit = 0;
  for (; size >= 1024 && unit < 5; unit++) size /= 1024;
  return (unit ? digits(size) : count(size)) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][unit];
}

export const percent = n => (Math.round((n || 0) * 10) / 10) + " %";

// ms is a latency: 850 µs would hide that all else is in ms.
export function ms(n) {
  if (!n) return "–";
  return n >= 10000 ? digits(n / 1000) + " s" : digits(n) + " ms";
}

// lag is one that may be nothing.
export const lag = n => n ? ms(n) : "0 ms";

// duration is in two units at most: 2 m 14 s.
export function duration(seconds) {
  const s = Math.round(seconds || 0);
  const two = (a, unit, b, lesser) => b ? `${a} ${unit} ${b} ${lesser}` : `${a} ${unit}`;
  if (s < 60) return s + " s";
  if (s < 3600) return two(Math.floor(s / 60), "m", s % 60, "s");
  const m = Math.round(s / 60);
  if (m < 1440) return two(Math.floor(m / 60), "h", m % 60, "m");
  const h = Math.round(m / 60);
  return two(Math.floor(h / 24), "d", h % 24, "h");
}

// plural counts things: 1 shard, 2 shards, 3 proxies.
export function plural(n, thing) {
  if (n === 1) return "1 " + thing;
  return count(n) + " " + (/[^aeiou]y$/.test(thing) ? thing.slice(0, -1) + "ies" : thing + "s");
}

// mood is the class of a severity: its colour on the whole page.
export const mood = severity => ({outage: "bad", "at-risk": "warn", advice: "advice"})[severity] || "good";

const ranks = ["none", "advice", "at-risk", "outage"];

// rank orders what has a severity: the higher, the worse.
export const rank = x => ranks.indexOf(x.severity);

// worst is the highest severity of a list of shards, proxies, members, jobs or findings.
export const worst = list => ranks[list.reduce((most, x) => Math.max(most, rank(x)), 0)];

const pad = n => String(n).padStart(2, "0");

// clock and day write a time, in UTC; an empty one is a dash.
export function clock(when) {
  const t = new Date(when);
  if (!when || isNaN(t)) return "–";
  return `${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}:${pad(t.getUTCSeconds())}`;
}

export function day(when) {
  const t = new Date(when);
  if (!when || isNaN(t)) return "–";
  return `${t.getUTCFullYear()}-${pad(t.getUTCMonth() + 1)}-${pad(t.getUTCDate())} ${pad(t.getUTCHours())}:${pad(t.getUTCMinutes())}`;
}

// ago is how long before now a time was.
export const ago = (when, now) => duration(Math.max(0, (new Date(now) - new Date(when)) / 1000)) + " ago";
