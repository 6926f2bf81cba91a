package failover

import (
	"fmt"

	"locus/control/declared"
	"locus/control/switchover"
)

// mostBehind is by how many seconds a replica may be behind before that is told: a promotion waits for it.
const mostBehind = 30

// survey keeps what a failover would come to now: what may be lost, and which servers could not be promoted.
func (s *shard) survey(p declared.Primary, seen []switchover.Sight, k Known) {
	r := &s.watch.record
	r.MayLose, r.Unready = "", map[string]string{}
	if primary := seen[0]; primary.Err == nil {
		r.MayLose = mayLose(p, primary)
		if lax(primary) {
			r.Unready[primary.Addr] = leavesOut
		}
	}
	for _, one := range seen[1:] {
		if why := k.unready(p, one); why != "" {
			r.Unready[one.Addr] = why
		}
	}
}

// waitsFor is what may keep a replica from applying what it is sent: a branch that was prepared when the server was killed as the primary,
// of which its log has nothing. No other server has it, so nothing that the replica is sent will ever end it. From outside it looks
// like one that the replica has yet to hear the end of, which must not be ended by hand.
func waitsFor(s switchover.Sight) string {
	if s.Undecided == 0 {
		return ""
	}
	return fmt.Sprintf(", and has %d prepared transactions: if it gets no further, one of them holds rows for ever, since no other server knows of it; make it anew then", s.Undecided)
}

const leavesOut = "would leave out, once it is restarted as a primary and follows, what it takes back then: gtid_strict_mode is OFF"

// lax tells whether a server takes what it has written itself for what it has.
func lax(s switchover.Sight) bool { return s.MariaDB && s.SemiSync.Acknowledges && !s.Strict }

// unready is why a server could not be promoted, or would be late, or would not keep what the primary keeps.
func (k Known) unready(p declared.Primary, s switchover.Sight) string {
	if why := k.unfit(p.Primary, s); why != "" {
		return why
	}
	own := s.SemiSync
	own.Waits, own.InForce = true, true // as it would be then
	switch {
	case s.Stopped != "":
		return "does not receive what the primary writes: " + s.Stopped
	case s.Behind > mostBehind:
		return fmt.Sprintf("is %d s behind, which a promotion waits for", s.Behind) + waitsFor(s)
	case k.Copies > 0 && !s.SemiSync.Acknowledges:
		return "does not acknowledge: rpl_semi_sync_replica_enabled (rpl_semi_sync_slave_enabled) is OFF"
	case lax(s):
		return leavesOut
	case k.Copies > 0 && own.Weak() != "":
		return "would not keep what it acknowledges as a primary: " + own.Weak()
	}
	return ""
}
