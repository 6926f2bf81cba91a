package console

import (
	"time"

	"locus/proxy/meter"
	"locus/proxy/mirror"
)

// mirrorAnswer compares the answers of a move's target to mirrored reads with the source's. It covers all proxies,
// regardless of the one displayed.
type mirrorAnswer struct {
	Percent   int     `json:"percent"` // of the reads
	Sampled   uint64  `json:"sampled"`
	Compared  uint64  `json:"compared"`
	Different uint64  `json:"different"`
	Lag       uint64  `json:"lag"`
	Looking   int     `json:"looking"`
	Unsettled uint64  `json:"unsettled"`
	Reordered uint64  `json:"reordered"`
	Dropped   uint64  `json:"dropped"`
	TooLong   uint64  `json:"too_long"`
	Unsent    uint64  `json:"unsent"`
	Late      uint64  `json:"late"`
	Failed    uint64  `json:"failed"`
	Away      string  `json:"away,omitempty"` // why nothing is sent to the target
	SourceP50 float64 `json:"source_p50_ms"`
	SourceP99 float64 `json:"source_p99_ms"`
	TargetP50 float64 `json:"target_p50_ms"`
	TargetP99 float64 `json:"target_p99_ms"`
	// Differences are the latest ones. locus.mirror_differences has more.
	Differences []mirrorDifference `json:"differences"`
}

type mirrorDifference struct {
	Statement  string    `json:"statement"`
	Gene       string    `json:"gene"`
	SourceRows uint64    `json:"source_rows"`
	TargetRows uint64    `json:"target_rows"`
	Code       uint16    `json:"code,omitempty"` // the target's error
	Times      uint64    `json:"times"`
	At         time.Time `json:"at"`
}

// differencesShown bounds the differences of a move in the state.
const differencesShown = 5

func newMirror(percent int, r mirror.Report) *mirrorAnswer {
	ms := func(t meter.Tally, share float64) float64 { return meter.Quantile(t.Times, share).Seconds() * 1000 }
	a := &mirrorAnswer{
		Percent: percent, Sampled: r.Sampled, Compared: r.Compared, Different: r.Different, Lag: r.Lag, Looking: r.Looking, Unsettled: r.Unsettled,
		Reordered: r.Reordered, Dropped: r.Dropped, TooLong: r.TooLong, Unsent: r.Unsent, Late: r.Late, Failed: r.Failed, Away: r.Away,
		SourceP50: ms(r.Source, 0.5), SourceP99: ms(r.Source, 0.99), TargetP50: ms(r.Target, 0.5), TargetP99: ms(r.Target, 0.99),
		Differences: []mirrorDifference{},
	}
	for _, d := range r.Differences[:min(len(r.Differences), differencesShown)] {
		a.Differences = append(a.Differences, mirrorDifference{short(d.Statement), d.Gene, d.SourceRows, d.TargetRows, d.Code, d.Times, d.At})
	}
	return a
}
