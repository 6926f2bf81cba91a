import {test} from "node:test";
import assert from "node:assert/strict";
import {axis, nice, highest, path, nearest, newest, scale} from "../assets/curves.js";
import {chart, marked} from "../assets/chart.js";

test("an axis ends at 1, 2 or 5", () => {
  for (const [most, want] of [[0, 1], [-1, 1], [0.7, 1], [1, 1], [1.2, 2], [3, 5], [7, 10], [120, 200], [0.003, 0.005]]) assert.equal(nice(most), want, String(most));
});

const box = {from: 0, to: 100, share: v => Math.min(1, v / 10), step: 10, width: 100, height: 50};

test("a line is broken where nothing is known, and where looks were missed", () => {
  assert.equal(path([10, 20, 30], [0, 5, 10], box), "M10.0 50.0L20.0 25.0L30.0 0.0");
  assert.equal(path([10, 20, 30, 40], [0, 5, null, 10], box), "M10.0 50.0L20.0 25.0M40.0 0.0h0.1");
  assert.equal(path([10, 60, 70], [1, 1, 1], box).match(/M/g).length, 2);
  assert.equal(path([-5, 10], [1, 20], box), "M10.0 0.0h0.1", "what is before the span is left out, what is beyond the top stays within");
});

test("a few high values do not flatten the others, and are named", () => {
  const at = [...Array(100).keys()], all = {from: 0, to: 99}, usual = at.map(i => 8 + i % 3);
  const spike = usual.map((v, i) => i === 50 ? 12000 : v);
  assert.deepEqual({...scale([{values: usual}], at, all, false), share: 0}, {ticks: [10, 5, 0], peak: 0, share: 0});
  const cut = scale([{values: spike}], at, all, false);
  assert.deepEqual([cut.ticks, cut.peak, cut.share(12000), cut.share(10)], [[20, 10, 0], 12000, 1, 0.5]);
  assert.equal(scale([{values: spike}], at, {from: 0, to: 49}, false).peak, 0, "a spike outside of the part does not count");
  assert.equal(scale([{values: at.map(i => i < 50 ? 1 : 100)}], at, all, false).peak, 0, "half of the time is no spike");
  assert.deepEqual(scale([{values: [null, 0]}], [0, 1], all, false).ticks, [1, 0.5, 0]);
});

test("a logarithmic axis has powers of ten, and 0 at its bottom", () => {
  const at = [0, 1, 2, 3], all = {from: 0, to: 3};
  const {ticks, peak, share} = scale([{values: [0, 2, 12000, null]}], at, all, true);
  assert.deepEqual([ticks, peak], [[100000, 10000, 1000, 100, 10], 0]);
  assert.deepEqual([share(0), share(2), share(1000), share(100000), share(1e9)], [0, 0, 0.5, 1, 1]);
  assert.deepEqual(scale([{values: [10, 10]}], at, all, true).ticks, [10, 1]);
  assert.equal(scale([], at, all, true).ticks.length, 2);
});

test("what is pointed at is the nearest point", () => {
  assert.equal(nearest([], 5), -1);
  assert.equal(nearest([10, 20, 30], 24), 1);
  assert.equal(newest([1, 2, null]), 2);
  assert.equal(newest([null]), null);
  assert.equal(highest([{values: [1, null, 3]}, {values: [2]}]), 3);
});

test("an axis goes as far back as something is known", () => {
  const history = at => ({from: new Date(0).toISOString(), to: new Date(900000).toISOString(), at});
  assert.equal(axis(history([])).from, 780000);
  assert.equal(axis(history([300000, 305000])).from, 300000);
  assert.equal(axis(history([899000])).from, 780000);
  assert.equal(axis(history([-5000])).from, 0);
  assert.equal(axis(history([300000]), 500000).from, 500000);
  assert.equal(axis(history([300000])).to, 900000);
  assert.deepEqual(axis(history([300000]), 0, {from: 400000, to: 500000}), {from: 400000, to: 500000});
  assert.deepEqual(axis(history([300000]), 0, {from: 400000, to: 5000000}).to, 900000);
  assert.equal(axis(history([300000]), 0, {from: 1000000, to: 2000000}).from, 300000, "a part that is over is none");
});

test("a chart says what its lines are now, and that nothing is known", () => {
  const history = {from: "2026-03-04T05:00:00Z", to: "2026-03-04T05:15:00Z", step_seconds: 5, at: [Date.parse("2026-03-04T05:10:00Z")]};
  const mark = {at: history.at[0], move: "split-1", subject: "split-1", what: "<step>", failed: true};
  const drawn = String(chart("rate", "Rate", history, [{name: "all", look: "blue", values: [7]}], v => v + "/s", {marks: [mark]}));
  assert.match(drawn, /aria-label="Rate: all 7\/s"/);
  assert.match(drawn, /split-1: &lt;step&gt;/);
  assert.match(drawn, /class="mark failed"/);
  assert.match(drawn, /<span>10\/s<\/span><span>5\/s<\/span><span>0<\/span>/);
  assert.match(String(marked([mark, {...mark, what: "last"}])), /2 events in this time, the last one at 05:10:00: <b>split-1<\/b> last/);
  assert.equal(marked([]), "");
  assert.match(String(chart("rate", "Rate", history, [{name: "all", look: "blue", values: [null]}], String, {empty: "not yet"})), /not yet/);
});
