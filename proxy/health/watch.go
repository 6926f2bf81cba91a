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

// Server is a server to probe. Its methods are safe for concurrent use, except that one Probe runs at a time.
type Server interface {
	Shard() router.ShardName
	Addr() string
	Replica() bool
	// Probe checks that the server answers, over a connection reserved for probes. It returns soon after ctx ends.
	Probe(ctx context.Context) Report
	// Received returns a number that changes whenever a byte arrives on a connection that runs statements.
	Received() uint64
	// Overdue gives up requests that another server can answer, with the reason why this one is slow. It does not block. It is
	// called repeatedly until a byte arrives.
	Overdue(why error)
	// Freeze ends running statements, closes idle connections and refuses new statements with that reason, until Thaw. Neither
	// of the two blocks.
	Freeze(why error)
	// Thaw admits statements again, after a freeze or after the server was away.
	Thaw()
}

// look is the interval between two checks for received bytes.
const look = 250 * time.Millisecond

// DefaultStall is how long a server may be silent by default.
const DefaultStall = 5 * time.Second

// Watch probes servers.
type Watch struct {
	// Servers returns the current servers. A server that remains is the same value each time.
	Servers func() []Server
	// Stall is how long a server that answers no probe may be silent on all connections. 0 means DefaultStall.
	Stall time.Duration
	Log   *slog.Logger

	current atomic.Pointer[Snapshot]

	mu      sync.Mutex // guards the fields below; held during calls to servers, which don't block
	watched map[Server]*watched
}

// watched is one server, guarded by a Watch's mu.
type watched struct {
	tracker
	received uint64
	probing  bool
	next     time.Time // time of the next probe
}

// Load returns the current snapshot, or nil before Run has begun.
func (w *Watch) Load() *Snapshot { return w.current.Load() }

// Run probes until ctx ends, and then waits for the running probes.
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

// lag is the lateness of a check above which it counts as this process's own: the process or its machine was stopped.
const lag = 2 * look

// step checks all servers and starts due probes. since is the time since the last check.
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

// follow adds new servers and forgets removed ones.
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
		return // this reveals nothing about the server
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.watched[s]
	if one == nil {
		return // the server was removed
	}
	one.probing = false
	if soonest := now.Add(every / 2); one.next.Before(soonest) { // two consecutive answers must be some time apart
		one.next = soonest
	}
	w.tell(s, one, func() { one.found(now, r) })
	w.publish()
}

// tell changes a server's state and acts on the result.
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
