package trace

import (
	"time"

	"locus/proxy/flavor"
)

// Statement is what is noted of one. The methods of a nil one do nothing: it is not
// traced. It belongs to the goroutine of its session.
type Statement struct {
	Parent       Parent
	Began, Ended time.Time
	Known
	Outcome
	// Parts are what it was made of, in the order in which they began; LeftOut is how
	// many more there were.
	Parts   []Part
	LeftOut int

	sink    Sink
	current int // the part that has begun last of those that have others within them; -1: none
}

// Known is what is known of a statement from its text and its session.
type Known struct {
	Flavor    flavor.Flavor
	Hash      string // of its digest
	Text      string // of its digest
	Operation string // such as SELECT
	Database  string
	User      string
	Client    string // host and port
}

// Outcome is what became of it.
type Outcome struct {
	Tables []string
	Route  string
	Shards []string
	Rows   uint64
	// Code is MySQL's number of the error that it ended with, 0 if there was none;
	// Cut: its answer did not reach the client as a whole.
	Code         uint16
	Cut          bool
	Waited, Held time.Duration
}

// Kind says what a part is.
type Kind uint8

const (
	// Shard is what one shard was sent, to the end of its answer.
	Shard Kind = iota
	// Hold is the wait while genes changed hands.
	Hold
	// Issue is the making of IDs.
	Issue
	// Gather is all that is done for a statement whose rows are gathered: each table of
	// it is filled by a Table, and then asked by a Shard.
	Gather
	Table
	// Prepare, Decide and Commit are the phases of a commit over several shards.
	Prepare
	Decide
	Commit
)

// Part is one thing that a statement was made of or waited for.
type Part struct {
	Kind         Kind
	Under        int // the index of the part that it is within, or -1
	Began, Ended time.Time
	Shard, Addr  string // of Shard
	Name         string // of Table
	Rows         uint64
	Code         uint16
}

// mostParts bounds the memory that a statement of many batches takes.
const mostParts = 128

func (s *Statement) add(p Part) bool {
	if len(s.Parts) == mostParts {
		s.LeftOut++
		return false
	}
	p.Under, p.Began = s.current, time.Now()
	s.Parts = append(s.Parts, p)
	return true
}

// Enter begins a part that others may be within, until Leave.
func (s *Statement) Enter(k Kind, name string) (leave func()) {
	if s == nil || !s.add(Part{Kind: k, Name: name}) {
		return nothing
	}
	outer, own := s.current, len(s.Parts)-1
	s.current = own
	return func() {
		s.Parts[own].Ended = time.Now()
		s.current = outer
	}
}

func nothing() {}

// Sent begins the part of a shard.
func (s *Statement) Sent(shard, addr string) {
	if s != nil {
		s.add(Part{Kind: Shard, Shard: shard, Addr: addr})
	}
}

// Answered ends what the shard was sent first of what it has not answered yet.
func (s *Statement) Answered(shard string, rows uint64, code uint16) {
	if s == nil {
		return
	}
	for i := range s.Parts {
		if p := &s.Parts[i]; p.Kind == Shard && p.Shard == shard && p.Ended.IsZero() {
			p.Ended, p.Rows, p.Code = time.Now(), rows, code
			return
		}
	}
}

// End ends the statement, with all that has not ended by itself.
func (s *Statement) End() {
	s.Ended = time.Now()
	for i := range s.Parts {
		if s.Parts[i].Ended.IsZero() {
			s.Parts[i].Ended = s.Ended
		}
	}
	s.sink.Statement(s)
}
