import {test} from "node:test";
import assert from "node:assert/strict";
import * as words from "../assets/words.js";
import {html} from "../assets/html.js";
import {heat, ramp, rgb, spread} from "../assets/colours.js";

const each = (name, f, cases) => test(name, () => { for (const [given, want] of cases) assert.equal(f(given), want, String(given)); });

each("durations have two units at most", words.duration, [[0, "0 s"], [59.6, "1 m"], [134, "2 m 14 s"], [3599.8, "1 h"], [7260, "2 h 1 m"], [90000, "1 d 1 h"], [undefined, "0 s"]]);
each("latencies have units", words.ms, [[0, "–"], [0.0123, "0.012 ms"], [8.9, "8.90 ms"], [56.78, "56.8 ms"], [1234, "1,234 ms"], [12345, "12.3 s"]]);
each("digits are as many as people look at", words.digits, [[0, "0"], [1234.5, "1,235"], [0.5, "0.5"], [0.00044, "0.00044"], [9.999, "10.00"]]);
each("rates are as people say them", words.often, [[0, "0"], [12.34, "12.3/s"], [0.96, "0.96/s"], [0.05, "3.00/min"], [0.0005, "1.80/h"], [0.0001, "< 1/h"], [undefined, "0"]]);
each("sizes have units", words.bytes, [[0, "0 B"], [512, "512 B"], [1536, "1.50 KiB"], [21800000000, "20.3 GiB"]]);
each("times are in UTC", words.clock, [["2026-03-04T05:06:07.8+01:00", "04:06:07"], ["", "–"], ["nonsense", "–"]]);
each("days too", words.day, [["2026-03-04T05:06:07Z", "2026-03-04 05:06"]]);
each("percentages", words.percent, [[40, "40 %"], [33.333, "33.3 %"], [undefined, "0 %"]]);

test("things are counted", () => {
  assert.equal(words.plural(1, "proxy"), "1 proxy");
  assert.equal(words.plural(2, "proxy"), "2 proxies");
  assert.equal(words.plural(1234, "gene"), "1,234 genes");
  assert.equal(words.plural(0, "day"), "0 days");
  assert.equal(words.ago("2026-03-04T05:06:07Z", "2026-03-04T05:08:21Z"), "2 m 14 s ago");
});

test("what is put into a template is escaped, and what a template made is not", () => {
  assert.equal(String(html`<a title="${'"<&\''}">${html`<b>${"<i>"}</b>`}${[1, html`<br>`]}${null}${false}${0}</a>`),
    '<a title="&quot;&lt;&amp;&#39;"><b>&lt;i&gt;</b>1<br>0</a>');
});

test("colours go from nothing to the most, by two scales", () => {
  assert.equal(heat(0, 1, 100, true), 0);
  assert.equal(heat(50, 1, 100, false), 0.5);
  assert.ok(heat(100, 1, 100, true) > 0.999 && heat(100, 1, 100, true) <= 1);
  assert.ok(Math.abs(heat(10, 1, 100, true) - 0.54) < 0.001);
  assert.deepEqual(ramp(0.5, [0, 0, 0], [10, 20, 30], [1, 1, 1]), [10, 20, 30]);
  assert.deepEqual(rgb("#0a141e"), [10, 20, 30]);
  assert.deepEqual(Array.from(spread([2, 5, 1, 7], 4)), [5, 5, 7, 0]);
});
