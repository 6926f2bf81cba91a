package trace

import (
	"math/rand/v2"
	"time"
)

// Sink takes what was traced. Its methods are called by sessions and return at once.
type Sink interface {
	Statement(*Statement)
	Segment(Segment)
}

// Segment is a load of a segment of IDs' sequences, by whichever statement came upon the
// end of the one before.
type Segment struct {
	Counter      string
	Size         uint64
	Began, Ended time.Time
	Failed       bool
}

// Tracer decides what is traced. A nil one traces nothing.
type Tracer struct {
	sink  Sink
	below uint64 // of 63 random bits: fewer are traced
}

const one = 1 << 63

// New traces a share of what applications don't trace themselves, from 0 to 1.
func New(sink Sink, share float64) *Tracer {
	return &Tracer{sink: sink, below: uint64(min(max(share, 0), 1) * one)}
}

func (t *Tracer) chosen() bool { return rand.Uint64()>>1 < t.below }

// Begin gives what is to be noted of a statement: nil if it is not traced. first and last
// are its comments, either of which may say what it is a part of.
func (t *Tracer) Begin(first, last []byte) *Statement {
	if t == nil {
		return nil
	}
	parent, told := parentIn(last)
	if !told {
		parent, told = parentIn(first)
	}
	if told && !parent.sampled() || !told && !t.chosen() {
		return nil
	}
	return &Statement{sink: t.sink, Parent: parent, current: -1}
}

// Segment tells of one, if it is chosen.
func (t *Tracer) Segment(s Segment) {
	if t != nil && t.chosen() {
		t.sink.Segment(s)
	}
}
