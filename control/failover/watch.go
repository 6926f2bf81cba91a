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

// watch belongs to the one process that watches a shard's servers.
type watch struct {
	lock  *etcd.Lock
	eyes  switchover.Lookout
	state State
	how   cluster.Failover // the mode of failover for which the state was made
	kept  Record           // the record as stored in etcd
	wrote time.Time        // when this process stored it, by its own clock; zero if another process stored it
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
	if !s.watches(ctx, cluster.FailoverFollow) {
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

// watches reports whether this process is the one that watches the servers, and tries to become it. If the
// shard had another mode of failover before, only the record is kept.
func (s *shard) watches(ctx context.Context, how cluster.Failover) bool {
	if s.watch == nil && !s.begin(ctx) {
		return false
	}
	select {
	case <-s.watch.lock.Lost():
		s.leave(ctx)
		return false
	default:
	}
	if w := s.watch; w.how != how {
		w.state, w.how = State{Record: w.state.Record, same: w.state.same}, how
		s.trace(ctx, startedEntry, w.state.Record)
	}
	return true
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
	s.watch.state.Record = s.watch.kept.clone()
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
	r := &s.watch.state.Record
	if r.Epoch != p.Epoch || r.Primary != p.Server {
		if r.Primary != p.Server {
			r.Had = ""
		}
		r.Epoch, r.Primary = p.Epoch, p.Server
	}
	k := Known{Shard: s.name, Had: r.Had}
	if seen[0].Err != nil {
		var err error
		if k.Reach, err = s.reach(ctx, p.Server); err != nil {
			return "", err
		}
	}
	if seen[0].Err == nil && !seen[0].ReadOnly {
		r.Had = seen[0].Has
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
	var settled bool
	if w.state, settled = w.state.Reported(err, what, remedy); !settled {
		return
	}
	r := w.state.Record
	s.note(s.name, &Watched{Trouble: what != "", MayLose: r.MayLose != "", Waits: !r.Waits.IsZero(), Errant: len(r.Errant)})
	turned := (r.Trouble == "") != (w.kept.Trouble == "")
	if turned && err != nil {
		s.Log.Warn("primary", slog.String("shard", string(s.name)), slog.String("trouble", what), slog.String("remedy", remedy))
	} else if turned {
		s.Log.Info("primary", slog.String("shard", string(s.name)), slog.String("trouble", "none any more"))
	}
	if r.MayLose != w.kept.MayLose {
		s.Log.Warn("what the primary acknowledges", slog.String("shard", string(s.name)), slog.String("may_be_lost_since", r.MayLose))
	}
	if waits := r.Waits; !waits.Equal(w.kept.Waits) && waits.IsZero() {
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
	return !w.state.Record.same(w.kept) || now.Sub(w.wrote) >= keepEvery && w.state.Record.changed(w.kept)
}

// keep writes the record to etcd. The next poll retries a failed write.
func (s *shard) keep(ctx context.Context) bool {
	w := s.watch
	now := time.Now()
	r := w.state.Record
	r.By, r.At = s.Runner.Name, now.UTC()
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if r.write(ctx, s.KV, s.name, eventsOf(s.name, w.kept, r, now)...) != nil {
		return false
	}
	w.state.Record, w.kept, w.wrote = r, r.clone(), now
	return true
}
