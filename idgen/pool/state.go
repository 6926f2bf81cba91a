package pool

import "locus/idgen/segment"

// state is a counter's pool in Redis. The scripts implement these methods in Lua. A test compares the two, and the model
// explores the methods.
//
// Invariant: every number in next..last and in the reserve was granted by the durable store for this pool, and was handed
// out to nobody.
type state struct {
	run        string // run of the server on which the pool was filled; empty if there is no pool
	next, last uint64 // numbers to hand out, in this order; none if next > last
	reserve    segment.Grant
	high       uint64 // the highest number ever put in
	version    uint64 // increases with each run that is handed out from
}

// outcome is the answer of a script.
type outcome string

const (
	took     outcome = "ok"    // the caller gets its numbers
	empty    outcome = "empty" // no run of that length is left
	void     outcome = "void"  // the pool was not made by this run of the server
	filled   outcome = "filled"
	reserved outcome = "reserved"
	full     outcome = "full"  // the reserve is occupied, so the grant was not stored; the caller keeps it
	rest     outcome = "rest"  // the answer is the number of remaining numbers
	stale    outcome = "stale" // the numbers are not above those that were put in before; they were not added
)

// taken is the answer to a take or fill.
type taken struct {
	outcome
	first uint64
	left  uint64 // numbers in the pool, including the reserve
	fill  bool   // the caller must fill the pool
	high  uint64 // for a stale fill, the highest number ever put in
}

// take hands out a run of n numbers above floor, on the server with the given run.
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

// rest returns how many numbers above floor are left, on the server with the given run.
func (s *state) rest(run string, floor uint64) taken {
	if s.run == "" || s.run != run {
		return taken{outcome: void}
	}
	return taken{outcome: rest, left: above(floor, s.next, s.last) + above(floor, s.reserve.First, s.reserve.Last)}
}

// above returns how many of the numbers first to last are above floor.
func above(floor, first, last uint64) uint64 {
	if first = max(first, floor+1); first > last {
		return 0
	}
	return last + 1 - first
}

func (s *state) left() uint64 {
	left := s.last + 1 - s.next
	if s.reserve.First != 0 {
		left += s.reserve.Last + 1 - s.reserve.First
	}
	return left
}

// fill puts a grant into the pool. The caller can't use numbers up to floor, so a reserve below floor is replaced.
// Otherwise it would remain for ever once every process had been given higher numbers past the pool.
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
