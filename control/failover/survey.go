package failover

import (
	"fmt"

	"locus/control/switchover"
	"locus/router/cluster"
)

// mostBehind is the replication delay in seconds from which a replica is reported, because a promotion waits
// for the delay.
const mostBehind = 30

// survey records the result of a failover if it happened now: which transactions may be lost, and which servers
// could not be promoted.
func (s *State) survey(p Poll, k Known) {
	r := &s.Record
	r.MayLose, r.Unready = "", map[string]string{}
	if primary := p.Seen[0]; primary.Err == nil {
		r.MayLose = mayLose(p.Document, primary)
		if lax(primary) {
			r.Unready[primary.Addr] = leavesOut
		}
	}
	for _, one := range p.Seen[1:] {
		if why := k.unready(p.Document, one); why != "" {
			r.Unready[one.Addr] = why
		}
	}
}

// waitsFor describes why a replica may be unable to apply its relay log: it was killed as the primary with a
// prepared branch that its log does not contain. No other server has that branch, so replication will never end
// it. From outside, it looks the same as a branch whose end has not arrived yet, which must not be ended by
// hand.
func waitsFor(s switchover.Sight) string {
	if s.Undecided == 0 {
		return ""
	}
	return fmt.Sprintf(", and has %d prepared transactions: if it makes no progress, one of them locks rows for ever, because no other server knows of it; rebuild the server then", s.Undecided)
}

const leavesOut = "would skip transactions if it was restarted as the primary and then followed another server: gtid_strict_mode is OFF"

// lax reports whether a server skips replicated transactions that carry its own server ID, because
// gtid_strict_mode is OFF.
func lax(s switchover.Sight) bool { return s.MariaDB && s.SemiSync.Acknowledges && !s.Strict }

// unready returns the reason why a server could not be promoted, or only late, or could lose acknowledged
// transactions as the primary.
func (k Known) unready(p cluster.Primary, s switchover.Sight) string {
	if why := k.unfit(p, s); why != "" {
		return why
	}
	own := s.SemiSync
	own.Waits, own.InForce = true, true // as after a promotion
	switch {
	case s.Stopped != "":
		return "does not receive the primary's transactions: " + s.Stopped
	case s.Behind > mostBehind:
		return fmt.Sprintf("is %d s behind, which a promotion waits for", s.Behind) + waitsFor(s)
	case k.Copies > 0 && !s.SemiSync.Acknowledges:
		return "does not acknowledge: rpl_semi_sync_replica_enabled (rpl_semi_sync_slave_enabled) is OFF"
	case lax(s):
		return leavesOut
	case k.Copies > 0 && own.Weak() != "":
		return "could lose transactions that it acknowledges as the primary: " + own.Weak()
	}
	return ""
}
