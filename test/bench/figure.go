package main

import (
	"fmt"
	"math"
)

// sense states on which side of a bound the good figures are.
type sense int

const (
	atMost sense = iota
	atLeast
)

// bound contains the limit that a figure must keep, and the one it aims at.
type bound struct {
	sense     sense
	must, aim float64
}

// The bounds of every single-shard row.
var (
	throughputBound = bound{atLeast, 0.8, 1.0}
	cpuBound        = bound{atMost, 1.7, 1.0}
)

func (b bound) keeps(v, limit float64) bool {
	if b.sense == atLeast {
		return v >= limit
	}
	return v <= limit
}

// verdict returns "aim", "must", "missed", or "–" for a figure that was not measured.
func (b bound) verdict(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case b.keeps(v, b.aim):
		return "aim"
	case b.keeps(v, b.must):
		return "must"
	default:
		return "**missed**"
	}
}

func (b bound) sign() string {
	if b.sense == atLeast {
		return "≥"
	}
	return "≤"
}

// spell writes one of the two limits: "≤ 1.7".
func (b bound) spell(limit float64) string { return fmt.Sprintf("%s %g", b.sign(), limit) }

// figure is one line of the second table.
type figure struct {
	name   string
	value  spread
	judged float64 // the one of the spread that the bound is for
	unit   string
	digits int
	bound  bound
	detail string
	of     part
}

// part is the section of a figure.
type part int

const (
	ofHop part = iota
	ofMoves
	ofImports
	ofOutages
	ofDefinitions
	ofFewRows
	ofCalls
)

// single returns the spread of a figure that is measured once.
func single(v float64) spread { return spread{v, v, v} }

// format writes "1.02 (0.97–1.10)", or the number alone where it has no spread.
func (s spread) format(digits int) string {
	if math.IsNaN(s.median) {
		return "–"
	}
	if s.least == s.most {
		return fmt.Sprintf("%.*f", digits, s.median)
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.median, digits, s.least, digits, s.most)
}
