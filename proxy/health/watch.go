package health

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locus/router"
)

// Server is one that is probed. Its methods may be called concurrently, Probe for one probe at a time.
type Server interface {
	Shard() router.ShardName
	Addr() string
	Replica() bool
	// Probe asks the server whether it is there, over a connection that nobody else has and that is kept for the next probe. It
	// ends soon after ctx.
	Probe(ctx context.Context) Report
	// Received is another number whenever a byte has come over one of the connections that statements have.
	Received() uint64
	// Overdue gives up what another server can be asked as well, for the reason why this one is slow. It does not wait. It is
	// called again and again until a byte has come.
	Overdue(why error)
	// Freeze ends what is under way at the server, throws idle connections away, and refuses new statements for that reason,
	// until Thaw. Neither waits.
	Freeze(why error)
	// Thaw lets statements through, after a freeze and after the server was away.
	Thaw()
}

// look is between two looks at the bytes that have come.
const look = 250 * time.Millisecond

// DefaultStall is how long a server may be silent unless the configuration says.
const DefaultStall = 5 * time.Second

// Watch probes servers.
type Watch struct {
	// Servers gives those of now. A server that stays is the same value each time.
	Servers func() []Server
	// Stall is for how long a server that answers no probe may be silent on all of its connections; 0: DefaultStall.
	Stall time.Duration
	Log   *slog.Logger

	current atomic.Pointer[Snapshot]

	mu      sync.Mutex // guards what follows; held while servers are told, which does not wait
	watched map[Server]*watched
}

// watched is one server under a Watch's mu.
type watched struct {
	tracker
	received uint64
	probing  bool
	next     time.Time // when it is probed again
}

// Load gives what is known now: nil before Run has begun.
func (w *Watch) Load() *Snapshot { return w.current.Load() }

// Run probes until ctx ends, and waits for the probes that it has sent.
func (w *Watch) Run(ctx context.Context) {
	var probes sync.WaitGroup
	defer probes.Wait()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for last := time.Now(); ; {
		now := time.Now()
		w.step(now, now.Sub(last), func(s Server) { probes.Go(func() { w.probe(ctx, s) }) })
		last = now
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// lag is how much later than it should a look may come before its lateness is this process's own: one that was stopped, or whose
// machine was.
const lag = 2 * look

// step looks at all servers, after a time since the last look, and has those probed whose turn it is.
func (w *Watch) step(now time.Time, since time.Duration, probe func(Server)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow(now)
	changed := false
	for s, one := range w.watched {
		if since > lag {
			one.forgive(since - look)
		}
		if n := s.Received(); n != one.received {
			one.received = n
			one.heard(now)
		}
		changed = w.tell(s, one, func() { one.pass(now) }) || changed
		if one.overdue(now) {
			s.Overdue(one.why)
		}
		if !one.probing && !now.Before(one.next) {
			one.probing, one.next = true, now.Add(every)
			one.begin(now)
			probe(s)
		}
	}
	if changed || w.current.Load() == nil {
		w.publish()
	}
}

// follow takes new servers up and forgets those that are gone.
func (w *Watch) follow(now time.Time) {
	if w.watched == nil {
		w.watched = map[Server]*watched{}
	}
	servers := w.Servers()
	for _, s := range servers {
		if w.watched[s] == nil {
			w.watched[s] = &watched{tracker: newTracker(now, cmp.Or(w.Stall, DefaultStall)), received: s.Received()}
		}
	}
	if len(servers) == len(w.watched) {
		return
	}
	for s := range w.watched {
		if !slices.Contains(servers, s) {
			delete(w.watched, s)
		}
	}
	w.publish()
}

// probe runs one probe.
func (w *Watch) probe(ctx context.Context, s Server) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := s.Probe(limited)
	if ctx.Err() != nil {
		return // it says nothing of the server
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.watched[s]
	if one == nil {
		return // it is gone
	}
	one.probing = false
	if soonest := now.Add(every / 2); one.next.Before(soonest) { // two answers in a row are two moments
		one.next = soonest
	}
	w.tell(s, one, func() { one.found(now, r) })
	w.publish()
}

// tell changes a server's state, and acts on what comes of it.
func (w *Watch) tell(s Server, one *watched, change func()) (changed bool) {
	before := one.state
	change()
	if one.state == before {
		return false
	}
	switch {
	case one.state == Frozen:
		s.Freeze(one.why)
	case before.Down():
		s.Thaw()
	}
	level := slog.LevelInfo
	if one.state.Down() {
		level = slog.LevelWarn
	}
	w.Log.Log(context.Background(), level, "server", "shard", string(s.Shard()), "addr", s.Addr(), "state", one.state.String(), "before", before.String(), "why", one.why)
	return true
}

// publish replaces the snapshot. The caller holds mu.
func (w *Watch) publish() {
	list := make([]Status, 0, len(w.watched))
	for s, one := range w.watched {
		status := Status{
			Shard: s.Shard(), Addr: s.Addr(), Replica: s.Replica(), State: one.state, Since: one.since, Took: one.took,
		}
		if one.why != nil {
			status.Why = one.why.Error()
		}
		if frozen, ok := errors.AsType[*FrozenError](one.why); ok {
			status.Silent = frozen.Silent
		}
		list = append(list, status)
	}
	slices.SortFunc(list, func(a, b Status) int {
		return cmp.Or(strings.Compare(string(a.Shard), string(b.Shard)), compareRoles(a.Replica, b.Replica), strings.Compare(a.Addr, b.Addr))
	})
	w.current.Store(NewSnapshot(list))
}

func compareRoles(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
