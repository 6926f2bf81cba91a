package main

import (
	"context"
	"errors"
	"fmt"
)

// scatterRow compares the proxy's scatter with clients that ask both shards themselves, in parallel, and would have
// to merge the answers, which they are spared.
func scatterRow(name string, statement func(first field) step) row {
	name += ", 8 clients"
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		if len(s.shards) < 2 {
			return errors.New("a scatter needs a shard s1 beside s0")
		}
		both := lane{viaDirect, []endpoint{s.shards[0].endpoint(), s.shards[1].endpoint()}, 0, full}
		script := func(sp spelling) scripting {
			first := noField
			if sp == stamped { // the proxy's answer is for all shards
				first = width
			}
			return func(i, n int) script { return script{[]step{statement(first)}, dealRange(i, n)} }
		}
		measured, err := s.compare(ctx, test{8, text, script}, []lane{both, s.locus(0, stamped)})
		if err != nil {
			return err
		}
		direct, locus := find(measured, viaDirect), find(measured, viaLocus)
		ratio := locus.over(direct, statements)
		r.figures = append(r.figures, figure{
			name: name + ": throughput ÷ asking both shards", value: ratio, judged: ratio.median, digits: 2,
			bound: bound{atLeast, 0.8, 1},
			detail: fmt.Sprintf("%.0f, %.0f per s; CPU %.0f µs", direct.of(statements).median,
				locus.of(statements).median, locus.of(hopCPU).median),
		})
		return nil
	}}
}
