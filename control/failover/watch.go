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

// watch is the state of the one process that watches a shard's servers.
type watch struct {
	lock   *etcd.Lock
	eyes   switchover.Lookout
	record Record    // the current state
	kept   Record    // the state as stored in etcd
	wrote  time.Time // when this process stored it, by its own clock; zero if another process stored it
	same   int       // number of polls in sequence that found the same problem

	// The following fields are used only for shards whose servers locus promotes.

	looks   int
	shrunk  int                // polls in sequence that found a read-only primary without transactions that others have
	absence absence            // of the primary
	reached map[string]votes   // from the last question to the proxies
	before  []switchover.Sight // the last poll at which the primary took writes
	strange map[string]int     // by server: polls in sequence that found errant transactions
	next    switchover.View    // the server that this process has promoted
	has     string             // the primary's GTID set at the last poll
	waiting int                // polls in sequence that found commits waiting for replicas
	since   time.Time          // the time of the first of them
	alone   int                // polls in sequence of a primary that runs without replicas
}

const (
	watchTTL = 5 * time.Second
	// keepEvery is the shortest time between two writes of the record that change only the primary's GTID set.
	keepEvery = 5 * time.Second
	// lasting is the number of polls in sequence that must find a problem before it is reported, because
	// servers change roles one after the other.
	lasting = 3
	// asking bounds questions to etcd.
	asking = 3 * time.Second
)

// follow polls the servers once. If an external tool has promoted another server, it makes the proxies use that
// one.
func (s *shard) follow(ctx context.Context) {
	if !s.watches(ctx) {
		return
	}
	p, err := s.primary(ctx)
	if err != nil || !p.Settled() {
		return // other components report that etcd is unreachable; a switchover belongs to its process, or is repaired
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

// watches reports whether this process is the one that watches the servers, and tries to become it.
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

// begin makes this process the watching one, if no other process watches the shard.
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

// leave releases the watch, so that another process can take it.
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

// judge calls [Judge] with the knowledge from earlier polls, and records the GTID set of a writable primary.
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

// reach returns the proxies that reach a server of the shard and find it writable.
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

// tell records the result of a poll. It publishes a problem only after several polls have found it.
func (s *shard) tell(ctx context.Context, err error) {
	w := s.watch
	what, remedy := "", ""
	if err != nil {
		what, remedy = "check the servers: "+err.Error(), "see the log of "+s.Runner.Name
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

// due reports whether the record must be written. The time at which another process wrote it does not count,
// because that process used its own clock.
func (w *watch) due(now time.Time) bool {
	return !w.record.same(w.kept) || now.Sub(w.wrote) >= keepEvery && w.record.changed(w.kept)
}

// keep writes the record to etcd. The next poll retries a failed write.
func (s *shard) keep(ctx context.Context) bool {
	w := s.watch
	now := time.Now()
	w.record.By, w.record.At = s.Runner.Name, now.UTC()
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if w.record.write(ctx, s.KV, s.name, eventsOf(s.name, w.kept, w.record, now)...) != nil {
		return false
	}
	w.kept, w.wrote = w.record.clone(), now
	return true
}
