package interrupt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"locus/internal/test/scale"
	"locus/proxy/fence"
)

// The model runs a session's handle together with a server, a client, and actors that end what the session does,
// in one order of their steps at a time. It checks that
//
//   - a command's client is told at most one reason, and only a reason that an actor gave;
//   - no kill and no interruption hits the next borrower of a connection, or another statement than the intended one;
//   - a commit is not cut off, unless the proxy itself ends;
//   - a cancelled command ends, even if its shard ignores a kill, and whether or not the shard can receive one;
//   - once a fence is acknowledged, nothing is sent or open on its genes by an older map, and a transaction without
//     such genes is not preempted;
//   - the session reacts to everyone that wakes or ends it, and nobody waits forever.

// The actors, by their purpose.
var actors = map[string]func(s *modelSession){
	"kill query": func(s *modelSession) { s.cancel(Killed) },
	"kill query again": func(s *modelSession) {
		s.step(later + "cancel again")
		s.given[Killed] = true
		_, _ = s.handle.Cancel(context.Background(), Killed, 0)
	},
	"kill": func(s *modelSession) {
		s.step("kill begins")
		s.given[Killed] = true
		_ = s.handle.Kill(context.Background())
	},
	"time limit":  func(s *modelSession) { s.cancel(TimedOut) },
	"client gone": func(s *modelSession) { s.cancel(ClientGone) },
	"drain": func(s *modelSession) {
		s.step("drain begins")
		s.handle.Drain()
		s.step("drain dismisses")
		before := s.client.isClosed()
		s.handle.Dismiss()
		if !before && s.client.isClosed() && s.open {
			s.fault("dismissed in a transaction")
		}
	},
	"shut down": func(s *modelSession) {
		s.cancel(ShuttingDown)
		s.step("shut down aborts")
		s.aborts = true
		s.handle.Abort()
	},
	"fence": func(s *modelSession) {
		version := s.maps[1].Version()
		s.step("the fence is published")
		s.publish(s.maps[1])
		s.step("the fence preempts")
		number, _ := s.handle.Command()
		if s.gate.Preempt(version, fenced) {
			s.handle.Wake()
			s.step("cancel for the fence")
			s.given[Preempted] = true
			_, _ = s.handle.Cancel(context.Background(), Preempted, number)
		}
		<-s.acks
		s.step("the genes are handed over")
		s.publish(s.maps[2])
	},
}

func (s *modelSession) cancel(reason Reason) {
	s.step(fmt.Sprintf("cancel for reason %d", reason))
	s.given[reason] = true
	_, _ = s.handle.Cancel(context.Background(), reason, 0)
}

// scenario states which commands and actors take part.
type scenario struct {
	commands [][]string
	actors   []string
	endless  bool
	away     bool
}

// scripts are the commands that a client may send. Each inner list is one command.
var scripts = [][][]string{
	{{"statement", "commit"}},
	{{"statement", "commit"}, {"statement"}},
	{{"statement"}, {"commit"}, {"statement"}},
	{{"statement"}, {"statement"}, {"commit"}},
	{{"other"}, {"statement"}, {"commit"}},
}

// try runs a scenario in one order of steps, and returns the order with its faults.
func (sc scenario) try(choose func(n int) int) *order {
	o := &order{offered: map[string]chan struct{}{}, choose: choose}
	conn := &modelConn{order: o, thread: 7, endless: sc.endless, away: sc.away}
	s := &modelSession{order: o, conn: conn, client: modelClient{newFakeClient(), o}, given: map[Reason]bool{0: false}}
	s.handle = New(context.Background(), s.client, mariaDB)
	s.maps, s.force = maps3, maps3[0]
	s.change, s.acks, s.fences = make(chan struct{}), make(chan struct{}), len(sc.actors) != 2 && slices.Contains(sc.actors, "fence")
	s.gate = fence.New(&fence.Config{
		Changed: s.changed, Leased: func() int64 { return 1 }, Hold: time.Minute, Places: make(chan struct{}, 1),
	}, s.inForce)
	var all sync.WaitGroup
	all.Go(func() { s.run(sc.commands...) })
	for _, name := range sc.actors {
		all.Go(func() { actors[name](s) })
	}
	looks := 0
	for {
		for o.next() {
			synctest.Wait()
			s.acknowledge()
		}
		if s.ended || looks > 100 {
			break
		}
		if looks++; looks == 50 && s.handle.Reason() == Killed && !s.handle.look().has(killed) && sc.away {
			conn.Interrupt() // the killer knows that the statement continues as long as the server runs
		}
		s.look()
	}
	synctest.Wait()
	s.acknowledge()
	for o.next() {
	}
	if !s.ended {
		panic("the session waits for ever:\n" + o.String())
	}
	all.Wait()
	if len(s.handle.conns) > 0 || s.handle.killing > 0 {
		o.fault("left: %d connections, %d kills", len(s.handle.conns), s.handle.killing)
	}
	return o
}

// look is a round of the watcher after all other actors are done. It must end a command that was cancelled or that no actor
// ends.
func (s *modelSession) look() {
	<-time.After(insistPause)
	now := time.Now()
	reason, number := s.handle.Examine(now, Allowance{Statement: time.Second, Idle: time.Second})
	switch {
	case reason == Silent:
		go func() { _ = s.handle.Kill(context.Background()) }()
	case reason != 0:
		s.given[reason] = true
		go func() { _, _ = s.handle.Cancel(context.Background(), reason, number) }()
	}
}

// every runs a scenario in every order of its steps, and returns the number of orders.
func (sc scenario) every(t *testing.T) (orders int) {
	var choices, widths []int
	for {
		at := 0
		o := sc.try(func(n int) int {
			if at == len(choices) {
				choices, widths = append(choices, 0), append(widths, n)
			}
			widths[at] = n
			at++
			return choices[at-1]
		})
		if orders++; len(o.wrong) > 0 {
			t.Fatalf("%+v: %v", sc, o)
		}
		for at = len(choices) - 1; at >= 0 && choices[at]+1 == widths[at]; at-- {
		}
		if at < 0 {
			return orders
		}
		choices, widths = choices[:at+1], widths[:at+1]
		choices[at]++
	}
}

// TestEveryOrderWithTwo lets any two actors act at every pair of moments. An actor whose statement may end first by an answer
// has more orders. In the short form such an actor meets only a second kill, and in the long form every other actor.
func TestEveryOrderWithTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs(t, scenario{endless: true, away: true}, func(string) bool { return true })
		if scale.Quick(false, true) {
			pairs(t, scenario{}, func(one string) bool { return one == "kill query again" })
		}
	})
}

// pairs tries every order of those pairs in which one is of some kind.
func pairs(t *testing.T, sc scenario, kind func(one string) bool) {
	names, orders := slices.Sorted(maps.Keys(actors)), 0
	for i, one := range names {
		for _, two := range names[i+1:] {
			if kind(one) || kind(two) {
				sc.commands, sc.actors = scripts[0], []string{one, two}
				orders += sc.every(t)
			}
		}
	}
	t.Logf("%d orders", orders)
}

// One actor, at every moment.
func TestEveryOrderWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := 0
		for name := range actors {
			for _, commands := range scale.Quick(scripts[1:2], scripts[1:]) {
				for _, sc := range []scenario{{endless: true}, {away: true}, {}} {
					sc.commands, sc.actors = commands, []string{name}
					orders += sc.every(t)
				}
			}
		}
		t.Logf("%d orders", orders)
	})
}

// Any number of actors, in random orders.
func TestAllAtOnce(t *testing.T) {
	names := slices.Sorted(maps.Keys(actors))
	for range 50 {
		rapid.Check(t, func(r *rapid.T) { allAtOnce(t, r, names) })
	}
}

func allAtOnce(t *testing.T, r *rapid.T, names []string) {
	sc := scenario{
		commands: rapid.SampledFrom(scripts).Draw(r, "commands"),
		actors:   rapid.SliceOfN(rapid.SampledFrom(names), 1, 6).Draw(r, "actors"),
		endless:  rapid.Bool().Draw(r, "endless"),
		away:     rapid.Bool().Draw(r, "away"),
	}
	choices := rapid.SliceOf(rapid.IntRange(0, 59)).Draw(r, "choices")
	var o *order
	synctest.Test(t, func(*testing.T) {
		o = sc.try(func(n int) (choice int) {
			if len(choices) > 0 {
				choice, choices = choices[0]%n, choices[1:]
			}
			return choice
		})
	})
	if len(o.wrong) > 0 {
		r.Fatal(o)
	}
}
