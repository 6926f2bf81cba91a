package failover

import (
	"testing"
	"time"

	"locus/control/switchover"
)

// Two kinds of replicas are inspected: those that report a missing branch, and those that have prepared
// branches and have applied nothing for some time.
func TestWhatIsRestored(t *testing.T) {
	began := time.Now()
	stands := switchover.View{Addr: "a:1", MariaDB: true, Has: "0-1-5", Undecided: 1}
	moves := stands
	moves.Has = "0-1-6"
	decided, mysql, lacks := stands, stands, stands
	decided.Undecided, mysql.MariaDB, lacks.Lacks = 0, false, "X'78',X'',1"
	for name, c := range map[string]struct {
		first, then switchover.View
		after       time.Duration
		want        time.Duration // the time until the next attempt; 0: there is nothing to do
	}{
		"it lacks a branch":       {stands, lacks, 0, restoreAgain},
		"it stands still":         {stands, stands, stuck, endAgain},
		"not for long enough":     {stands, stands, stuck - time.Millisecond, 0},
		"it has applied some":     {stands, moves, stuck, 0},
		"it has no branches":      {decided, decided, stuck, 0},
		"it goes by its own log":  {mysql, mysql, stuck, 0},
		"it had branches, and no": {stands, decided, stuck, 0},
	} {
		s := &shard{Runner: &Runner{}, restores: restores{applied: map[string]applied{}}}
		if todo, again := s.toRestore(began, switchover.Sight{View: c.first}); todo != nil || again != 0 {
			t.Errorf("%s: something is to be done at once", name)
		}
		if todo, again := s.toRestore(began.Add(c.after), switchover.Sight{View: c.then}); again != c.want || (todo != nil) != (c.want != 0) {
			t.Errorf("%s: again after %v, want %v", name, again, c.want)
		}
	}
}
