package failover

import (
	"testing"
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// Obstacles to a failover are reported before a failover happens.
func TestUnready(t *testing.T) {
	k := Known{Shard: "s0", Identity: "id-a", Copies: 1, Followers: []string{"b"}}
	p := cluster.Primary{Server: "a"}
	for name, c := range map[string]struct {
		change func(*switchover.Sight)
		want   string
	}{
		"ready":                         {want: ""},
		"stopped":                       {func(s *switchover.Sight) { s.Stopped = "error" }, "does not receive the primary's transactions: error"},
		"behind":                        {func(s *switchover.Sight) { s.Behind = 31 }, "is 31 s behind, which a promotion waits for"},
		"waits for a branch":            {func(s *switchover.Sight) { s.Behind, s.Undecided = 106, 1 }, "is 106 s behind, which a promotion waits for, and has 1 prepared transactions: if it makes no progress, one of them locks rows for ever, because no other server knows of it; rebuild the server then"},
		"was stopped by one":            {func(s *switchover.Sight) { s.Applies, s.Stopped, s.Undecided = false, "Lock wait timeout exceeded", 1 }, "has stopped applying transactions: Lock wait timeout exceeded, and has 1 prepared transactions: if it makes no progress, one of them locks rows for ever, because no other server knows of it; rebuild the server then"},
		"acknowledges nothing":          {func(s *switchover.Sight) { s.SemiSync.Acknowledges = false }, "does not acknowledge: rpl_semi_sync_replica_enabled (rpl_semi_sync_slave_enabled) is OFF"},
		"takes its own for what it has": {func(s *switchover.Sight) { s.Strict = false }, leavesOut},
		"MySQL takes nothing back":      {func(s *switchover.Sight) { s.Strict, s.MariaDB = false, false }, ""},
		"weak as a primary":             {func(s *switchover.Sight) { s.SemiSync.Copies = 0 }, "could lose transactions that it acknowledges as the primary: it waits for no replica"},
		"unfit":                         {func(s *switchover.Sight) { s.ReadOnly = false }, "takes writes, and is a replica"},
	} {
		s := replica("b", "10", "10")
		s.MariaDB, s.Strict, s.Stopped, s.Has, s.Received = true, true, "", "0-1-10", ""
		s.SemiSync = switchover.SemiSync{Waits: true, AfterSync: true, Patience: 1000 * time.Hour, Alone: true, Copies: 1, InForce: true, Replicas: 1, Acknowledges: true}
		if c.change != nil {
			c.change(&s)
		}
		if got := k.unready(p, s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
