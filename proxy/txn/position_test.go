package txn

import (
	"slices"
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/flavor"
	"locus/proxy/wire"
	"locus/router"
)

// value is a reply with one value to statements with the given prefix.
func value(prefix, v string) fakeshard.Reply {
	return fakeshard.Reply{Prefix: prefix, Columns: []wire.Column{fakeshard.Number("v")}, Rows: [][]string{{v}}}
}

const (
	asksMySQL    = "SELECT @@GLOBAL.gtid_executed"
	waitsMySQL   = "SELECT WAIT_FOR_EXECUTED_GTID_SET("
	asksMariaDB  = "SELECT @@GLOBAL.gtid_binlog_pos"
	waitsMariaDB = "SELECT MASTER_GTID_WAIT("
)

// A session that must see its own writes asks the primary once after it has used it, and each connection to a replica once.
func TestOwnWritesAreSeen(t *testing.T) {
	for _, c := range []struct {
		flavor      flavor.Flavor
		asks, waits string
		at          string // in the primary's answer
		as          string // the position in the question to the replica
	}{
		{flavor.MySQL, asksMySQL, waitsMySQL, "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,\n4e11fa47-71ca-11e1-9e33-c80aa9429562:1", "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5,4e11fa47-71ca-11e1-9e33-c80aa9429562:1"},
		{flavor.MariaDB, asksMariaDB, waitsMariaDB, "0-1-5,1-2-7", "0-1-5,1-2-7"},
	} {
		s := newStand(t, XA)
		s.client.Server = c.flavor
		primary, replica := s.shards["s0"], s.shards["s1"]
		pool, _ := s.Pools.Pool("s1")
		s.Pools = replicas{s.Pools, pool}
		asked := func(what string, atPrimary, atReplica int) {
			t.Helper()
			if got := begun(primary.Statements(), c.asks); len(got) != atPrimary {
				t.Errorf("%s, %s: the primary is asked %q", c.flavor, what, got)
			}
			got := begun(replica.Statements(), c.waits)
			if len(got) != atReplica || atReplica > 0 && !strings.Contains(got[0], "('"+c.as+"', 0.5)") {
				t.Errorf("%s, %s: the replica is asked %q", c.flavor, what, got)
			}
		}
		reads := func(what string, where router.ShardName) {
			t.Helper()
			l := s.acquire("s0", Late|SeesOwn)
			if at := l.Pool.Shard(); at != where {
				t.Errorf("%s, %s: %s is read", c.flavor, what, at)
			}
			l.Release()
		}
		primary.Next(value(c.asks, c.at))
		replica.Next(value(c.waits, "0"))
		reads("at first", "s1")
		asked("at first", 1, 1)
		reads("again", "s1")
		asked("again", 0, 0)

		s.must("s0", "UPDATE a", Writes)
		primary.Next(value(c.asks, c.at))
		replica.Next(value(c.waits, "-1"))
		reads("the replica is behind", "s0")
		asked("the replica is behind", 1, 1)
		primary.Next(value(c.asks, c.at))
		replica.Next(value(c.waits, "0"))
		reads("it has come after", "s1")
		asked("it has come after", 1, 1)

		s.must("s0", "UPDATE a", Writes)
		primary.Next(value(c.asks, ""))
		reads("the primary counts none", "s0")
		asked("the primary counts none", 1, 0)
		primary.Next(fakeshard.Reply{Prefix: c.asks, Code: 1193})
		reads("the primary refuses", "s0")
		asked("the primary refuses", 1, 0)
		primary.Next(value(c.asks, c.at))
		replica.Next(fakeshard.Reply{Prefix: c.waits, Cut: fakeshard.Before})
		reads("the replica is lost", "s0")
		primary.Next(value(c.asks, "a'); DROP TABLE b"))
		s.must("s0", "UPDATE a", Writes)
		replica.Next(value(c.waits, "0")) // which is never asked
		reads("no position", "s0")
		primary.Next(value(c.asks, strings.Repeat("0-1-5,", longestPosition/6+1)))
		reads("too long a position", "s0")
	}
}

// begun returns the statements with the given prefix.
func begun(statements []string, prefix string) []string {
	return slices.DeleteFunc(statements, func(text string) bool { return !strings.HasPrefix(text, prefix) })
}
