package pool

import "locus/idgen/segment"

// state is a counter's pool in Redis. The scripts are these methods in Lua; a
// test holds the two together, and the model explores the methods.
//
// Invariant: every number in next..last and in the reserve was granted by the
// durable store for this pool, and was handed out to nobody.
type state struct {
	run        string // of the server that the pool was filled on; empty: no pool
	next, last uint64 // what is handed out, in this order; next > last: nothing
	reserve    segment.Grant
	high       uint64 // the highest number that was ever put in
	version    uint64 // rises with each run that is handed out from
}

// outcome is a script's answer.
type outcome string

const (
	took     outcome = "ok"    // the caller has its run
	empty    outcome = "empty" // no run of that length is left
	void     outcome = "void"  // no pool of this server's
	filled   outcome = "filled"
	reserved outcome = "reserved"
	full     outcome = "full"  // there is a reserve: the grant stays the caller's
	stale    outcome = "stale" // at or below what was put in before: not used
)

// taken is the answer to a take, or to a fill.
type taken struct {
	outcome
	first uint64
	left  uint64 // numbers in the pool, the reserve included
	fill  bool   // the caller is asked to fill the pool
	high  uint64 // of a stale fill: the highest number that was ever put in
}

// take hands out a run of n numbers above floor, on the server of that run.
func (s *state) take(run string, n, floor uint64) taken {
	if s.run == "" || s.run != run {
		return taken{outcome: void}
	}
	next, last, reserve, version := s.next, s.last, s.reserve, s.version
	for {
		first := max(next, floor+1)
		if first+n-1 <= last {
			s.next, s.last, s.reserve, s.version = first+n, last, reserve, version
			return taken{outcome: took, first: first, left: s.left()}
		}
		if reserve.First == 0 {
			return taken{outcome: empty}
		}
		next, last, reserve, version = reserve.First, reserve.Last, segment.Grant{}, version+1
	}
}

func (s *state) left() uint64 {
	left := s.last + 1 - s.next
	if s.reserve.First != 0 {
		left += s.reserve.Last + 1 - s.reserve.First
	}
	return left
}

// fill puts a grant into the pool, for a caller to whom numbers up to floor are of no use: a reserve below gives way, which
// would otherwise stand there for ever once every process was given higher numbers past the pool.
func (s *state) fill(run string, g segment.Grant, floor uint64) outcome {
	switch {
	case g.First <= s.high:
		return stale
	case s.run != run:
		*s = state{run: run, next: g.First, last: g.Last, high: g.Last, version: s.version + 1}
		return filled
	case s.reserve.First != 0 && s.reserve.Last > floor:
		return full
	}
	s.reserve, s.high = g, g.Last
	return reserved
}
