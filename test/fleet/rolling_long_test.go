//go:build long

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/product"
)

// Everything is restarted, one by one, under load and with a move under way. No
// statement fails but those that were under way on a connection that was killed: to a
// proxy that was, or to a database server that was stopped.
func TestARollingRestart(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		f := start(t, engine)
		l := f.load()
		l.goesOn(t, 50)
		f.locus(1, "split", "--from", "s0", "--to", "s2", "--half")
		f.untilMove("ready", 0)
		for _, i := range append(machines, mover) {
			f.during(l, "a proxy is replaced", nothing, func() { f.replace(i) })
		}
		for _, i := range machines {
			f.during(l, "a node of etcd is restarted", nothing, func() { f.restartEtcd(i) })
		}
		f.locus(1, "cutover", "split-1", "--to", "50%", "--yes")
		f.untilMove("cutting", 50)
		f.during(l, "a proxy is killed", lostProxy, func() { f.kill(3) })
		f.during(l, "the mover is killed", nothing, func() { f.kill(mover) })
		for _, i := range machines {
			f.during(l, "another server is the primary", nothing, func() { f.switchOver(i, 40+i); f.switchOver(i, 30+i) })
		}
		for _, i := range machines {
			f.during(l, "a database server is restarted", lostShard, func() { f.restartShard(i) })
		}
		f.locus(1, "cutover", "split-1", "--to", "100%", "--yes")
		f.untilMove("cut", 100)
		f.during(l, "the move has ended", nothing, func() {})
		l.end()
		f.nothingIsLost(l)
		f.locus(1, "verify", "split-1")
		f.noSecretIsTold()
	})
}

// lostShard permits the failures of statements that were running at a lost shard, with the errors that
// docs/troubleshoot/errors.md describes for a broken connection to a shard: 1158, 1180 for a commit, whose text
// says whether it is known to be undone, and MySQL's own error for an interrupted statement.
func lostShard(failures []failure) error {
	for _, f := range failures {
		refused := new(mysql.MySQLError)
		if !errors.As(f.err, &refused) || !slices.Contains([]uint16{1158, 1180, 1317}, refused.Number) {
			return fmt.Errorf("%s: %w", f.what, f.err)
		}
	}
	return underWay(failures)
}

func (f *fleet) restartEtcd(i int) {
	f.t.Helper()
	f.etcd[i].Signal(f.t, syscall.SIGTERM)
	_ = f.etcd[i].Exit(f.t) // by the signal
	f.etcd[i].Start(f.t)
	f.untilHealthy()
}

func (f *fleet) restartShard(i int) {
	f.t.Helper()
	if err := f.shards[i].Stop(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	f.shards[i].Restart(f.t)
}

// untilMove waits for a phase of the one move, and its share at the target.
func (f *fleet) untilMove(phase string, percent float64) {
	f.t.Helper()
	var list []struct {
		Phase, Why string
		Percent    float64
	}
	product.Eventually(f.t, fmt.Sprintf("the move is %s, %v %%", phase, percent), func() bool {
		if err := json.Unmarshal([]byte(f.locus(1, "jobs", "-o", "json")), &list); err != nil || len(list) != 1 {
			f.t.Fatalf("%d moves, %v", len(list), err)
		}
		if list[0].Phase == "failed" {
			f.t.Fatalf("%+v", list)
		}
		return list[0].Phase == phase && list[0].Percent == percent
	})
}
