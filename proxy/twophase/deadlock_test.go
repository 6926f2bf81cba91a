package twophase

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// deadlocking has the first statements of a kind be the victims of deadlocks.
type deadlocking struct {
	*fakeServers
	prefix string
	left   int
}

func (d *deadlocking) Exec(ctx context.Context, shard router.ShardName, sql string) (uint64, error) {
	if strings.HasPrefix(sql, d.prefix) && d.left > 0 {
		d.left--
		return 0, &mysql.MyError{Code: mysql.ER_LOCK_DEADLOCK, State: "40001", Message: "Deadlock found"}
	}
	return d.fakeServers.Exec(ctx, shard, sql)
}

func TestADeadlockIsNoLackOfRights(t *testing.T) {
	for _, prefix := range []string{"INSERT", "UPDATE", "DELETE"} {
		servers := &deadlocking{newFakeServers("s0"), prefix, deadlocks - 1}
		c := New(Options{Cluster: "c", Servers: servers, Log: slog.New(slog.DiscardHandler)})
		if err := c.Ready(t.Context(), "s0"); err != nil {
			t.Errorf("%s: %v", prefix, err)
		}
		if servers.left != 0 {
			t.Errorf("%s was not tried", prefix)
		}
		servers.left = deadlocks
		c.Doubt("s0")
		if err := c.Ready(t.Context(), "s0"); err == nil || strings.Contains(err.Error(), "GRANT") {
			t.Errorf("%s, for ever: %v", prefix, err)
		}
		if err := c.Ready(t.Context(), "s0"); err != nil {
			t.Errorf("%s, afterwards: %v", prefix, err)
		}
	}
}
