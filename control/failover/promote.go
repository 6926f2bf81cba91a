package failover

import (
	"context"
	"errors"
	"log/slog"
	"maps"
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
	if !s.watches(ctx) {
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
	seen := s.watch.eyes.Look(ctx, s.name, p.Cluster.Shards[s.name], p.Server)
	k, err := s.known(ctx, p, seen)
	if err == nil {
		err = s.settle(ctx, p, seen, k)
	}
	if errors.Is(err, etcd.ErrHeld) {
		return // a switchover is under way
	}
	s.tell(ctx, err)
}

// settle acts on the result of a poll.
func (s *shard) settle(ctx context.Context, p declared.Primary, seen []switchover.Sight, k Known) error {
	to, err := Choose(p.Primary, seen, k)
	shrunk := err == nil && to != p.Server && !k.Away.enough()
	if s.watch.shrunk++; !shrunk {
		s.watch.shrunk = 0
	}
	switch {
	case err != nil:
		return err
	case shrunk && s.watch.shrunk < lasting: // one poll is no proof: a client may still write to it, and the others were polled a moment later
		return nil
	case to != p.Server || p.Next != "":
		return s.turn(ctx, p, k)
	case k.Away.Votes.most():
		return nil // After has not passed yet
	}
	s.survey(p, seen, k)
	s.restore(ctx, p, seen)
	if s.accompanied(p.Primary, seen) {
		return s.order("").WaitAgain(ctx)
	}
	if untidy(p.Primary, seen, k.Errant) && !time.Now().Before(s.next) {
		s.tidy(ctx, p, seen)
	}
	return k.patience(p.Primary, seen)
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
		s.watch.next = chosen
	}
	return err
}

// known returns the knowledge from earlier polls and from the proxies, and records the GTID set of a writable
// primary.
func (s *shard) known(ctx context.Context, p declared.Primary, seen []switchover.Sight) (Known, error) {
	w := s.watch
	s.meet(p)
	primary := seen[0]
	w.waits(time.Now(), primary)
	if primary.Err == nil && !primary.ReadOnly {
		w.has, w.record.Identity, w.record.Copies = primary.Has, primary.Identity, 0
		if primary.SemiSync.Weak() == "" {
			w.record.Copies = primary.SemiSync.Copies
		}
		w.record.Had = acknowledged(primary, seen[1:], w.record)
		s.errant(primary)
		w.before = seen
	}
	if primary.Err != nil || w.absence.lasts(time.Now()) > 0 || w.looks%voteEvery == 0 {
		asked, err := s.votes(ctx)
		if err != nil {
			return Known{}, err
		}
		w.reached = asked
		w.absence.note(time.Now(), asked[p.Server])
	}
	w.looks++
	now := time.Now()
	k := Known{
		Shard: s.name, Had: w.record.Had, Identity: w.record.Identity, Copies: w.record.Copies, Followers: w.record.Followers,
		Errant: maps.Clone(w.record.Errant), Reached: w.reached,
		Away: Away{w.reached[p.Server], w.absence.lasts(now), p.Cluster.Shards[s.name].PatienceWithPrimary(), w.absence.comesAndGoes(now)},
	}
	return k, nil
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

// meet resets the watch if another server has become the primary.
func (s *shard) meet(p declared.Primary) {
	w := s.watch
	if w.record.Primary != p.Server {
		w.absence, w.before, w.strange, w.has = absence{}, nil, nil, ""
		w.record.Had, w.record.Identity, w.record.Copies, w.record.Errant = "", "", 0, nil
		w.record.Waits, w.waiting, w.alone = time.Time{}, 0, 0
		if w.next.Addr == p.Server { // this process promoted it and knows its transactions
			w.record.Had, w.record.Identity = w.next.All(), w.next.Identity
		}
		w.record.Followers = others(p) // without the former primary, which is down
		if p.Former != "" {
			w.record.Followers = slices.DeleteFunc(w.record.Followers, func(a string) bool { return a == p.Former })
		}
	}
	w.record.Epoch, w.record.Primary = p.Epoch, p.Server
}

// others returns the shard's servers without the primary.
func others(p declared.Primary) []string {
	return slices.DeleteFunc(slices.Clone(p.Cluster.Shards[p.Shard].Servers), func(a string) bool { return a == p.Server })
}

// errant records the errant transactions: those that other servers had at the previous poll and the primary
// still lacks. They count only after several polls, because a transaction may be on its way.
func (s *shard) errant(primary switchover.Sight) {
	w := s.watch
	for _, one := range w.before {
		if one.Err != nil || one.Addr == primary.Addr {
			continue
		}
		missing, err := switchover.Missing(one.MariaDB, one.Has, primary.Has)
		if err != nil {
			continue
		}
		if w.strange == nil {
			w.strange = map[string]int{}
		}
		if w.strange[one.Addr]++; missing == "" {
			w.strange[one.Addr] = 0
			delete(w.record.Errant, one.Addr)
		} else if w.strange[one.Addr] >= lasting || w.record.Errant[one.Addr] != "" {
			if w.record.Errant == nil {
				w.record.Errant = map[string]string{}
			}
			w.record.Errant[one.Addr] = missing
		}
	}
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
func (s *shard) tidy(ctx context.Context, p declared.Primary, seen []switchover.Sight) {
	w := s.watch
	for _, one := range seen[1:] { // it may acknowledge from now on, so it is recorded before
		if one.Err == nil && !slices.Contains(w.record.Followers, one.Addr) {
			w.record.Followers = append(w.record.Followers, one.Addr)
		}
	}
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
