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

const (
	// voting bounds a question to the proxies, because a dead proxy stays registered until its lease expires.
	voting = time.Second
	// voteEvery is the number of polls between two questions to the proxies while the primary is healthy.
	voteEvery = 3
	// mostTidyPause is the longest time between two attempts to set the servers up as the document declares.
	mostTidyPause = 5 * time.Second
)

// promote polls the servers once. If the primary is lost, it promotes another server. It sets up all servers as
// the document declares.
func (s *shard) promote(ctx context.Context) {
	if !s.watches(ctx, cluster.FailoverPromote) {
		return
	}
	p, err := s.primary(ctx)
	if err != nil {
		return // other components report that etcd is unreachable
	}
	if p.Next != "" && p.Cause != cluster.Lost { // a command of an operator is under way; if it was interrupted, it is repaired below
		if !time.Now().Before(s.next) {
			s.mend(ctx)
		}
		return
	}
	poll := s.poll(ctx, p)
	next, d := Observe(s.watch.state, poll)
	s.watch.state = next
	s.trace(ctx, polledEntry, poll)
	s.trace(ctx, decidedEntry, d)
	err = d.Err
	if failed := s.act(ctx, p, poll, d); failed != nil {
		err = failed
	}
	if errors.Is(err, etcd.ErrHeld) {
		return // a switchover is under way
	}
	s.tell(ctx, err)
}

// poll polls the servers and, if that is due, the proxies.
func (s *shard) poll(ctx context.Context, p declared.Primary) Poll {
	declaration := p.Cluster.Shards[s.name]
	poll := Poll{Shard: s.name, Document: p.Primary, Servers: declaration.Servers, After: declaration.PatienceWithPrimary()}
	poll.Seen = s.watch.eyes.Look(ctx, s.name, declaration, p.Server)
	if s.watch.state.Asks(time.Now(), p.Primary, poll.Seen[0]) {
		poll.Votes, poll.NoVotes = s.votes(ctx)
	}
	poll.At = time.Now()
	return poll
}

// act carries out a decision.
func (s *shard) act(ctx context.Context, p declared.Primary, poll Poll, d Decision) error {
	if d.Inspects {
		s.restore(ctx, p, poll.Seen)
	}
	switch d.Do {
	case Promote:
		return s.turn(ctx, p, d.Known)
	case WaitAgain:
		return s.order("").WaitAgain(ctx)
	case Tidy:
		if !time.Now().Before(s.next) {
			s.tidy(ctx, p, poll)
		}
	case Nothing:
	}
	return nil
}

// turn promotes the most advanced server, or undoes a promotion that was begun.
func (s *shard) turn(ctx context.Context, p declared.Primary, k Known) error {
	var chosen switchover.View
	err := s.order("").Promote(ctx, func(now cluster.Primary, seen []switchover.Sight) (string, error) {
		if now.Epoch < p.Epoch {
			return "", errors.New("the document is older than it was")
		}
		to, err := Choose(now, seen, k)
		for _, one := range seen {
			if one.Addr == to {
				chosen = one.View
			}
		}
		return to, err
	})
	if applying, ok := errors.AsType[*switchover.ApplyingError](err); ok {
		return trouble("wait", "%s; %v", k.missed(p.Primary), applying)
	}
	if err == nil {
		s.watch.state = s.watch.state.Promoted(chosen)
		s.trace(ctx, promotedEntry, chosen)
	}
	return err
}

// acknowledged returns the transactions of the primary that it may have acknowledged to clients. MariaDB writes
// a transaction to its log, and thus to its GTID set, before it waits for replicas. If no server that could
// have acknowledged it had it at a later poll, no client had received an acknowledgement at the time of the
// primary's poll.
func acknowledged(primary switchover.Sight, others []switchover.Sight, r Record) string {
	if !primary.MariaDB || r.Copies == 0 || primary.SemiSync.Replicas > acknowledging(primary, others) {
		return primary.Has
	}
	var replicas []string
	for _, one := range others {
		if one.Err == nil {
			replicas = append(replicas, one.All())
		} else if slices.Contains(r.Followers, one.Addr) {
			return primary.Has
		}
	}
	return switchover.Common(primary.Has, replicas)
}

// votes asks the registered proxies how they see each of the shard's servers.
func (s *shard) votes(ctx context.Context) (map[string]votes, error) {
	told, err := fleet.AskLately[[]health.Status](ctx, s.KV, fleet.Servers, s.Look, voting)
	if err != nil {
		return nil, err
	}
	by := map[string]votes{}
	for _, servers := range told.By {
		for _, one := range servers {
			if one.Shard != s.name {
				continue
			}
			v := by[one.Addr]
			if one.State.Down() {
				if v.Down++; v.Down == 1 || one.Silent < v.Silent {
					v.Silent = one.Silent
				}
				v.Why = one.Why
			}
			by[one.Addr] = v
		}
	}
	for addr, v := range by {
		v.Proxies, v.Mute = len(told.By)+len(told.Silent), len(told.Silent)
		by[addr] = v
	}
	return by, nil
}

// untidy reports whether a reachable server differs from what the document declares, and can be changed.
func untidy(p cluster.Primary, seen []switchover.Sight, errant map[string]string) bool {
	primary, back := seen[0], false
	if primary.Err != nil {
		return false
	}
	if primary.ReadOnly || primary.Source != "" || primary.SemiSync.Acknowledges && primary.SemiSync.Waits == p.Alone {
		return true
	}
	for _, s := range seen[1:] {
		follows := s.Err == nil && (s.Follows == primary.Identity || s.Source == primary.Addr)
		if s.Err == nil && (!s.ReadOnly || !follows && errant[s.Addr] == "" || follows && s.Paused) {
			return true
		}
		back = back || follows && s.Addr == p.Former
	}
	return back
}

// tidy sets the servers up as the document declares.
func (s *shard) tidy(ctx context.Context, p declared.Primary, poll Poll) {
	s.watch.state = s.watch.state.WithFollowers(poll)
	s.trace(ctx, tidiedEntry, "")
	if !s.keep(ctx) {
		return
	}
	err := s.order("").Tidy(ctx)
	switch {
	case err == nil:
		s.said, s.pause = "", 0
		s.Log.Info("the servers have the roles of the document again", slog.String("shard", string(s.name)), slog.String("primary", p.Server))
	case errors.Is(err, etcd.ErrHeld) || ctx.Err() != nil:
	default:
		s.pause = min(max(2*s.pause, s.Look), mostTidyPause)
		s.next = time.Now().Add(s.pause)
		if s.said != err.Error() {
			s.said = err.Error()
			s.Log.Warn("a server does not have the role of the document", slog.String("shard", string(s.name)), slog.Any("error", err))
		}
	}
}
