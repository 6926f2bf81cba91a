package twophase

import (
	"fmt"
	"runtime"
	"strings"
)

// schedule runs actors one step at a time, in an order that is given, so that all
// orders can be tried. An actor's state is what its steps told it: two runs in
// which all actors were told the same, and the servers are alike, go on alike.
type schedule struct {
	actors []*actor
	events chan *actor // an actor has reached its next step, or its end
}

type actor struct {
	name    string
	turns   chan turn
	ended   bool
	options int      // how many ways its next step can go
	told    []string // the results of its steps
	s       *schedule
}

type turn struct {
	way  int
	stop bool // the run is given up
}

func (s *schedule) start(name string, run func(*actor)) {
	a := &actor{name: name, turns: make(chan turn), s: s}
	s.actors = append(s.actors, a)
	go func() {
		defer func() {
			a.ended = true
			s.events <- a
		}()
		run(a)
	}()
	<-s.events
}

// step waits for the actor's turn, and gives which of several ways it goes.
func (a *actor) step(options int) int {
	a.options = options
	a.s.events <- a
	t := <-a.turns
	if t.stop {
		runtime.Goexit()
	}
	return t.way
}

func (a *actor) hear(format string, args ...any) {
	a.told = append(a.told, fmt.Sprintf(format, args...))
}

// choices lists what can happen next: an actor, and the way that its step goes.
func (s *schedule) choices() (list []choice) {
	for i, a := range s.actors {
		if !a.ended {
			for way := range a.options {
				list = append(list, choice{i, way})
			}
		}
	}
	return list
}

type choice struct{ actor, way int }

func (s *schedule) take(c choice) {
	s.actors[c.actor].turns <- turn{way: c.way}
	<-s.events
}

func (s *schedule) giveUp() {
	for _, a := range s.actors {
		if !a.ended {
			a.turns <- turn{stop: true}
			<-s.events
		}
	}
}

func (s *schedule) state() string {
	var b strings.Builder
	for _, a := range s.actors {
		fmt.Fprintf(&b, "%s %v %q\n", a.name, a.ended, a.told)
	}
	return b.String()
}

// explore tries every order of every actor's steps: make starts a run, and what
// it gives draws the servers and judges the end of a run. Runs that come to a
// state where another has been are not gone on with. It gives the number of
// states and of ends.
func explore(start func() (s *schedule, draw func() string, judge func() error)) (states, ends int, err error) {
	seen := map[string]bool{}
	pending := [][]choice{nil}
	for len(pending) > 0 {
		path := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		s, draw, judge := start()
		for _, c := range path {
			s.take(c)
		}
		for {
			key := s.state() + draw()
			if seen[key] {
				break
			}
			seen[key] = true
			list := s.choices()
			if len(list) == 0 {
				ends++
				if err := judge(); err != nil {
					return len(seen), ends, fmt.Errorf("%w\nafter %v\n%s", err, path, key)
				}
				break
			}
			for _, c := range list[1:] {
				pending = append(pending, append(path[:len(path):len(path)], c))
			}
			path = append(path[:len(path):len(path)], list[0])
			s.take(list[0])
		}
		s.giveUp()
	}
	return len(seen), ends, nil
}
