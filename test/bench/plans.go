package main

import (
	"context"
	"math"
)

const plansFigure = "look-up of a plan among 64 shards, 4,096 entries, 1,000 tables ÷ 2, 4, 9"

// plansRow measures whether the cost of a statement before it is sent depends on the size of the cluster.
func plansRow() row {
	return row{plansFigure, func(ctx context.Context, _ *stand, r *report) error {
		said := idFigure{pkg: "./router/plan", benchmark: "BenchmarkLookupLarge", metric: "ratio"}.run(ctx)
		for _, f := range []struct {
			name, metric string
			bound        bound
		}{
			{plansFigure + ": one shard", "ratio", bound{atMost, 1.1, 1.05}},
			{plansFigure + ": all shards", "scatter-ratio", bound{atMost, 1.5, 1.2}},
		} {
			ratio := metricOf(said, f.metric)
			detail := "median of 1,001 rounds of 200 each, in turn; none allocates"
			if math.IsNaN(ratio) {
				detail = "missing: the benchmark fails"
			}
			r.figures = append(r.figures, figure{name: f.name, value: single(ratio), judged: ratio, digits: 2, bound: f.bound, detail: detail})
		}
		return ctx.Err()
	}}
}
