package failover

import (
	"context"
	"log/slog"
	"time"

	"locus/control/declared"
	"locus/control/switchover"
)

const (
	// restoring bounds one try: a server's log is read from its end until a branch is found.
	restoring = time.Minute
	// restoreAgain is between the beginning of a try to give a branch back and the next one at the same server, and endAgain
	// the same where a replica may wait for a branch that its primary has lost: the primary's log is read for that.
	restoreAgain = 10 * time.Second
	endAgain     = 5 * time.Minute
	// stuck is for how long a late replica has applied nothing before that is looked into.
	stuck = 10 * time.Second
)

// restores are of a shard's replicas that a crash has left other branches than their logs have. That is done beside the looks, which must not wait for it.
type restores struct {
	running map[string]bool   // by address
	next    map[try]time.Time // when it may be tried again
	applied map[string]applied
	ended   chan string // addresses
}

// try is of one server; what is tried for a branch that it lacks does not wait for what is tried for one that its primary does.
type try struct {
	addr  string
	lacks bool
}

// applied is what a replica has applied, and since when nothing else.
type applied struct {
	has   string
	since time.Time
}

// restore has replicas that have stopped for want of a branch get it back, and those go on that wait for one which the primary has lost.
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
				s.Log.Warn("a crash has left a server other branches than its log has", slog.String("shard", string(p.Shard)), slog.String("addr", one.Addr), slog.Any("error", err))
			}
		})
	}
}

// toRestore is what is to be done at a server, and how long after its beginning again; nil: nothing.
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
