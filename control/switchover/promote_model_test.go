package switchover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/router/cluster"
)

// The model of Promote has three servers with semi-synchronous replication, a document, proxies that write
// under leases, and two processes. It does not model how a lost primary is detected. A process may promote at
// any moment, and any server may be separated from the processes at any moment. So safety does not depend on
// the detection.

type host struct {
	readOnly bool
	follows  int8  // index of its source; -1 for none
	rows     uint8 // a bit for each write
	parted   bool  // from the processes
}

// user is a proxy and its client.
type user struct {
	client
	pending int8 // a write without an answer; -1 for none
}

type promoter struct {
	alive bool
	order int8 // of promoting
	line  int8
	epoch int8
	to    int8    // -1: not chosen
	holds [3]bool // servers that it has a connection to
}

type stage struct {
	hosts   [3]host
	doc     cluster.Primary
	users   [2]user
	procs   [2]promoter
	lock    int8
	started int8
	wrote   int8
	acked   uint8
	cuts    int8
	partes  int8
	release int8
	bounds  bounds
}

// bounds limit the number of each kind of event.
type bounds struct{ users, writes, starts, cuts, partes, releases int8 }

var (
	hostNames = [3]string{"a", "b", "c"}
	promoting = [...][]Line{Take, Mend, Tidy}
)

const (
	taking = iota
	mending
	tidying
)

func hostOf(server string) int8 { return int8(slices.Index(hostNames[:], server)) }

// edges lists the possible next states, each with the actor and the action.
type edges []edge

type edge struct {
	what string
	who  int
	to   stage
}

func (e *edges) add(what string, who int, to stage) { *e = append(*e, edge{what, who, to}) }

func (s stage) steps(next *edges) {
	for i := range s.users[:s.bounds.users] {
		s.user(i, next)
	}
	for i, h := range s.hosts {
		if n := s; h.follows >= 0 && s.hosts[h.follows].rows&^h.rows != 0 {
			n.hosts[i].rows |= s.hosts[h.follows].rows
			next.add("replicate ", i, n)
		}
		if n := s; !h.parted && s.partes < s.bounds.partes {
			n.partes++
			n.hosts[i].parted = true
			next.add("parted ", i, n)
		}
		if n := s; h.parted {
			n.hosts[i].parted = false
			next.add("healed ", i, n)
		}
	}
	if n := s; s.doc.Held && s.release < s.bounds.releases {
		n.release++
		n.doc = s.doc.Release("")
		next.add("a proxy releases", 0, n)
	}
	for i := range s.procs {
		s.process(i, next)
	}
}

// user models a proxy: it reads the document, loses its lease, writes, and acknowledges writes to its client.
func (s stage) user(i int, next *edges) {
	c := s.users[i]
	if n := s; !c.cut && (c.epoch != int8(s.doc.Epoch) || !c.leased) {
		n.users[i] = user{client{primary: hostOf(s.doc.Server), epoch: int8(s.doc.Epoch), held: s.doc.Held, leased: true}, c.pending}
		if s.doc.Held || c.primary != hostOf(s.doc.Server) {
			n.users[i].pending = -1
		}
		next.add("proxy sees ", i, n)
	}
	if n := s; !c.cut && s.cuts < s.bounds.cuts {
		n.cuts++
		n.users[i].cut = true
		next.add("proxy is cut off ", i, n)
	}
	if n := s; c.cut {
		n.users[i].cut = false
		next.add("proxy is back ", i, n)
	}
	if n := s; c.leased && (c.cut || c.epoch != int8(s.doc.Epoch)) {
		n.users[i].leased, n.users[i].pending = false, -1
		next.add("lease runs out ", i, n)
	}
	goes := c.leased && !c.held
	if n := s; goes && c.pending < 0 && s.wrote < s.bounds.writes && !s.hosts[c.primary].readOnly {
		n.hosts[c.primary].rows |= 1 << s.wrote
		n.users[i].pending = s.wrote
		n.wrote++
		next.add("write ", i, n)
	}
	if n := s; goes && c.pending >= 0 && s.copied(c) {
		n.acked |= 1 << c.pending
		n.users[i].pending = -1
		next.add("acknowledged ", i, n)
	}
}

// copied reports whether a replica has acknowledged the write to the primary.
func (s stage) copied(c user) bool {
	for i, h := range s.hosts {
		if int8(i) != c.primary && h.follows == c.primary && h.rows&(1<<c.pending) != 0 {
			return true
		}
	}
	return false
}

// process models one of the processes that promote, undo, and tidy.
func (s stage) process(i int, next *edges) {
	p := s.procs[i]
	if !p.alive {
		if s.lock != -1 || s.started != int8(i) || s.started == s.bounds.starts {
			return
		}
		orders := []int8{taking, tidying}
		if s.doc.Next != "" {
			orders = []int8{taking, mending}
		}
		for _, order := range orders {
			n := s
			n.started++
			n.lock = int8(i)
			n.procs[i] = promoter{alive: true, order: order, epoch: int8(s.doc.Epoch), to: -1}
			next.add("process begins to "+string(promoting[order][0]), i, n)
		}
		return
	}
	if n := s; s.lock == int8(i) {
		n.lock = -1 // the process is suspended, for a while or forever, or was killed
		next.add("lease of the process lost ", i, n)
	}
	if int(p.line) == len(promoting[p.order]) {
		n := s
		n.procs[i] = promoter{}
		n.unlock(i)
		next.add("done ", i, n)
		return
	}
	line := promoting[p.order][p.line]
	for _, to := range s.choices(i, line) {
		if n, ok := s.line(i, line, to); ok {
			n.procs[i].line++
			next.add(string(line), i, n)
		}
	}
}

// choices returns the possible results of the judge at Look; at other lines there is only one.
func (s stage) choices(i int, line Line) []int8 {
	if line == Look {
		return []int8{0, 1, 2}
	}
	return []int8{s.procs[i].to}
}

func (s *stage) unlock(i int) {
	if s.lock == int8(i) {
		s.lock = -1
	}
}

// reach connects a process to all servers that it can reach, and ends the connections of other processes.
func (s *stage) reach(i int, servers ...int8) {
	for _, h := range servers {
		s.procs[i].holds[h] = !s.hosts[h].parted
		if !s.hosts[h].parted {
			s.procs[1-i].holds[h] = false
		}
	}
}

// use reports whether a process can execute a statement on a server.
func (s stage) use(i int, server int8) bool {
	return s.procs[i].holds[server] && !s.hosts[server].parted
}

func (s stage) line(i int, line Line, to int8) (stage, bool) {
	p := &s.procs[i]
	mine := p.epoch == int8(s.doc.Epoch)
	primary := hostOf(s.doc.Server)
	replace := func(doc cluster.Primary) {
		s.doc, p.epoch = doc, int8(doc.Epoch)
	}
	switch line {
	case Look:
		if s.lock != int8(i) {
			return s, false
		}
		s.reach(i, 0, 1, 2)
		p.to = to
		return s, to != primary && mine && s.chosen(i, to)
	case Leave:
		if !mine || s.doc.Next != "" && s.doc.Cause != cluster.Lost {
			return s, false
		}
		replace(s.doc.BeginChange(hostNames[to], cluster.Lost, ""))
	case Left:
		for _, c := range s.users[:s.bounds.users] {
			if c.epoch < p.epoch && c.leased {
				return s, false
			}
		}
	case OthersReadOnly:
		for h := range s.hosts {
			if int8(h) != to && p.holds[h] {
				if s.hosts[h].parted {
					return s, false
				}
				s.hosts[h].readOnly = true
			}
		}
	case Received:
		if !s.use(i, to) || s.use(i, primary) && s.hosts[primary].rows&^s.hosts[to].rows != 0 {
			return s, false
		}
		s.hosts[to].follows = -1
		return s, s.chosen(i, to)
	case Writable:
		if !s.use(i, to) {
			return s, false
		}
		s.hosts[to].readOnly = false
	case Turn:
		if !mine {
			return s, false
		}
		replace(s.doc.Promote(""))
		p.order, p.line = tidying, -1
	case TakeOver:
		if s.lock != int8(i) {
			return s, false
		}
		s.reach(i, primary)
		if s.doc.Next != "" {
			s.reach(i, hostOf(s.doc.Next))
		}
		return s, mine && p.holds[primary]
	case Gather:
		for h := range s.hosts {
			if int8(h) == primary {
				continue
			}
			if s.reach(i, int8(h)); !s.use(i, int8(h)) || !mine {
				continue
			}
			s.hosts[h].readOnly = true
			if s.hosts[h].rows&^s.hosts[primary].rows == 0 {
				s.hosts[h].follows = primary
			}
		}
	case Seize:
		if !mine {
			return s, false
		}
		replace(s.doc.Again(""))
	case Demote, Rejoin:
		next := hostOf(s.doc.Next)
		if mine && s.use(i, next) {
			s.hosts[next].readOnly = true
			if line == Rejoin {
				s.hosts[next].follows = primary
			}
		}
	case Restore:
		for h := range s.hosts {
			if int8(h) != primary && !s.hosts[h].parted && !s.hosts[h].readOnly {
				return s, false
			}
		}
		if !mine || !s.use(i, primary) {
			return s, false
		}
		s.hosts[primary].readOnly = false
	case Settle:
		if !mine {
			return s, false
		}
		if !s.doc.Settled() && (p.order == mending || s.gathered(primary)) {
			replace(s.doc.Settle(""))
		}
	default:
		panic(fmt.Sprintf("the model does not know what %s does", line))
	}
	return s, true
}

func (s stage) gathered(primary int8) bool {
	for h := range s.hosts {
		if int8(h) != primary && s.hosts[h].follows != primary {
			return false
		}
	}
	return true
}

// chosen models the decision of package failover. All servers that may have acknowledged are reachable, and the
// chosen one has everything that they have. If the primary is read-only and reachable, the chosen one has
// everything of the primary too.
func (s stage) chosen(i int, to int8) bool {
	primary := hostOf(s.doc.Server)
	for h, at := range s.hosts {
		switch {
		case int8(h) == to:
			if !s.use(i, to) || at.follows != primary && hostOf(s.doc.Next) != to {
				return false
			}
		case int8(h) == primary:
			if s.use(i, primary) && at.readOnly && at.rows&^s.hosts[to].rows != 0 {
				return false
			}
		case !s.use(i, int8(h)) || at.rows&^s.hosts[to].rows != 0:
			return false
		}
	}
	return true
}

// wrong returns the violated invariant, or "".
func (s stage) wrong() string {
	if s.acked&^s.hosts[hostOf(s.doc.Server)].rows != 0 {
		return "what was acknowledged is lost"
	}
	for _, c := range s.users[:s.bounds.users] {
		for _, d := range s.users[:s.bounds.users] {
			if c.leased && d.leased && !c.held && !d.held && c.primary != d.primary {
				return "two primaries are written to"
			}
		}
	}
	for h, at := range s.hosts {
		if at.follows >= 0 && at.rows&^s.hosts[at.follows].rows != 0 {
			return fmt.Sprintf("server %d follows one that lacks what it has", h)
		}
	}
	return ""
}

// Everything that can happen, with two processes and a write, and a proxy that is cut off or a server that is parted.
func TestPromoteLosesNothingThatWasAcknowledged(t *testing.T) {
	for name, b := range map[string]bounds{
		"a proxy is cut off": {users: 1, writes: 1, starts: 2, cuts: 1},
		"a server is parted": {users: 1, writes: 1, starts: 2, partes: 1},
	} {
		if scale.Quick(b.partes > 0, false) {
			continue
		}
		t.Run(name, func(t *testing.T) { explorePromote(t, b) })
	}
}

func explorePromote(t *testing.T, b bounds) {
	t.Helper()
	first := stage{lock: -1, bounds: b, doc: cluster.Primary{Epoch: 1, Server: "a"}}
	first.hosts = [3]host{{follows: -1}, {readOnly: true}, {readOnly: true}}
	for i := range first.users {
		first.users[i] = user{client{epoch: 1, leased: true}, -1}
	}
	from := map[stage]edge{first: {}}
	var next edges
	turned := 0
	for todo := []stage{first}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.doc.Server != "a" && s.acked != 0 {
			turned++
		}
		if why := s.wrong(); why != "" {
			var path []string
			for at := s; at != first; at = from[at].to {
				path = append(path, fmt.Sprint(from[at].what, " ", from[at].who))
			}
			slices.Reverse(path)
			t.Fatalf("%s: %s\n%+v", why, strings.Join(path, ", "), s)
		}
		next = next[:0]
		s.steps(&next)
		for _, e := range next {
			if _, seen := from[e.to]; !seen {
				from[e.to] = edge{e.what, e.who, s}
				todo = append(todo, e.to)
			}
		}
	}
	t.Logf("%d states, %d after a turn", len(from), turned)
	if turned == 0 {
		t.Error("no order came to its turn")
	}
}
