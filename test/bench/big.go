package main

import (
	"context"
	"fmt"
	"math"
)

const (
	megabyte = 1e6
	mebibyte = 1 << 20
)

// bigScript reads all orders of the big buyer.
func bigScript(s *stand) func(spelling) scripting {
	steps := []step{{
		sql:  "SELECT * FROM test_order WHERE buyer_uid = {buyer}",
		want: want{rows: bigRows},
	}}
	return func(spelling) scripting {
		return func(int, int) script {
			return script{steps, func() draw { return draw{buyer: s.cast.bigBuyer.uid} }}
		}
	}
}

func bigRow() row {
	const name = "20 MB result, 1 client"
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		if err := s.seedBig(ctx); err != nil {
			return err
		}
		measured, err := s.compare(ctx, test{1, text, bigScript(s)}, s.lanes())
		if err != nil {
			return err
		}
		direct, hop, locus := find(measured, viaDirect), find(measured, viaHaproxy), find(measured, viaLocus)
		speed, cost := locus.over(direct, bytesRate), locus.over(hop, hopCPU)
		r.figures = append(r.figures, figure{
			name: name + ": MB/s ÷ direct", value: speed, judged: speed.median, digits: 2, bound: bound{atLeast, 0.8, 1},
			detail: fmt.Sprintf("direct %.0f, haproxy %.0f, locus %.0f MB/s; %.1f MB in %d rows", megabytes(direct), megabytes(hop),
				megabytes(locus), resultSize(direct), bigRows),
		}, figure{
			name: name + ": CPU ÷ haproxy", value: cost, judged: cost.median, digits: 2, bound: bound{atMost, 1.3, 1},
			detail: fmt.Sprintf("haproxy %.1f, locus %.1f ms per result", hop.of(hopCPU).median/1000, locus.of(hopCPU).median/1000),
		})
		return nil
	}}
}

func megabytes(s series) float64 { return s.of(bytesRate).median / megabyte }

func resultSize(s series) float64 {
	return s.of(func(one sample) float64 { return one.bytes / one.statements }).median / megabyte
}

// eightBigRow weighs the hops while eight clients read such a result at once. The proxy is one that carried no load.
func eightBigRow() row {
	const name = "8 results of 20 MB at once: memory growth"
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		if err := s.seedBig(ctx); err != nil {
			return err
		}
		hop, err := s.growth(ctx, s.lanes()[1], 8)
		if err != nil {
			return err
		}
		locus, err := s.growth(ctx, s.locus(s.ready.spareProxy(0), stamped), 8)
		if err != nil {
			return err
		}
		r.figures = append(r.figures, figure{
			name: name, value: locus, judged: locus.most, unit: "MiB", digits: 1, bound: bound{atMost, 8, 2},
			detail: fmt.Sprintf("haproxy %.1f MiB; judged by the most of all rounds", hop.most),
		})
		return nil
	}}
}

// growth returns by how many MiB the hop's peak memory exceeds its memory before the first round, for each
// round.
func (s *stand) growth(ctx context.Context, via lane, clients int) (spread, error) {
	l, err := newLoad(ctx, clients, via.at, bigScript(s)(via.spelling), text, s.deprecateEOF)
	if err != nil {
		return spread{}, fmt.Errorf("%s: %w", via.name, err)
	}
	defer l.close()
	before, err := memoryOf(via.pid)
	if err != nil {
		return spread{}, err
	}
	var grown []float64
	for range s.rounds {
		if err := resetPeak(via.pid); err != nil {
			return spread{}, err
		}
		if _, err := l.run(ctx, 0); err != nil {
			return spread{}, fmt.Errorf("%s: %w", via.name, err)
		}
		after, err := memoryOf(via.pid)
		if err != nil {
			return spread{}, err
		}
		grown = append(grown, math.Max(0, float64(after.peak-before.now)/mebibyte))
	}
	return spreadOf(grown), nil
}
