package generators

import (
	"maps"
	"slices"

	"locus/idgen/breaker"
	"locus/idgen/ha"
	"locus/idgen/segment"
)

// Status is the state of an open generator, or of a Redis in front of a table's counters.
type Status struct {
	Name string
	// Left is the remaining share of each field's numbers, from 1 down to 0, as far as this process knows. For
	// generators that take numbers from others, it is the least of theirs.
	Left map[string]float64
	segment.Counts
	// Breakers counts the circuit breakers of each server by state.
	Breakers map[string]map[breaker.State]int
	// Members lists the members of its ha and auto_increment generators.
	Members []Member
}

// Member is the state of a member of a generator.
type Member struct {
	Of    string // the generator; for an inner one its path, such as bill/0-safe
	Name  string // name of a generator, or of a table on a shard
	State ha.State
	Err   error // error of its last call; nil if that succeeded
}

func (s *Status) left(field string, share float64) {
	if before, there := s.Left[field]; !there || share < before {
		s.Left[field] = share
	}
}

func (s *Status) breaker(before string, state breaker.State, n int) {
	if s.Breakers[before] == nil {
		s.Breakers[before] = map[breaker.State]int{}
	}
	s.Breakers[before][state] += n
}

// Status returns the states of the open generators, sorted by name, and of the Redis servers in front of
// tables' counters.
func (s *Set) Status() []Status {
	return append(s.openStatus(), s.bufferStatus()...)
}

func (s *Set) openStatus() []Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	by := map[string]*Status{}
	for name, g := range s.open {
		st := newStatus(name)
		g.status(&st)
		by[name] = &st
	}
	return sorted(by)
}

func newStatus(name string) Status {
	return Status{Name: name, Left: map[string]float64{}, Breakers: map[string]map[breaker.State]int{}}
}

func sorted(by map[string]*Status) []Status {
	var all []Status
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, *by[name])
	}
	return all
}
