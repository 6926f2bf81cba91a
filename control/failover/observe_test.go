package failover

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// Observe depends only on its arguments, changes neither of them, and decides the same by a poll that was written to a trace.
func TestObserveIsAFunction(t *testing.T) {
	type step struct {
		state              State
		poll               Poll
		stateText, outcome string
	}
	done := map[string]int{}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		var state State
		var steps []step
		shard := newRandomShard(random)
		entries := []Entry{{startedEntry, text(state.Record)}}
		for range 60 {
			poll := shard.poll()
			now := step{state, poll, fmt.Sprintf("%+v", state), ""}
			next, d := Observe(state, poll)
			now.outcome = fmt.Sprintf("%+v %+v", next, d)
			steps = append(steps, now)
			entries = append(entries, Entry{polledEntry, text(poll)}, Entry{decidedEntry, text(d)})
			done[d.Do.String()]++
			if d.Err != nil {
				done["problem"]++
			}
			switch {
			case d.Do == Tidy && random.IntN(2) == 0:
				next = next.WithFollowers(poll)
				entries = append(entries, Entry{tidiedEntry, ""})
			case d.Do == Promote && random.IntN(2) == 0:
				server := poll.Seen[slices.IndexFunc(poll.Seen, func(s switchover.Sight) bool { return s.Addr == d.To })].View
				next = next.Promoted(server)
				entries = append(entries, Entry{promotedEntry, text(server)})
				shard.document = cluster.Primary{Epoch: shard.document.Epoch + 1, Server: d.To, Former: shard.document.Server}
			}
			state, _ = next.Reported(d.Err, "what", "remedy")
		}
		for i, one := range steps { // checked after the later polls, which must not have changed the results of the earlier ones
			if is := fmt.Sprintf("%+v", one.state); is != one.stateText {
				t.Fatalf("seed %d, poll %d: the state before it has changed:\n%s\n%s", seed, i, one.stateText, is)
			}
			next, d := Observe(one.state, one.poll)
			if is := fmt.Sprintf("%+v %+v", next, d); is != one.outcome {
				t.Fatalf("seed %d, poll %d: another outcome of the same:\n%s\n%s", seed, i, one.outcome, is)
			}
		}
		now, then, err := Replay(entries)
		if err != nil || !slices.Equal(now, then) {
			t.Fatalf("seed %d: replayed %q, %v, and decided %q", seed, now, err, then)
		}
	}
	for _, what := range []string{"nothing", "promote", "wait again", "tidy", "problem"} {
		if done[what] == 0 {
			t.Errorf("no poll of %v called for %q", done, what)
		}
	}
}

// randomShard makes polls of a shard of three servers, in which each of many conditions is rare.
type randomShard struct {
	*rand.Rand
	now      time.Time
	mariadb  bool
	document cluster.Primary
	top      int  // the last transaction of the primary
	dead     bool // the primary
}

var randomServers = []string{"a:1", "b:1", "c:1"}

func newRandomShard(random *rand.Rand) *randomShard {
	return &randomShard{
		Rand: random, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), mariadb: random.IntN(2) == 0,
		document: cluster.Primary{Epoch: 1, Server: "a:1"}, top: 10,
	}
}

func (r *randomShard) rarely() bool { return r.IntN(12) == 0 }

func (r *randomShard) poll() Poll {
	r.now = r.now.Add(time.Duration(r.IntN(1500)) * time.Millisecond)
	if r.rarely() {
		r.dead = !r.dead
	}
	if r.IntN(20) == 0 {
		r.document.Alone = !r.document.Alone
	}
	p := Poll{At: r.now, Shard: "s0", Document: r.document, Servers: randomServers, After: 2 * time.Second}
	p.Seen = []switchover.Sight{r.sight(r.document.Server)}
	for _, addr := range randomServers {
		if addr != r.document.Server {
			p.Seen = append(p.Seen, r.sight(addr))
		}
	}
	switch r.IntN(12) {
	case 0:
		p.NoVotes = errors.New("etcd can't be reached")
	case 1: // not asked
	case 2:
		p.Votes = map[string]votes{} // no proxy is registered
	default:
		p.Votes = map[string]votes{}
		for _, addr := range randomServers {
			v := votes{Proxies: 3}
			if addr == r.document.Server && r.dead || r.IntN(30) == 0 {
				v.Down, v.Silent, v.Why = 2, time.Second, "no answer"
			}
			if r.rarely() {
				v.Mute = 1
			}
			p.Votes[addr] = v
		}
	}
	return p
}

func (r *randomShard) sight(addr string) switchover.Sight {
	primary := addr == r.document.Server
	if primary && r.dead || r.rarely() {
		return switchover.Sight{View: switchover.View{Addr: addr}, Err: errors.New("can't connect to " + addr)}
	}
	v := switchover.View{
		Addr: addr, Identity: r.identity(addr), GTIDs: true, Logs: true, Strict: !r.rarely(), MariaDB: r.mariadb, Behind: -1,
		SemiSync: switchover.SemiSync{AfterSync: true, Patience: 24 * time.Hour, Alone: true, Copies: 1, Acknowledges: true},
	}
	if primary {
		r.top += r.IntN(3)
		v.SemiSync.Waits, v.SemiSync.InForce, v.SemiSync.Replicas = !r.document.Alone, true, r.IntN(3)
		v.ReadOnly, v.Has = r.rarely(), r.gtids(r.top)
		return switchover.Sight{View: v}
	}
	v.ReadOnly, v.Applies, v.Source, v.Follows = !r.rarely(), !r.rarely(), r.document.Server, r.identity(r.document.Server)
	v.Has, v.Behind = r.gtids(r.top), r.IntN(2)
	switch {
	case r.rarely():
		v.Has = r.gtids(r.top + 1) // errant
	case r.rarely():
		v.Has = r.gtids(r.top - 1)
		v.Received = r.gtids(r.top)
	case r.rarely():
		v.Source, v.Follows = "", ""
	case r.rarely():
		v.Stopped, v.Paused = "an error, with \"quotes\" and <signs>", true
	}
	return switchover.Sight{View: v}
}

func (r *randomShard) identity(addr string) string {
	n := 1 + slices.Index(randomServers, addr)
	if r.mariadb {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("00000000-0000-0000-0000-%012d", n)
}

func (r *randomShard) gtids(n int) string {
	if r.mariadb {
		return fmt.Sprintf("0-1-%d", n)
	}
	return fmt.Sprintf("00000000-0000-0000-0000-000000000001:1-%d", n)
}

// Polls that found transactions missing at a primary don't count against its successor.
func TestAnotherPrimaryBeginsWithoutSuspicion(t *testing.T) {
	s := State{Record: Record{Primary: "a:1", Epoch: 1}, shrunk: 2, waiting: 3, alone: 1}
	s.meet(Poll{Document: cluster.Primary{Server: "a:1", Epoch: 1}, Servers: []string{"a:1", "b:1"}})
	if s.shrunk != 2 || s.waiting != 3 || s.alone != 1 {
		t.Errorf("another poll of the same primary: %+v", s)
	}
	s.meet(Poll{Document: cluster.Primary{Server: "b:1", Epoch: 2}, Servers: []string{"a:1", "b:1"}})
	if s.shrunk != 0 || s.waiting != 0 || s.alone != 0 || s.Record.Primary != "b:1" {
		t.Errorf("the first poll of another primary: %+v", s)
	}
}
