package interrupt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/proxy/session/fence"
	"locus/router"
)

// The model runs a session's handle against a server, a client and those who end what a session does, in one order of their
// steps after the other. It holds that
//
//   - a command is told one reason at most, and none that nobody gave;
//   - no kill and no interruption hits the next borrower of a connection, or a statement that it was not meant for;
//   - a commit is not cut off, unless the proxy itself ends;
//   - a command that is cancelled ends, whatever its shard forgets, and whether or not it can be asked;
//   - once a fence is acknowledged, nothing is sent or open on its genes by an older map, and what it doesn't concern is not preempted;
//   - whoever wakes or ends a session is heard, and nobody waits for ever.

// order is one order of steps. Each actor offers its next step and waits until it is chosen.
type order struct {
	mu      sync.Mutex
	offered map[string]chan struct{}
	taken   []string
	wrong   []string
	choose  func(n int) int
}

func (o *order) offer(step string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.offered[step] != nil { // of two of the same kind
		step += "'"
	}
	chosen := make(chan struct{})
	o.offered[step] = chosen
	return chosen
}

// later begins the names of steps before which shards are left alone long enough to be asked again.
const later = "later: "

func (o *order) step(step string) { <-o.offer(step) }

func (o *order) withdraw(chosen <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for step, c := range o.offered {
		if c == chosen {
			delete(o.offered, step)
		}
	}
}

// next takes a step, if there is one.
func (o *order) next() bool {
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.offered) == 0 {
		return false
	}
	steps := make([]string, 0, len(o.offered))
	for step := range o.offered {
		steps = append(steps, step)
	}
	slices.Sort(steps)
	step := steps[0]
	if len(steps) > 1 {
		step = steps[o.choose(len(steps))]
	}
	if strings.HasPrefix(step, later) {
		<-time.After(insistPause)
	}
	o.taken = append(o.taken, step)
	close(o.offered[step])
	delete(o.offered, step)
	return true
}

func (o *order) fault(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

// String is what was wrong, and the steps.
func (o *order) String() string {
	return strings.Join(o.wrong, "; ") + "\n" + strings.Join(o.taken, "\n")
}

// outcome is how a statement ends.
type outcome string

const (
	answered outcome = "answered"
	hit      outcome = "hit" // by a kill
	lost     outcome = "lost"
	unsent   outcome = "not sent" // its connection was interrupted before
)

// modelConn is a connection as server, session and pool have it.
type modelConn struct {
	*order
	thread  uint32
	endless bool // statements on it end by a kill alone
	away    bool // its server can't be asked to kill

	state   sync.Mutex
	runs    *modelStatement
	owned   bool // by the session
	pending bool // a kill came while nothing ran: the next statement has it
	down    bool // it was interrupted
	kills   int  // under way
}

type modelStatement struct {
	name    string
	read    bool // the server has begun
	done    bool
	outcome chan outcome
	over    chan struct{}
}

func (c *modelConn) Shard() router.ShardName { return "s0" }
func (c *modelConn) ThreadID() uint32        { return c.thread }

func (c *modelConn) Interrupt() {
	c.state.Lock()
	defer c.state.Unlock()
	if !c.owned {
		c.fault("the next borrower is interrupted")
	}
	c.down = true
	c.end(lost)
}

func (c *modelConn) Absorb(context.Context) {
	c.state.Lock()
	defer c.state.Unlock()
	if c.kills > 0 {
		c.fault("a kill is still under way")
	}
	c.pending = false
}

// KillQuery hits what runs. A server forgets a kill of what it has not begun to read.
func (c *modelConn) KillQuery(context.Context, uint32) error {
	c.count(1)
	defer c.count(-1)
	c.step("a kill arrives")
	if c.away {
		return errAway
	}
	c.arrive()
	c.step("a kill is confirmed")
	return nil
}

func (c *modelConn) count(n int) {
	c.state.Lock()
	defer c.state.Unlock()
	c.kills += n
}

func (c *modelConn) arrive() {
	c.state.Lock()
	defer c.state.Unlock()
	switch {
	case !c.owned:
		c.fault("the next borrower is killed")
	case c.runs == nil:
		c.pending = true
	case c.runs.read:
		c.end(hit)
	}
}

// busy tells whether something of the session runs on it.
func (c *modelConn) busy() bool {
	c.state.Lock()
	defer c.state.Unlock()
	return c.owned && c.runs != nil
}

// end ends what runs. The caller holds state.
func (c *modelConn) end(how outcome) {
	if c.runs == nil {
		return
	}
	c.runs.outcome <- how
	close(c.runs.over)
	c.runs = nil
}

// exec runs a statement.
func (c *modelConn) exec(name string) outcome {
	s := &modelStatement{name: name, outcome: make(chan outcome, 1), over: make(chan struct{})}
	c.state.Lock()
	if c.down {
		c.state.Unlock()
		return unsent
	}
	c.runs = s
	c.state.Unlock()
	go c.serve(s)
	return <-s.outcome
}

// serve is the server's side of a statement.
func (c *modelConn) serve(s *modelStatement) {
	if !c.reaches(s, "the server reads "+s.name) {
		return
	}
	c.state.Lock()
	if s.read = c.runs == s; s.read && c.pending {
		c.pending = false
		c.end(hit)
	}
	c.state.Unlock()
	if c.endless && s.name == "statement" || !c.reaches(s, "the server answers "+s.name) {
		return
	}
	c.state.Lock()
	defer c.state.Unlock()
	if c.runs == s {
		c.end(answered)
	}
}

// reaches waits for a step of the server's, unless the statement ends before.
func (c *modelConn) reaches(s *modelStatement, step string) bool {
	chosen := c.offer(step)
	select {
	case <-chosen:
		return true
	case <-s.over:
		c.withdraw(chosen)
		return false
	}
}

// modelClient sends a command when that is chosen.
type modelClient struct {
	*fakeClient
	*order
}

func (c modelClient) Fill() error {
	chosen := c.offer("the client sends")
	defer c.withdraw(chosen)
	c.mu().Lock()
	late := c.late
	c.mu().Unlock()
	select {
	case <-c.closed:
		return errClosed
	default:
	}
	select {
	case <-chosen:
		return nil
	case <-late:
		return os.ErrDeadlineExceeded
	case <-c.closed:
		return errClosed
	}
}

func (c modelClient) mu() *sync.Mutex { return &c.fakeClient.mu }

var errClosed = errors.New("closed")

// modelSession is a client with a transaction of one statement, whose commit is a command of its own or a part of it.
type modelSession struct {
	*order
	handle *Handle
	client modelClient
	conn   *modelConn
	open   bool
	aborts bool // the proxy ends

	gate   *fence.Gate
	maps   []*router.Map
	force  *router.Map // of maps, the one in force
	change chan struct{}
	began  int64         // the version by which the transaction began
	fenced bool          // it has a gene of the fence
	told   bool          // its client was, with the command under way, that it is preempted
	untold bool          // or is to be, with the next
	acks   chan struct{} // closed once the fence is acknowledged
	acked  bool
	fences bool // the session's second look at the map is a step; not in every order of two, which would be too many
	enters bool // between the map and a second look at it
	given  map[Reason]bool
	ended  bool
}

// run serves the commands: each is a list of what it does.
func (s *modelSession) run(commands ...[]string) {
	defer func() { s.ended = true }()
	defer s.handle.Leave()
	defer s.rollback()
	for at := 0; at < len(commands); at++ {
		if s.handle.Over(s.open) {
			return
		}
		woken, err := s.handle.Fill()
		if err != nil {
			return
		}
		if woken {
			s.giveWay()
			at--
			continue
		}
		last := s.handle.Begin()
		s.command(commands[at])
		s.step("the command ends")
		s.handle.End()
		s.giveWay()
		if s.told && s.open {
			s.fault("the transaction is open, and its client was told that it isn't")
		}
		s.gate.Rest(s.open)
		if last && !s.open {
			return
		}
	}
}

func (s *modelSession) giveWay() {
	if !s.gate.Preempted(s.open) {
		return
	}
	if !s.fenced && !s.told {
		s.fault("preempted by a fence of other genes")
	}
	s.rollback()
	s.gate.GaveWay()
	s.untold = !s.told
}

// enter takes the map in force.
func (s *modelSession) enter() *router.Map {
	for {
		m := s.inForce()
		s.enters = s.fences
		still := s.gate.Enter(m, s.open)
		s.enters = false
		if still {
			return m
		}
	}
}

// inForce is what the gate looks at, a step after it has said something.
func (s *modelSession) inForce() *router.Map {
	if s.enters {
		s.step("the session looks at the map again")
	}
	return s.now()
}

func (s *modelSession) now() *router.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.force
}

func (s *modelSession) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

func (s *modelSession) publish(m *router.Map) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.force = m
	close(s.change)
	s.change = make(chan struct{})
}

// admit has the fence let a statement on, which is held until it is gone.
func (s *modelSession) admit(g gene.Gene) (*router.Map, error) {
	m := s.enter()
	_, err := s.gate.Admit(m, []gene.Gene{g}, false, s.open)
	if err == nil {
		return m, nil
	}
	hold, _ := s.gate.Hold()
	defer hold.End()
	for err != nil {
		if err := hold.Wait(s.handle.Waits(), m, err.(*fence.HeldError), s.open); err != nil { //nolint:errorlint // it is never wrapped
			if errors.Is(err, fence.ErrTooLong) {
				s.fault("held for too long")
				s.rollback()
			}
			return nil, err
		}
		m = s.enter()
		_, err = s.gate.Admit(m, []gene.Gene{g}, false, s.open)
	}
	return m, nil
}

// sends looks whether a statement may be sent now by the map that it was admitted by: by the fence's own as a part of a
// transaction that the fence waits for.
func (s *modelSession) sends(m *router.Map, g gene.Gene) {
	fence := s.maps[1].Version()
	if !s.open {
		s.began, s.fenced = m.Version(), false
	}
	awaited := s.fenced && s.began < fence
	if fenced.Contains(g) && (m.Version() <= fence && s.acked || m.Version() == fence && !awaited) {
		s.fault("sent by version %d of the map", m.Version())
	}
	s.fenced = s.fenced || fenced.Contains(g)
}

// acknowledge looks whether the fence is obeyed, which is said at once.
func (s *modelSession) acknowledge() {
	published := s.now() == s.maps[1]
	if !published || s.acked || !s.ended && !s.gate.Obeys(s.maps[1].Version(), fenced) {
		return
	}
	s.acked = true
	close(s.acks)
	if (s.open || s.conn.busy()) && s.fenced && s.began < s.maps[1].Version() {
		s.fault("acknowledged although a transaction of version %d is open", s.began)
	}
}

// command runs one, and looks at what its client is told.
func (s *modelSession) command(parts []string) {
	told := map[string]bool{}
	s.told = false
	if s.gate.Untold() != s.untold {
		s.fault("its client is to be told: %t", s.untold)
	}
	s.untold = false
	for _, part := range parts {
		var err error
		switch part {
		case "statement":
			err = s.statement(isFenced)
		case "other":
			err = s.statement(another)
		case "commit":
			s.commit()
		}
		if err != nil {
			told[err.Error()] = true
			if s.handle.Reason() == Preempted {
				s.told = true
				s.gate.Tell()
			}
			break
		}
	}
	if len(told) > 1 {
		s.fault("told %v", told)
	}
}

func (s *modelSession) statement(g gene.Gene) error {
	s.step("the statement begins")
	m, err := s.admit(g)
	if err != nil {
		return err
	}
	if err := s.handle.Unwanted(); err != nil {
		return err
	}
	if !s.conn.owned {
		s.conn.owned = true
		if err := s.handle.Await(s.conn, s.conn); err != nil {
			s.conn.owned = false
			return err
		}
	}
	s.step("the statement is sent")
	s.sends(m, g)
	switch s.conn.exec("statement") {
	case hit:
		reason := s.handle.Reason()
		if !s.given[reason] {
			s.fault("hit by nobody: reason %d", reason)
			return nil
		}
		s.open = true // a statement that is killed leaves its transaction
		return reason.Error(s.handle.flavor())
	case lost, unsent:
		s.discard()
	case answered:
		s.open = true
	}
	return nil
}

func (s *modelSession) commit() {
	if !s.open {
		return
	}
	s.step("the commit begins")
	s.handle.Shield()
	if how := s.conn.exec("commit"); (how == hit || how == lost) && !s.aborts {
		s.fault("the commit is %s", how)
	}
	s.step("the commit has ended")
	s.handle.Unshield()
	s.giveBack()
}

// rollback ends a transaction, which nobody cuts off: its connection is discarded if it fails.
func (s *modelSession) rollback() {
	if !s.open {
		return
	}
	s.handle.Shield()
	s.conn.exec("rollback")
	s.handle.Unshield()
	s.giveBack()
}

func (s *modelSession) giveBack() {
	s.open = false
	killed := s.handle.Remove(s.conn)
	s.returned(killed)
}

func (s *modelSession) discard() {
	s.open = false
	s.handle.Remove(s.conn)
	s.returned(true)
}

// returned has the pool have the connection, or another one if it is discarded.
func (s *modelSession) returned(discarded bool) {
	s.conn.state.Lock()
	defer s.conn.state.Unlock()
	s.conn.owned = false
	if !discarded && (s.conn.pending || s.conn.kills > 0) {
		s.fault("a kill may hit the next borrower")
	}
	if discarded {
		s.conn.pending, s.conn.down = false, false
	}
}

// The actors, by what they want.
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
		s.handle.Dismiss(s.open)
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

// The fence of the model holds some of the genes that move.
var (
	fenced            = gene.NewSet(gene.Range{First: 0x4000, Last: 0x4fff})
	isFenced, another = gene.Gene(0x4001), gene.Gene(0x5000)
)

// maps3 are the maps of a step: the move is announced, fenced, and handed over.
var maps3 = func() []*router.Map {
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	move := router.Move{Job: "1", Genes: gene.NewSet(gene.Range{First: 0x4000, Last: 0x7fff}), From: "s0", To: "s1"}
	held := move
	held.Held = fenced
	announced, err1 := m.Step([]router.Move{move})
	fence, err2 := announced.Step([]router.Move{held})
	over, err3 := fence.Step([]router.Move{move}, router.Change{Genes: fenced, To: "s1"})
	if err := errors.Join(err, err1, err2, err3); err != nil {
		panic(err)
	}
	return []*router.Map{announced, fence, over}
}()

// scenario is who takes part.
type scenario struct {
	commands [][]string
	actors   []string
	endless  bool
	away     bool
}

// scripts are what a client may send: a command for each list.
var scripts = [][][]string{
	{{"statement", "commit"}},
	{{"statement", "commit"}, {"statement"}},
	{{"statement"}, {"commit"}, {"statement"}},
	{{"statement"}, {"statement"}, {"commit"}},
	{{"other"}, {"statement"}, {"commit"}},
}

// try runs a scenario in one order of steps, and gives what was wrong with it.
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
			conn.Interrupt() // the killer knows that the statement goes on as long as the server
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

// look is the watcher's, once nobody else does anything: a command that was cancelled, or that nobody else ends, ends by that.
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

// every runs a scenario in every order of its steps, and tells how many there are.
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

// Any two that end what a session does meet at every moment. Those that a statement may escape by its answer are more: here they
// meet who kills again, and each other in the long form.
func TestEveryOrderWithTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs(t, scenario{endless: true, away: true}, func(string) bool { return true })
		pairs(t, scenario{}, func(one string) bool { return one == "kill query again" })
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

// Whoever ends a session, alone, does so at every moment.
func TestEveryOrderWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := 0
		for name := range actors {
			for _, commands := range scripts[1:] {
				for _, sc := range []scenario{{endless: true}, {away: true}, {}} {
					sc.commands, sc.actors = commands, []string{name}
					orders += sc.every(t)
				}
			}
		}
		t.Logf("%d orders", orders)
	})
}

// Any number of them, in any order.
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
