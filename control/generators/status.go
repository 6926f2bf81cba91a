package generators

import (
	"maps"
	"slices"

	"locus/idgen/breaker"
	"locus/idgen/ha"
	"locus/idgen/segment"
)

// Status is how an open generator stands, or a Redis in front of the counters of a table.
type Status struct {
	Name string
	// Left is what is left of each field, from 1 down to 0, as far as this process
	// knows: of generators that take from others the least of theirs.
	Left map[string]float64
	segment.Counts
	// Breakers counts those before a server by their state.
	Breakers map[string]map[breaker.State]int
	// Members are those of its ha and auto_increment generators.
	Members []Member
}

// Member is how a member of a generator stands.
type Member struct {
	Of    string // the generator; of one within another the way to it, such as bill/0-safe
	Name  string // a generator, or a table on a shard
	State ha.State
	Err   error // of its last call, if that failed
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

// Status is that of the open generators, by name, and of the Redis in front of tables' counters, by the table's.
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
