package main

import (
	"context"
	"math"
)

const (
	planningFigure = "planning ÷ length, IN of 10,000, 40,000 and 500,000 values: largest ÷ smallest"
	killedFigure   = "KILL ends planning after, ms"
)

// planningRow measures whether the time to plan a text is proportional to its length. killedRow measures how
// soon a kill ends it.
func planningRow() row {
	return benchmarkRow(planningFigure, idFigure{pkg: "./router/plan", benchmark: "BenchmarkPlanning", metric: "ratio"}, bound{atMost, 1.3, 1.3}, "medians; lexed and planned, gathering included")
}

func killedRow() row {
	return benchmarkRow(killedFigure, idFigure{pkg: "./proxy/session", benchmark: "BenchmarkKillPlanning", metric: "ms"}, bound{atMost, 100, 100}, "the longest of all rounds, to the client's error")
}

// benchmarkRow is a row with the result of a Go benchmark of a package.
func benchmarkRow(name string, f idFigure, within bound, detail string) row {
	return row{name, func(ctx context.Context, _ *stand, r *report) error {
		value := metricOf(f.run(ctx), f.metric)
		if math.IsNaN(value) {
			detail = "missing: the benchmark fails"
		}
		r.figures = append(r.figures, figure{name: name, value: single(value), judged: value, digits: 2, bound: within, detail: detail})
		return ctx.Err()
	}}
}
