import {test} from "node:test";
import assert from "node:assert/strict";
import {axis, nice, highest, path, nearest, newest} from "../assets/curves.js";
import {chart} from "../assets/chart.js";

test("an axis ends at 1, 2 or 5", () => {
  for (const [most, want] of [[0, 1], [-1, 1], [0.7, 1], [1, 1], [1.2, 2], [3, 5], [7, 10], [120, 200], [0.003, 0.005]]) assert.equal(nice(most), want, String(most));
});

const box = {from: 0, to: 100, top: 10, step: 10, width: 100, height: 50};

test("a line is broken where nothing is known, and where looks were missed", () => {
  assert.equal(path([10, 20, 30], [0, 5, 10], box), "M10.0 50.0L20.0 25.0L30.0 0.0");
  assert.equal(path([10, 20, 30, 40], [0, 5, null, 10], box), "M10.0 50.0L20.0 25.0M40.0 0.0h0.1");
  assert.equal(path([10, 60, 70], [1, 1, 1], box).match(/M/g).length, 2);
  assert.equal(path([-5, 10], [1, 20], box), "M10.0 0.0h0.1", "what is before the span is left out, what is beyond the top stays within");
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
});

test("a chart says what its lines are now, and that nothing is known", () => {
  const history = {from: "2026-03-04T05:00:00Z", to: "2026-03-04T05:15:00Z", step_seconds: 5, at: [Date.parse("2026-03-04T05:10:00Z")]};
  const mark = {at: history.at[0], move: "split-1", what: "<step>"};
  const drawn = String(chart("rate", "Rate", history, [{name: "all", look: "blue", values: [7]}], v => v + "/s", {marks: [mark]}));
  assert.match(drawn, /aria-label="Rate: all 7\/s"/);
  assert.match(drawn, /split-1: &lt;step&gt;/);
  assert.match(String(chart("rate", "Rate", history, [{name: "all", look: "blue", values: [null]}], String, {empty: "not yet"})), /not yet/);
});
