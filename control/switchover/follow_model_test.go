package switchover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/router/cluster"
)

// The model of Follow has two servers, of which an external tool promotes the second, a document, two proxies
// that write under leases, and two processes that follow. At any moment the network may separate the first
// server from the processes, and any proxy from etcd.

type place struct {
	readOnly bool
	follows  bool
	rows     int8
}

// client is a proxy. Its lease is renewed while it obeys the document of now and reaches etcd.
type client struct {
	primary int8
	epoch   int8
	held    bool
	leased  bool
	cut     bool
}

type follower struct {
	alive bool
	line  int8
	epoch int8
	had   int8 // the first server's transactions at the last poll
}

type scene struct {
	servers  [2]place
	away     bool // the first, for those that follow
	promoted bool
	doc      cluster.Primary
	clients  [2]client
	procs    [2]follower
	lock     int8 // the process that holds it; -1 for none
	started  int8
	wrote    int8
	cuts     int8
	releases int8
	count    int8 // clients
}

var placeNames = [2]string{"a", "b"}

func placeOf(server string) int8 { return int8(slices.Index(placeNames[:], server)) }

func (s scene) steps() map[string]scene {
	next := map[string]scene{}
	obeys := client{primary: placeOf(s.doc.Server), epoch: int8(s.doc.Epoch), held: s.doc.Held}
	for i, c := range s.clients[:s.count] {
		n := s
		at := &n.clients[i]
		if !c.cut && (c.epoch != int8(s.doc.Epoch) || !c.leased) { // the proxy reads the document, and requests its lease
			*at = obeys
			at.leased = true
			next[fmt.Sprint("proxy sees ", i)] = n
		}
		if n = s; !c.cut && s.cuts < 1 {
			n.cuts++
			n.clients[i].cut = true
			next[fmt.Sprint("proxy is cut off ", i)] = n
		}
		if n = s; c.cut {
			n.clients[i].cut = false
			next[fmt.Sprint("proxy is back ", i)] = n
		}
		if n = s; c.leased && (c.cut || c.epoch != int8(s.doc.Epoch)) {
			n.clients[i].leased = false
			next[fmt.Sprint("lease runs out ", i)] = n
		}
		if n = s; s.writes(c) && s.wrote < 1 {
			n.wrote++
			n.servers[c.primary].rows++
			next[fmt.Sprint("write ", i)] = n
		}
	}
	s.somebody(next)
	if n := s; s.doc.Held && s.releases < 1 {
		n.releases++
		n.doc = s.doc.Release("")
		next["a proxy releases"] = n
	}
	for i := range s.procs {
		s.process(i, next)
	}
	return next
}

// writes reports whether a proxy's writes are executed and acknowledged.
func (s scene) writes(c client) bool { return c.leased && !c.held && !s.servers[c.primary].readOnly }

// somebody models replication, the network and the external tool. While the first server is reachable, the tool makes an
// orderly switchover. Otherwise it promotes the second server once that one has all existing transactions.
func (s scene) somebody(next map[string]scene) {
	a, b := s.servers[0], s.servers[1]
	if n := s; b.follows && b.rows < a.rows {
		n.servers[1].rows++
		next["replicate"] = n
	}
	if n := s; !s.away {
		n.away = true
		next["the first is parted"] = n
	}
	if n := s; !s.promoted && !a.readOnly {
		n.servers[0].readOnly = true
		next["the first is read-only"] = n
	}
	if n := s; !s.promoted && b.rows == a.rows && (a.readOnly || s.away) {
		n.promoted = true
		n.servers[1] = place{rows: b.rows}
		next["the second is promoted"] = n
	}
	if n := s; s.promoted && a.readOnly {
		n.servers[0].readOnly = false
		next["the first takes writes again"] = n
	}
}

// process models one of the processes that follow.
func (s scene) process(i int, next map[string]scene) {
	p := s.procs[i]
	if !p.alive {
		if n := s; s.lock == -1 && s.started < 2 {
			n.started++
			n.lock = int8(i)
			n.procs[i] = follower{alive: true, epoch: int8(s.doc.Epoch), had: -1}
			if !s.doc.Settled() {
				n.procs[i].line = -1 // the process abandons a procedure that another process has begun
			}
			if !s.away {
				n.procs[i].had = s.servers[0].rows
			}
			next[fmt.Sprint("process ", i)] = n
		}
		return
	}
	n := s
	if s.lock == int8(i) {
		n.lock = -1 // the process is suspended, for a while or forever
		next[fmt.Sprint("lease of the process lost ", i)] = n
	}
	if p.line >= 0 {
		n = s
		n.procs[i].line = -1
		next[fmt.Sprint("fails ", i)] = n
	}
	if n, ok := s.line(i); ok {
		next[fmt.Sprint(s.lineOf(p), " ", i)] = n
	}
}

func (s scene) lineOf(p follower) Line {
	if p.line < 0 {
		return Drop[0]
	}
	return Follow[p.line]
}

// line executes the next line of a process; it returns false if the process waits, or fails.
func (s scene) line(i int) (scene, bool) {
	p := &s.procs[i]
	mine := p.epoch == int8(s.doc.Epoch)
	line := s.lineOf(*p)
	p.line++
	switch line {
	case Look, LookAgain:
		return s, s.chosen(p.had)
	case Leave:
		if !mine || !s.doc.Settled() || s.doc.Server != "a" {
			return s, false
		}
		s.doc = s.doc.BeginChange("b", cluster.Found, "")
		p.epoch = int8(s.doc.Epoch)
	case Left:
		for _, c := range s.clients[:s.count] {
			if c.epoch < p.epoch && c.leased {
				return s, false
			}
		}
	case Turn:
		if !mine {
			return s, false
		}
		s.doc = s.doc.Promote("")
		*p = follower{}
		s.unlock(i)
	case Settle:
		if s.lock != int8(i) { // the process has read the document under the lease
			return s, false
		}
		if !s.doc.Settled() {
			s.doc = s.doc.Settle("")
		}
		*p = follower{}
		s.unlock(i)
	default:
		panic(fmt.Sprintf("the model does not know what %s does", line))
	}
	return s, true
}

func (s *scene) unlock(i int) {
	if s.lock == int8(i) {
		s.lock = -1
	}
}

// chosen models the decision of package failover: only the second server is writable, and it has all
// transactions known to be acknowledged.
func (s scene) chosen(had int8) bool {
	a, b := s.servers[0], s.servers[1]
	switch {
	case b.readOnly || b.follows:
		return false
	case s.away:
		return had >= 0 && b.rows >= had
	}
	return a.readOnly && b.rows >= a.rows
}

// Everything that can happen: no proxy writes to the first server once the document names the second.
func TestFollowNeverHasTwoPrimariesWrittenTo(t *testing.T) { exploreFollow(t, 1) }

func exploreFollow(t *testing.T, clients int8) {
	t.Helper()
	first := scene{lock: -1, count: clients, doc: cluster.Primary{Epoch: 1, Server: "a"}}
	first.servers = [2]place{{}, {readOnly: true, follows: true}}
	for i := range first.clients {
		first.clients[i] = client{epoch: 1, leased: true}
	}
	from, how := map[scene]scene{first: first}, map[scene]string{}
	turned := 0
	for todo := []scene{first}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.doc.Server == "b" {
			turned++
		}
		if s.doc.Server == "b" && slices.ContainsFunc(s.clients[:s.count], func(c client) bool { return c.primary == 0 && s.writes(c) }) {
			var path []string
			for at := s; at != first; at = from[at] {
				path = append(path, how[at])
			}
			slices.Reverse(path)
			t.Fatalf("two primaries are written to: %s\n%+v", strings.Join(path, ", "), s)
		}
		for what, n := range s.steps() {
			if _, seen := from[n]; !seen {
				from[n], how[n] = s, what
				todo = append(todo, n)
			}
		}
	}
	t.Logf("%d states, %d after a turn", len(from), turned)
	if turned == 0 {
		t.Error("no order came to its turn")
	}
}
