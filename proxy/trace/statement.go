package trace

import (
	"time"

	"locus/proxy/flavor"
)

// Statement records one traced statement. A nil Statement isn't traced, and its methods do nothing. It belongs to the
// goroutine of its session.
type Statement struct {
	Parent       Parent
	Began, Ended time.Time
	Known
	Outcome
	// Parts are the steps of the statement in the order in which they began. LeftOut counts further parts that were not
	// recorded.
	Parts   []Part
	LeftOut int

	sink    Sink
	current int // innermost open part that can contain others; -1 for none
}

// Known contains the facts about a statement that its text and session determine.
type Known struct {
	Flavor    flavor.Flavor
	Hash      string // hash of its digest
	Text      string // text of its digest
	Operation string // for example SELECT
	Database  string
	User      string
	Client    string // host and port
}

// Outcome is the result of a statement.
type Outcome struct {
	Tables []string
	Route  string
	Shards []string
	Rows   uint64
	// Code is the MySQL error code at the end of the statement, or 0. Cut reports that the answer did not reach the client
	// completely.
	Code         uint16
	Cut          bool
	Waited, Held time.Duration
}

// Kind is the kind of a part.
type Kind uint8

const (
	// Shard is a command to one shard, up to the end of its answer.
	Shard Kind = iota
	// Hold is a wait while the statement was paused because genes changed hands.
	Hold
	// Issue is the generation of IDs.
	Issue
	// Gather is the whole work of a gathered statement. Each Table within it is filled, then a Shard is queried.
	Gather
	Table
	// Prepare, Decide and Commit are the phases of a commit on several shards.
	Prepare
	Decide
	Commit
)

// Part is one step or wait of a statement.
type Part struct {
	Kind         Kind
	Under        int // index of the enclosing part, or -1
	Began, Ended time.Time
	Shard, Addr  string // for Shard
	Name         string // for Table
	Rows         uint64
	Code         uint16
}

// mostParts is the greatest number of recorded parts. It bounds the memory for a statement of many batches.
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

// Enter begins a part that may contain others. It ends when leave is called.
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

// Answered ends the shard's oldest part that has no answer yet.
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

// End ends the statement and all parts that are still open.
func (s *Statement) End() {
	s.Ended = time.Now()
	for i := range s.Parts {
		if s.Parts[i].Ended.IsZero() {
			s.Parts[i].Ended = s.Ended
		}
	}
	s.sink.Statement(s)
}
