package failover

import (
	"context"
	"log/slog"
	"time"

	"locus/control/declared"
	"locus/control/switchover"
)

const (
	// restoring bounds one attempt, which reads a server's log backwards until it finds a branch.
	restoring = time.Minute
	// restoreAgain is the time between the starts of two attempts to restore a missing branch at the same
	// server. EndAgain is the same for ending a branch that the primary has lost. It is longer because each
	// attempt reads the primary's log.
	restoreAgain = 10 * time.Second
	endAgain     = 5 * time.Minute
	// stuck is how long a lagging replica must have applied nothing before locus inspects it.
	stuck = 10 * time.Second
)

// restores tracks repairs of replicas whose prepared XA branches differ from the log after a crash. Repairs run
// in goroutines of their own, because the polls must not wait for them.
type restores struct {
	running map[string]bool   // by address
	next    map[try]time.Time // earliest time of the next attempt
	applied map[string]applied
	ended   chan string // addresses
}

// try identifies a kind of repair at one server. Restoring a branch that the server lacks does not wait for
// ending one that the primary lacks.
type try struct {
	addr  string
	lacks bool
}

// applied holds the GTID set that a replica has applied, and since when it has not changed.
type applied struct {
	has   string
	since time.Time
}

// restore repairs replicas that stopped because a prepared branch is missing, and replicas that wait for a
// branch that the primary has lost.
func (s *shard) restore(ctx context.Context, p declared.Primary, seen []switchover.Sight) {
	r := &s.restores
	if r.ended == nil {
		*r = restores{map[string]bool{}, map[try]time.Time{}, map[string]applied{}, make(chan string, len(seen))}
	}
	for len(r.ended) > 0 {
		delete(r.running, <-r.ended)
	}
	for _, one := range seen[1:] {
		now := time.Now()
		todo, again := s.toRestore(now, one)
		this := try{one.Addr, one.Lacks != ""}
		if todo == nil || one.Follows != seen[0].Identity || len(r.running) == cap(r.ended) || r.running[one.Addr] || now.Before(r.next[this]) {
			continue
		}
		r.running[one.Addr], r.next[this] = true, now.Add(again)
		s.tasks.Go(func() {
			defer func() { r.ended <- one.Addr }()
			ctx, cancel := context.WithTimeout(ctx, restoring)
			defer cancel()
			if err := todo(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("after a crash, a server has other prepared branches than its log", slog.String("shard", string(p.Shard)), slog.String("addr", one.Addr), slog.Any("error", err))
			}
		})
	}
}

// toRestore returns the repair that a server needs and the time until the next attempt, or nil if it needs
// none.
func (s *shard) toRestore(now time.Time, one switchover.Sight) (todo func(context.Context) error, again time.Duration) {
	if one.Err != nil || !one.MariaDB {
		return nil, 0
	}
	before, known := s.restores.applied[one.Addr]
	if !known || before.has != one.Has {
		before = applied{one.Has, now}
		s.restores.applied[one.Addr] = before
	}
	switch {
	case one.Lacks != "":
		return s.order(one.Addr).Restore, restoreAgain
	case one.Undecided > 0 && now.Sub(before.since) >= stuck:
		return s.order(one.Addr).EndLost, endAgain
	}
	return nil, 0
}
