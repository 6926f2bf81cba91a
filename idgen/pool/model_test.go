package pool

import (
	"hash/maphash"
	"testing"

	"locus/idgen/segment"
)

// The model is the protocol on small bounds: nodes that run requests step by
// step, Redis servers that hold a state each, a database that grants. Every
// interleaving is explored, with every answer that can be lost before, after or
// long after its effect.

const (
	modelNodes   = 2
	modelServers = 2 // the second appears by a failover
	modelLate    = 2
)

// world is one state of everything.
type world struct {
	nodes   [modelNodes]modelNode
	servers [modelServers]modelServer
	late    [modelLate]lateCall
	granted uint64 // by the database
	handed  uint64 // the numbers that were handed out, one bit each
	faults  int    // that may still happen
	naming  int    // the next identity
}

type modelNode struct {
	request  request // zero: idle
	floor    uint64
	requests int // still to be begun
	fills    int
}

type modelServer struct {
	identity int // 0: no such server
	pool     state
	replica  state // the replica's copy, which lags by any number of writes
}

// lateCall is a script that runs after its caller got an error.
type lateCall struct {
	server int
	fill   segment.Grant
	n      uint64
	floor  uint64
	there  bool
}

// rules are deliberate errors of the model, to show that the exploration detects them.
type rules struct {
	extendsPastGrant bool // with the database down, a node extends the pool by itself
	oneIdentity      bool // servers can't be distinguished
}

type explorer struct {
	t         *testing.T
	rules     rules
	seen      map[fingerprint]struct{}
	stack     []world
	duplicate bool
	// The steps that were reached, so that a model that explores too little is detected.
	steps map[step]int
	voids int
}

// bounds limit the events: the numbers that each node requests, its fills in the background, and faults.
type bounds struct {
	requests, fills [modelNodes]int
	faults          int
}

func explore(t *testing.T, r rules, b bounds) *explorer {
	e := &explorer{t: t, rules: r, seen: map[fingerprint]struct{}{}, steps: map[step]int{}}
	var w world
	w.faults, w.naming = b.faults, 2
	w.servers[0].identity = 1
	for i := range w.nodes {
		w.nodes[i].requests, w.nodes[i].fills = b.requests[i], b.fills[i]
	}
	e.push(w)
	for len(e.stack) > 0 && !e.duplicate {
		w := e.stack[len(e.stack)-1]
		e.stack = e.stack[:len(e.stack)-1]
		e.expand(w)
	}
	return e
}

func (e *explorer) push(w world) {
	w.normalize()
	key := w.fingerprint()
	if _, seen := e.seen[key]; !seen {
		e.seen[key] = struct{}{}
		e.stack = append(e.stack, w)
	}
}

// normalize removes state that can't have an effect any more, so that fewer worlds differ.
func (w *world) normalize() {
	for i := range w.servers {
		w.servers[i].pool.version, w.servers[i].replica.version = 0, 0
		if w.faults == 0 {
			w.servers[i].replica = state{}
		}
	}
	if w.late[1].there && !w.late[0].there {
		w.late[0], w.late[1] = w.late[1], lateCall{}
	}
	for i := range w.nodes {
		if n := &w.nodes[i]; n.requests == 0 && n.request.step == "" {
			n.floor = 0
		}
	}
}

// fingerprint identifies worlds: 128 bits of their whole state.
type fingerprint [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (w *world) fingerprint() fingerprint {
	b := make([]byte, 0, 160)
	put := func(numbers ...uint64) {
		for _, n := range numbers {
			b = append(b, byte(n))
		}
	}
	for _, n := range w.nodes {
		r := &n.request
		b = append(b, r.step...)
		put(r.n, r.floor, r.grant.First, r.grant.Last, r.high, uint64(r.rounds), n.floor, uint64(n.requests), uint64(n.fills))
	}
	for _, s := range w.servers {
		put(uint64(s.identity))
		for _, p := range []state{s.pool, s.replica} {
			b = append(append(b, p.run...), 0)
			put(p.next, p.last, p.reserve.First, p.reserve.Last, p.high)
		}
	}
	for _, l := range w.late {
		if l.there {
			put(1, uint64(l.server), l.fill.First, l.fill.Last, l.n, l.floor)
		} else {
			put(0)
		}
	}
	put(w.granted, uint64(w.faults), uint64(w.naming), w.handed, w.handed>>8, w.handed>>16, w.handed>>24, w.handed>>32)
	return fingerprint{maphash.Bytes(seeds[0], b), maphash.Bytes(seeds[1], b)}
}

func (e *explorer) expand(w world) {
	for i := range w.nodes {
		if w.nodes[i].request.step == "" {
			e.begin(w, i)
			continue
		}
		e.steps[w.nodes[i].request.step]++
		switch w.nodes[i].request.step {
		case taking, filling:
			for s := range w.servers {
				if w.servers[s].identity != 0 {
					e.script(w, i, s)
				}
			}
		case extending, direct:
			e.database(w, i)
		case done:
		}
	}
	for i, l := range w.late {
		if l.there {
			e.arrive(w, i)
		}
	}
	e.servers(w)
}

// begin starts a request; whether Redis is asked is its breaker's, so both.
func (e *explorer) begin(w world, i int) {
	n := w.nodes[i]
	if n.requests > 0 {
		for _, redis := range []bool{true, false} {
			next := w
			next.nodes[i].requests--
			next.nodes[i].request = request{n: 1, floor: n.floor, size: 2}
			next.nodes[i].request.begin(redis)
			e.push(next)
		}
	}
	if n.fills > 0 {
		next := w
		next.nodes[i].fills--
		next.nodes[i].request = request{size: 2}
		next.nodes[i].request.begin(true)
		e.push(next)
	}
}

// script runs a node's script on a server; its answer may be lost.
func (e *explorer) script(w world, i, s int) {
	r := w.nodes[i].request
	call := lateCall{server: s, fill: r.grant, n: r.n, floor: r.floor, there: true}
	if r.step == taking {
		call.fill = segment.Grant{}
	}
	told := w
	t := e.execute(&told, call)
	if w.faults > 0 {
		lost := told // after the effect
		lost.faults--
		e.answer(lost, i, taken{}, errRedis)
		before := w
		before.faults--
		e.answer(before, i, taken{}, errRedis)
		for l := range w.late {
			if !w.late[l].there {
				later := w
				later.faults--
				later.late[l] = call
				e.answer(later, i, taken{}, errRedis)
				break
			}
		}
	}
	e.answer(told, i, t, nil)
}

func (e *explorer) execute(w *world, c lateCall) taken {
	server := &w.servers[c.server]
	run := name(server.identity)
	if e.rules.oneIdentity {
		run = "one"
	}
	if c.fill.First != 0 {
		return taken{outcome: server.pool.fill(run, c.fill, c.floor), high: server.pool.high}
	}
	t := server.pool.take(run, c.n, c.floor)
	if t.outcome == void && server.pool.run != "" {
		e.voids++
	}
	return t
}

func name(identity int) string { return string(rune('a' + identity)) }

func (e *explorer) answer(w world, i int, t taken, err error) {
	r := &w.nodes[i].request
	if r.step == taking {
		r.tookFromPool(t, err)
	} else {
		r.filledPool(t, err)
	}
	e.settle(w, i)
}

func (e *explorer) arrive(w world, l int) {
	e.execute(&w, w.late[l])
	w.late[l] = lateCall{}
	e.push(w)
}

// database models the durable store: it grants, its answer may be lost, and it may be down.
func (e *explorer) database(w world, i int) {
	n := w.nodes[i].request.size
	if w.nodes[i].request.step == direct {
		n = w.nodes[i].request.n
	}
	granted := w
	g := segment.Grant{First: w.granted + 1, Last: w.granted + n}
	granted.granted = g.Last
	e.grant(granted, i, g, nil)
	if w.faults > 0 {
		w.faults--
		away := w
		if e.rules.extendsPastGrant && w.nodes[i].request.step == extending {
			high := w.servers[0].pool.high
			e.grant(away, i, segment.Grant{First: high + 1, Last: high + n}, nil)
		} else {
			e.grant(away, i, segment.Grant{}, ErrAway)
		}
		granted.faults--
		e.grant(granted, i, segment.Grant{}, ErrAway)
	}
}

func (e *explorer) grant(w world, i int, g segment.Grant, err error) {
	r := &w.nodes[i].request
	if r.step == direct {
		r.tookDirectly(g, err)
	} else {
		r.extended(g, err)
	}
	e.settle(w, i)
}

// settle hands a request's numbers out once it is done.
func (e *explorer) settle(w world, i int) {
	n := &w.nodes[i]
	if n.request.step != done {
		e.push(w)
		return
	}
	if n.request.err == nil && n.request.n > 0 {
		for number := n.request.result.First; number <= n.request.result.Last; number++ {
			bit := uint64(1) << number
			if w.handed&bit != 0 {
				e.duplicate = true
			}
			w.handed |= bit
		}
		if n.request.result.First <= n.floor {
			return // segment.Segments refuses it: the numbers are lost
		}
		n.floor = max(n.floor, n.request.result.Last)
	}
	n.request = request{}
	e.push(w)
}

// servers models the events of Redis itself.
func (e *explorer) servers(w world) {
	for s, server := range w.servers {
		if server.identity == 0 {
			continue
		}
		if server.replica != server.pool { // the replica catches up
			next := w
			next.servers[s].replica = server.pool
			e.push(next)
		}
		if w.faults == 0 {
			continue
		}
		next := w // the server restarts, empty or with the state on its disk
		next.faults--
		next.servers[s] = modelServer{identity: w.naming, replica: server.replica}
		next.naming++
		e.push(next)
		next.servers[s].pool = server.replica
		e.push(next)

		if other := 1 - s; w.servers[other].identity == 0 { // the replica is promoted; the old one lives on
			next := w
			next.faults--
			next.servers[other] = modelServer{identity: w.naming, pool: server.replica, replica: server.replica}
			next.naming++
			e.push(next)
		} else { // the server becomes a replica of the other, and is promoted again
			next := w
			next.faults--
			behind := w.servers[other].replica
			next.servers[s] = modelServer{identity: w.naming, pool: behind, replica: behind}
			next.naming++
			e.push(next)
		}
	}
}

// quick is the part that can be explored in seconds.
var quick = map[string]bounds{
	"two faults": {requests: [2]int{1, 1}, faults: 2},
	"reserves":   {requests: [2]int{2, 1}, fills: [2]int{1, 0}, faults: 1},
}

// Whatever happens in whatever order, no number is handed out twice.
func TestModelHandsOutNoNumberTwice(t *testing.T) {
	for name, b := range quick {
		t.Run(name, func(t *testing.T) { exploreAll(t, b) })
	}
}

func exploreAll(t *testing.T, b bounds) {
	e := explore(t, rules{}, b)
	t.Logf("%d states, %v, %d pools found void", len(e.seen), e.steps, e.voids)
	if e.duplicate {
		t.Error("a number was handed out twice")
	}
	if len(e.seen) < 100_000 || e.voids == 0 || e.steps[direct] == 0 || e.steps[filling] == 0 {
		t.Error("too little was explored")
	}
}

// The exploration can fail: it detects each broken rule.
func TestModelFindsWhatBreaksTheRules(t *testing.T) {
	for name, r := range map[string]rules{
		"extend past the grant":       {extendsPastGrant: true},
		"servers without an identity": {oneIdentity: true},
	} {
		t.Run(name, func(t *testing.T) {
			if e := explore(t, r, bounds{requests: [2]int{1, 1}, faults: 1}); !e.duplicate {
				t.Errorf("no number was handed out twice in %d states", len(e.seen))
			}
		})
	}
}
