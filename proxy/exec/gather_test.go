package exec

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/gather"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

const across = "SELECT a.amount, b.id FROM orders a JOIN orders b ON a.amount = b.id WHERE a.amount > 5"

// orders returns a shard's description of the columns of a table.
func orders() fakeshard.Reply {
	return fakeshard.Reply{Prefix: "SELECT * FROM", Columns: []wire.Column{fakeshard.Number("id"), fakeshard.Number("buyer"), fakeshard.Number("amount")}}
}

// pairs returns rows of two columns.
func pairs(rows ...[]string) fakeshard.Reply {
	return fakeshard.Reply{Prefix: "SELECT `", Columns: []wire.Column{fakeshard.Number("id"), fakeshard.Number("amount")}, Rows: rows}
}

// failures returns the ways in which a statement with the prefix fails.
func failures(prefix string) []fakeshard.Reply {
	return []fakeshard.Reply{{Prefix: prefix, Code: 1146}, {Prefix: prefix, Cut: fakeshard.Before}, {Prefix: prefix, Cut: fakeshard.Within}}
}

func failed(err error) bool { return refused(err, 1146) || lost(err) }

// of returns the planned gathering.
func (a *asking) of() *plan.Gathering {
	a.t.Helper()
	p, ok := a.Plan.(*plan.Read)
	if !ok || p.Gather == nil {
		a.t.Fatalf("%T, want one that gathers", a.Plan)
	}
	return p.Gather
}

// gather gathers on a shard, and returns the statement that would run there.
func (a *asking) gather(on router.ShardName, most gather.Limits) (text string, err error) {
	err = a.gatherAt(a.of(), on, most, func(g *gathering) error {
		text = string(stmt.AppendEdited(nil, a.Values.Text, g.edits()))
		return nil
	})
	return text, err
}

var plenty = gather.Limits{Rows: 100, Bytes: 1 << 20}

// filled sets the shards' answers for the gathering of two tables.
func (s *stand) filled() {
	for range 2 {
		s.shards["s2"].Next(orders())
		warns := pairs([]string{"1", "10"})
		warns.Warnings = 1
		s.shards["s0"].Next(warns)
		s.shards["s1"].Next(pairs([]string{"2", "20"}))
	}
	s.shards["s2"].Next(fakeshard.Reply{Prefix: "SELECT DISTINCT", Columns: []wire.Column{fakeshard.Number("amount")}, Rows: [][]string{{"10"}, {"20"}}})
}

// The rows of both shards are read at one moment, and written to temporary tables that are dropped afterwards.
func TestGather(t *testing.T) {
	s := newStand(t)
	a := s.request(across)
	a.Observer.Read(a.Values.Lexed)
	s.filled()
	text, err := a.gather("s2", plenty)
	if want := "SELECT a.amount, b.id FROM  `shop`.`locus_gathered_0`  a JOIN  `shop`.`locus_gathered_1`  b ON a.amount = b.id WHERE a.amount > 5"; err != nil || text != want {
		t.Errorf("%q, %v", text, err)
	}
	const first, second = "START TRANSACTION READ ONLY; SELECT `a`.`id`, `a`.`amount` FROM `shop`.`orders` AS `a` WHERE (a.amount > 5\n); ", "SELECT `b`.`id`, `b`.`amount` FROM `shop`.`orders` AS `b` WHERE (`b`.`id` IN (10, 20)); "
	s.log.Sent(map[router.ShardName]string{"s0": first + second + "ROLLBACK", "s1": first + "ROLLBACK", "s2": strings.Join([]string{
		"SELECT * FROM `shop`.`orders` LIMIT 0",
		"CREATE TEMPORARY TABLE `shop`.`locus_gathered_0` (KEY (`amount`)) ENGINE = InnoDB AS SELECT `id`, `amount` FROM `shop`.`orders` LIMIT 0",
		"INSERT INTO `shop`.`locus_gathered_0` VALUES (1,10)", "INSERT INTO `shop`.`locus_gathered_0` VALUES (2,20)",
		"SELECT * FROM `shop`.`orders` LIMIT 0",
		"CREATE TEMPORARY TABLE `shop`.`locus_gathered_1` (KEY (`id`)) ENGINE = InnoDB AS SELECT `id`, `amount` FROM `shop`.`orders` LIMIT 0",
		"SELECT DISTINCT `amount` + 0 FROM `shop`.`locus_gathered_0` WHERE `amount` IS NOT NULL LIMIT 2001",
		"INSERT INTO `shop`.`locus_gathered_1` VALUES (1,10)", // both IDs have a gene of s0
		"DROP TEMPORARY TABLE IF EXISTS `shop`.`locus_gathered_0`, `shop`.`locus_gathered_1`",
	}, "; ")})
	if asked := s.asked(); asked[0] != "s2" || s.Conns.Running() || s.log.WarnedBy() != nil {
		t.Errorf("asked %v, running is %t, warned by %v", asked, s.Conns.Running(), s.log.WarnedBy())
	}
}

// Without keys no row of the second table is read. With too many keys all are.
func TestGatherByKey(t *testing.T) {
	for want, keys := range map[string]int{"ROLLBACK": 0, "`b`; ROLLBACK": mostKeys + 1} {
		s := newStand(t)
		s.shards["s2"].Next(orders(), orders())
		distinct := fakeshard.Reply{Prefix: "SELECT DISTINCT", Columns: []wire.Column{fakeshard.Number("amount")}}
		for i := range keys {
			distinct.Rows = append(distinct.Rows, []string{strconv.Itoa(i)})
		}
		s.shards["s2"].Next(distinct)
		for _, shard := range []router.ShardName{"s0", "s1"} {
			s.shards[shard].Next(pairs(), pairs())
		}
		if _, err := s.request(across).gather("s2", plenty); err != nil {
			t.Error(err)
		}
		for _, shard := range []router.ShardName{"s0", "s1"} {
			sent := strings.Join(s.log.Statements(shard), "; ")
			if !strings.HasSuffix(sent, want) || strings.Contains(sent, " IN (") || (keys == 0) == strings.Contains(sent, "`b`") {
				t.Errorf("with %d keys %s was sent %q", keys, shard, sent)
			}
		}
	}
}

// After any failure nothing remains. Temporary tables are dropped, or their connection is closed.
func TestGatherFails(t *testing.T) {
	for _, c := range []struct {
		shard  router.ShardName
		prefix string
		made   bool // a temporary table exists at that point
	}{
		{"s2", "SELECT * FROM", false},
		{"s2", "CREATE", true},
		{"s2", "INSERT", true},
		{"s0", "START", true},
		{"s0", "SELECT `", true},
		{"s1", "SELECT `", true},
	} {
		for _, reply := range failures(c.prefix) {
			s := newStand(t)
			a := s.request(across)
			s.shards[c.shard].Next(reply)
			s.filled()
			if text, err := a.gather("s2", plenty); !failed(err) || text != "" {
				t.Errorf("%+v on %s: %q, %v", reply, c.shard, text, err)
			}
			drops := slices.ContainsFunc(s.log.Statements("s2"), func(sql string) bool { return strings.HasPrefix(sql, "DROP") })
			if want := c.made && (reply.Code != 0 || c.shard != "s2"); drops != want {
				t.Errorf("%+v on %s: dropped is %t", reply, c.shard, drops)
			}
		}
	}
}

// Rows that would change when they are gathered, and more rows than the limit, are errors.
func TestGatherRefuses(t *testing.T) {
	geometry := orders()
	geometry.Columns = slices.Clone(geometry.Columns)
	geometry.Columns[0].Type = 200
	for name, c := range map[string]struct {
		shard router.ShardName
		reply fakeshard.Reply
		most  gather.Limits
		want  string
	}{
		"rows":     {"s1", pairs([]string{"1", "2"}, []string{"3", "4"}), gather.Limits{Rows: 2, Bytes: 1 << 20}, "more than the rows that a statement may gather"},
		"bytes":    {"s1", pairs([]string{"1", "2"}), gather.Limits{Rows: 2, Bytes: 5}, "more than the bytes that a statement may gather"},
		"type":     {"s2", geometry, plenty, "column id is of a type (200)"},
		"warned":   {"s2", fakeshard.Reply{Prefix: "INSERT", Warnings: 1}, plenty, "rows would not be what they were"},
		"affected": {"s2", fakeshard.Reply{Prefix: "INSERT", Affected: 2}, plenty, "rows would not be what they were"},
	} {
		s := newStand(t)
		a := s.request(across)
		s.shards[c.shard].Next(c.reply)
		s.filled()
		if _, err := a.gather("s2", c.most); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A cancellation ends the gathering before or between its steps.
func TestGatherIsCancelled(t *testing.T) {
	gone := errors.New("the client is gone")
	s := newStand(t)
	a := s.request(across)
	s.client.Stopped = gone
	if _, err := a.gather("s2", plenty); !errors.Is(err, gone) {
		t.Error(err)
	}
	s.client.Stopped = nil
	s.shards["s2"].Next(orders())
	s.unsent["s1"] = gone
	if _, err := a.gather("s2", plenty); !errors.Is(err, gone) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a.Context = ctx
	if _, err := a.gather("s2", plenty); !lost(err) {
		t.Error(err)
	}
	if _, err := a.gather("nowhere", plenty); err == nil {
		t.Error("gathered on a shard that is not there")
	}
}

// A connection is closed if its answer was not read, or if its tables could not be dropped.
func TestHostIsGivenUp(t *testing.T) {
	s := newStand(t)
	a := s.request(across)
	why := errors.New("the client is gone")
	for _, c := range []struct {
		reply fakeshard.Reply
		use   func(w *workspace) error
	}{
		{fakeshard.Reply{Prefix: "nothing"}, func(w *workspace) error { return errors.Join(w.create("t", "CREATE t"), w.giveUp(why)) }},
		{fakeshard.Reply{Prefix: "DROP", Code: 1146}, func(w *workspace) error { return errors.Join(w.create("t", "CREATE t"), why) }},
	} {
		s.shards["s2"].Next(c.reply)
		thread := uint32(0)
		if err := a.onWorkspace("s2", func(w *workspace) error { thread = w.lease.Conn.ThreadID(); return c.use(w) }); !errors.Is(err, why) {
			t.Error(err)
		}
		if sent := s.log.Statements("s2"); (sent[len(sent)-1] == "CREATE t") != (c.reply.Code == 0) {
			t.Errorf("%+v: s2 was sent %q", c.reply, sent)
		}
		if err := a.onWorkspace("s2", func(w *workspace) error {
			if w.lease.Conn.ThreadID() == thread {
				t.Errorf("%+v: the connection is lent again", c.reply)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// With autocommit off, the statement over the temporary tables begins a transaction that is not the session's.
func TestHostEndsWhatItBegan(t *testing.T) {
	s := newStand(t)
	a := s.request(across)
	err := a.onWorkspace("s2", func(w *workspace) error { return w.create("t", "CREATE t", "BEGIN") })
	if got := strings.Join(s.log.Statements("s2"), "; "); err != nil || got != "CREATE t; BEGIN; ROLLBACK; DROP TEMPORARY TABLE IF EXISTS t" {
		t.Errorf("%q, %v", got, err)
	}
}

// Within a transaction, the rows are read in that transaction. So is everything else whose changes the statement must see, even a
// table of the host that has no genes.
func TestGatherInATransaction(t *testing.T) {
	s := newStand(t)
	s.begin()
	a := s.request("SELECT c.id FROM setting c JOIN orders b ON c.id = b.amount JOIN country d ON d.id = b.id")
	if a.of().Shard != "s2" {
		t.Fatalf("on %s", a.of().Shard)
	}
	replies := func(shard router.ShardName, columns ...string) {
		r := fakeshard.Reply{Prefix: "SELECT `"}
		var values []string
		for _, c := range columns {
			r.Columns, values = append(r.Columns, fakeshard.Number(c)), append(values, "7")
		}
		r.Rows = [][]string{values}
		s.shards[shard].Next(r)
	}
	s.shards["s2"].Next(orders(), orders(), orders())
	replies("s2", "id", "amount")
	replies("s0", "id", "amount")
	replies("s1", "id", "amount")
	replies("s0", "id", "amount")
	text, err := a.gather("s2", plenty)
	if want := "SELECT c.id FROM  `shop`.`locus_gathered_0`  c JOIN  `shop`.`locus_gathered_1`  b ON c.id = b.amount JOIN  `shop`.`locus_gathered_2`  d ON d.id = b.id"; err != nil || text != want {
		t.Errorf("%q, %v", text, err)
	}
	if !slices.Equal(s.Conns.Shards(), []router.ShardName{"s0", "s1", "s2"}) {
		t.Errorf("the transaction is on %v", s.Conns.Shards())
	}
	for _, reply := range failures("SELECT `") {
		s := newStand(t)
		s.begin()
		a := s.request(across)
		s.shards["s1"].Next(reply)
		s.filled()
		if _, err := a.gather("s2", plenty); !failed(err) || s.Conns.Running() == lost(err) {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
	}
}

// Outside a transaction, a table of the host is read in place. A temporary table for a table of another shard is defined as that
// shard describes it.
func TestGatherFromAnotherShard(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT c.id FROM setting c JOIN report r ON c.id = r.amount")
	if a.of().Shard != "s0" {
		t.Fatalf("on %s", a.of().Shard)
	}
	columns := orders()
	columns.Columns[0].Flags = mysql.PRI_KEY_FLAG
	text := fakeshard.Number("x")
	s.shards["s2"].Next(
		columns,
		fakeshard.Reply{Prefix: "SHOW KEYS", Columns: []wire.Column{text}, Rows: [][]string{{"1"}}},
		fakeshard.Reply{
			Prefix: "SHOW FULL COLUMNS", Columns: []wire.Column{text, text, text, text},
			Rows: [][]string{{"id", "bigint", "utf8mb4_bin", "NO"}, {"buyer", "bigint", "utf8mb4_bin", "NO"}, {"amount", "int", "utf8mb4_bin", "YES"}},
		},
		pairs([]string{"1", "10"}),
	)
	if text, err := a.gather("s0", plenty); err != nil || text != "SELECT c.id FROM  `shop`.`locus_gathered_0`  c JOIN report r ON c.id = r.amount" {
		t.Errorf("%q, %v", text, err)
	}
	want := "CREATE TEMPORARY TABLE `shop`.`locus_gathered_0` (`id` bigint COLLATE utf8mb4_bin NOT NULL, `amount` int COLLATE utf8mb4_bin NULL, PRIMARY KEY (`id`)) ENGINE = InnoDB"
	if got := s.log.Statements("s0"); len(got) == 0 || got[0] != want {
		t.Errorf("%q", got)
	}
}
