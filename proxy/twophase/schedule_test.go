package twophase

import (
	"fmt"
	"runtime"
	"strings"
)

// schedule runs actors one step at a time, in a given order, so that a test can try all orders. An actor's
// state is determined by the results of its steps: two runs with equal results and equal servers continue
// equally.
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

// step waits for the actor's turn, and returns which of several outcomes the step has.
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

// choices lists the possible next steps: an actor, and the outcome of its step.
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

// explore tries every order of every actor's steps. start begins a run; draw returns the state of the servers
// as text, and judge checks the end of the run. A run that reaches a state that another run has reached is not
// continued. It returns the number of states and of ends.
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
