package failover

import (
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// waits records whether the primary's commits are blocked because too few replicas acknowledge. That is the
// case if fewer replicas are connected than the primary waits for, or if commits wait and the primary's GTID
// set does not grow.
func (s *State) waits(now time.Time, primary switchover.Sight) {
	own := primary.SemiSync
	stuck := own.Replicas < own.Copies || own.Waiting > 0 && primary.Has == s.has
	if primary.Err != nil || own.Weak() != "" || !stuck {
		s.waiting, s.Record.Waits = 0, time.Time{}
		return
	}
	if s.waiting++; s.waiting == 1 {
		s.since = now.UTC()
	}
	if s.waiting >= lasting && s.Record.Waits.IsZero() {
		s.Record.Waits = s.since
	}
}

// mayLose returns the reason why transactions that the primary acknowledges may be lost with it, or "" if they
// can't be.
func mayLose(p cluster.Primary, primary switchover.Sight) string {
	if p.Alone {
		return "it continues without replicas, as requested (--without-replicas), until as many follow again as it waits for"
	}
	return primary.SemiSync.Weak()
}

// accompanied reports whether a primary that runs without replicas can wait for them again. Enough replicas
// must follow and have everything that the primary had at the poll. Commits released by --without-replicas are
// visible only after one or two polls, so several polls in sequence must find this.
func (s *State) accompanied(p cluster.Primary, seen []switchover.Sight) bool {
	primary := seen[0]
	if s.alone++; !p.Alone {
		s.alone = 0
	}
	return s.alone >= lasting && primary.Err == nil && follow(primary, seen[1:]) >= max(1, primary.SemiSync.Copies)
}

// acknowledges reports whether a server follows the primary and acknowledges its transactions.
func acknowledges(primary, one switchover.Sight) bool {
	return one.Err == nil && one.Follows == primary.Identity && one.Stopped == "" && one.SemiSync.Acknowledges
}

// acknowledging returns the number of servers that acknowledge the primary's transactions.
func acknowledging(primary switchover.Sight, others []switchover.Sight) (n int) {
	for _, one := range others {
		if acknowledges(primary, one) {
			n++
		}
	}
	return n
}

// follow returns the number of acknowledging servers that have everything that the primary had.
func follow(primary switchover.Sight, others []switchover.Sight) (n int) {
	for _, one := range others {
		if !acknowledges(primary, one) {
			continue
		}
		if lacks, err := switchover.Missing(one.MariaDB, primary.Has, one.All()); err == nil && lacks == "" {
			n++
		}
	}
	return n
}
