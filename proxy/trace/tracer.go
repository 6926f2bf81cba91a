package trace

import (
	"math/rand/v2"
	"time"
)

// Sink receives traces. Sessions call its methods, which must not block.
type Sink interface {
	Statement(*Statement)
	Segment(Segment)
}

// Segment is the loading of a segment of sequence numbers for IDs, by the statement that exhausted the last segment.
type Segment struct {
	Counter      string
	Size         uint64
	Began, Ended time.Time
	Failed       bool
}

// Tracer decides which statements are traced. A nil Tracer traces none.
type Tracer struct {
	sink  Sink
	below uint64 // threshold for 63 random bits, below which a statement is traced
}

const one = 1 << 63

// New returns a tracer that samples the given share, from 0 to 1, of statements without a traceparent.
func New(sink Sink, share float64) *Tracer {
	return &Tracer{sink: sink, below: uint64(min(max(share, 0), 1) * one)}
}

func (t *Tracer) chosen() bool { return rand.Uint64()>>1 < t.below }

// Begin returns the record for a statement, or nil if it isn't traced. first and last are the statement's comments. Either may
// contain a traceparent.
func (t *Tracer) Begin(first, last []byte) *Statement {
	if t == nil {
		return nil
	}
	parent, found := parentIn(last)
	if !found {
		parent, found = parentIn(first)
	}
	if found && !parent.sampled() || !found && !t.chosen() {
		return nil
	}
	return &Statement{sink: t.sink, Parent: parent, current: -1}
}

// Segment records the loading of a segment if it is sampled.
func (t *Tracer) Segment(s Segment) {
	if t != nil && t.chosen() {
		t.sink.Segment(s)
	}
}
