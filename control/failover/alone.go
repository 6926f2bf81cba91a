package failover

import (
	"time"

	"locus/control/declared"
	"locus/control/switchover"
	"locus/router/cluster"
)

// waits notes whether the primary's commits wait for replicas: fewer are there than it waits for, or nothing comes of
// what waits for them.
func (w *watch) waits(now time.Time, primary switchover.Sight) {
	own := primary.SemiSync
	stuck := own.Replicas < own.Copies || own.Waiting > 0 && primary.Has == w.has
	if primary.Err != nil || own.Weak() != "" || !stuck {
		w.waiting, w.record.Waits = 0, time.Time{}
		return
	}
	if w.waiting++; w.waiting == 1 {
		w.since = now.UTC()
	}
	if w.waiting >= lasting && w.record.Waits.IsZero() {
		w.record.Waits = w.since
	}
}

// mayLose is why what the primary acknowledges may be lost with it; empty: it is not.
func mayLose(p declared.Primary, primary switchover.Sight) string {
	if p.Alone {
		return "it goes on without replicas, as was ordered (--without-replicas), until as many follow again as it waits for"
	}
	return primary.SemiSync.Weak()
}

// accompanied tells whether a primary that goes on without replicas need not any more: as many as it waits for
// follow, and have all that it had when it was looked at. What was let go by the order is seen after a look or two.
func (s *shard) accompanied(p cluster.Primary, seen []switchover.Sight) bool {
	w, primary := s.watch, seen[0]
	if w.alone++; !p.Alone {
		w.alone = 0
	}
	return w.alone >= lasting && primary.Err == nil && follow(primary, seen[1:]) >= max(1, primary.SemiSync.Copies)
}

// acknowledges tells whether a server acknowledges what it gets of the primary.
func acknowledges(primary, one switchover.Sight) bool {
	return one.Err == nil && one.Follows == primary.Identity && one.Stopped == "" && one.SemiSync.Acknowledges
}

// acknowledging is how many do.
func acknowledging(primary switchover.Sight, others []switchover.Sight) (n int) {
	for _, one := range others {
		if acknowledges(primary, one) {
			n++
		}
	}
	return n
}

// follow is how many of them have all that the primary had.
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
