package failover

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/switchover"
	"locus/proxy/health"
	"locus/router/cluster"
)

// watch is what a process has that watches a shard's servers: the one of all that does.
type watch struct {
	lock   *etcd.Lock
	eyes   switchover.Lookout
	record Record    // as it is now
	kept   Record    // as it is in etcd
	wrote  time.Time // when this process wrote it, by its own clock; zero: another one has
	same   int       // looks that have found the same trouble

	// What follows is of a shard that locus promotes servers of.

	looks   int
	shrunk  int                // looks that have found a primary that takes no writes, and lacks what others have
	absence absence            // of the primary
	reached map[string]votes   // of the last question
	before  []switchover.Sight // of the last look at a primary that took writes
	strange map[string]int     // looks that have found transactions of a server's own
	next    switchover.View    // that this process has promoted
	has     string             // what the primary had at the last look
	waiting int                // looks that have found commits to wait for replicas
	since   time.Time          // of the first of them
	alone   int                // looks at a primary that goes on without replicas
}

const (
	watchTTL = 5 * time.Second
	// keepEvery is between two records of what a primary has.
	keepEvery = 5 * time.Second
	// lasting is how many looks find a trouble before anybody is told: servers change
	// roles one after the other.
	lasting = 3
	// asking bounds questions to etcd.
	asking = 3 * time.Second
)

// follow looks at the servers once, and has the proxies go to another one if that is the primary.
func (s *shard) follow(ctx context.Context) {
	if !s.watches(ctx) {
		return
	}
	p, err := s.primary(ctx)
	if err != nil || !p.Settled() {
		return // etcd's absence is told by others; a switchover is its own process's, or mended
	}
	shard := p.Cluster.Shards[s.name]
	to, err := s.judge(ctx, p, s.watch.eyes.Look(ctx, s.name, shard, p.Server))
	if err == nil && to != p.Server {
		err = s.order(to).Follow(ctx, func(now cluster.Primary, seen []switchover.Sight) (string, error) {
			if now.Epoch < p.Epoch {
				return "", errors.New("the document is older than it was")
			}
			return s.judge(ctx, p, seen)
		})
		if errors.Is(err, etcd.ErrHeld) {
			return // a switchover is under way
		}
	}
	s.tell(ctx, err)
}

// watches tells whether this process is the one that watches the servers.
func (s *shard) watches(ctx context.Context) bool {
	if s.watch == nil && !s.begin(ctx) {
		return false
	}
	select {
	case <-s.watch.lock.Lost():
		s.leave(ctx)
		return false
	default:
		return true
	}
}

// begin makes this process the one that watches, if none does.
func (s *shard) begin(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	lock, err := s.KV.Lock(ctx, watchPrefix+string(s.name), []byte(s.Runner.Name), watchTTL)
	if err != nil {
		return false
	}
	s.watch = &watch{lock: lock, eyes: switchover.Lookout{Secrets: s.Secrets}}
	s.watch.kept, err = read(ctx, s.KV, s.name)
	if err != nil {
		s.leave(ctx)
		return false
	}
	s.watch.record = s.watch.kept.clone()
	return true
}

// leave has another process watch.
func (s *shard) leave(ctx context.Context) {
	if s.watch == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), asking)
	defer cancel()
	s.watch.eyes.Close(ctx)
	s.watch.lock.Release()
	s.watch = nil
	s.note(s.name, nil)
}

func (s *shard) primary(ctx context.Context) (declared.Primary, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return declared.ReadPrimary(ctx, s.KV, s.name)
}

// judge adds what is known beside what was seen, and notes what a primary has that takes writes.
func (s *shard) judge(ctx context.Context, p declared.Primary, seen []switchover.Sight) (string, error) {
	w := s.watch
	if w.record.Epoch != p.Epoch || w.record.Primary != p.Server {
		if w.record.Primary != p.Server {
			w.record.Had = ""
		}
		w.record.Epoch, w.record.Primary = p.Epoch, p.Server
	}
	k := Known{Shard: s.name, Had: w.record.Had}
	if seen[0].Err != nil {
		var err error
		if k.Reach, err = s.reach(ctx, p.Server); err != nil {
			return "", err
		}
	}
	if seen[0].Err == nil && !seen[0].ReadOnly {
		w.record.Had = seen[0].Has
	}
	return Judge(p.Primary, seen, k)
}

// reach are the proxies that reach a server of the shard, and find that it takes writes.
func (s *shard) reach(ctx context.Context, addr string) (list []string, err error) {
	told, err := fleet.AskLately[[]health.Status](ctx, s.KV, fleet.Servers, s.Look, asking)
	for proxy, servers := range told.By {
		for _, one := range servers {
			if one.Shard == s.name && one.Addr == addr && one.State == health.Well {
				list = append(list, proxy)
			}
		}
	}
	slices.Sort(list)
	return list, err
}

// tell keeps what was found, and says it to whoever asks, once it lasts.
func (s *shard) tell(ctx context.Context, err error) {
	w := s.watch
	what, remedy := "", ""
	if err != nil {
		what, remedy = "look at the servers: "+err.Error(), "see the log of "+s.Runner.Name
		if t, ok := errors.AsType[*Trouble](err); ok {
			what, remedy = t.What, t.Remedy
		}
	}
	if w.same++; err == nil {
		w.same = 0
	}
	if err != nil && w.same < lasting {
		return
	}
	w.record.Trouble, w.record.Remedy = what, remedy
	s.note(s.name, &Watched{Trouble: what != "", MayLose: w.record.MayLose != "", Waits: !w.record.Waits.IsZero(), Errant: len(w.record.Errant)})
	turned := (w.record.Trouble == "") != (w.kept.Trouble == "")
	if turned && err != nil {
		s.Log.Warn("primary", slog.String("shard", string(s.name)), slog.String("trouble", what), slog.String("remedy", remedy))
	} else if turned {
		s.Log.Info("primary", slog.String("shard", string(s.name)), slog.String("trouble", "none any more"))
	}
	if w.record.MayLose != w.kept.MayLose {
		s.Log.Warn("what the primary acknowledges", slog.String("shard", string(s.name)), slog.String("may_be_lost_since", w.record.MayLose))
	}
	if waits := w.record.Waits; !waits.Equal(w.kept.Waits) && waits.IsZero() {
		s.Log.Info("writes", slog.String("shard", string(s.name)), slog.String("wait_for_a_replica_since", "none any more"))
	} else if !waits.Equal(w.kept.Waits) {
		s.Log.Warn("writes", slog.String("shard", string(s.name)), slog.Time("wait_for_a_replica_since", waits))
	}
	if w.due(time.Now()) {
		s.keep(ctx)
	}
}

// due tells whether the record is to be written down. When another process wrote it last counts for nothing: that is by its own clock.
func (w *watch) due(now time.Time) bool {
	return !w.record.same(w.kept) || now.Sub(w.wrote) >= keepEvery && w.record.changed(w.kept)
}

// keep writes the record down; what fails is tried again at the next look.
func (s *shard) keep(ctx context.Context) bool {
	w := s.watch
	now := time.Now()
	w.record.By, w.record.At = s.Runner.Name, now.UTC()
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if w.record.write(ctx, s.KV, s.name) != nil {
		return false
	}
	w.kept, w.wrote = w.record.clone(), now
	return true
}
