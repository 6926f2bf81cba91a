package exec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
)

// insertion returns the INSERT of rows with two values.
func (a *asking) insertion(head, tail string) insertion {
	p, _ := statementOf(a.t, head+" VALUES (NULL, NULL)"+tail)
	return insertion{Rows: plan.Rows{Head: head, Tail: tail}, Plan: p}
}

// insert inserts rows into a table. Each row is two numbers.
func (a *asking) insert(into string, rows int, fails error) (insertedRows, error) {
	as := a.insertion("INSERT INTO "+into+" (buyer, amount)", " ON DUPLICATE KEY UPDATE amount = 1")
	return a.insertRows(as, func(add rowAdder) error {
		for i := range rows {
			if err := add(func(out []byte) ([]byte, error) { return fmt.Appendf(out, "%d,5", i), nil }); err != nil {
				return err
			}
		}
		return fails
	})
}

// Rows are sent in batches, and each batch is stamped separately. All batches are in one transaction. The OK reports the ID of
// the first row.
func TestInsert(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT 1")
	warns := fakeshard.Reply{Prefix: "INSERT", Warnings: 3}
	s.shards["s0"].Next(warns)
	got, err := a.insert("orders", bulkRows+1, nil)
	if want := (totals{Affected: 3, Warnings: 3}); err != nil || got.Rows != bulkRows+1 || got.totals != want || got.FirstID == 0 || got.CountFrom != got.FirstID {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	var first, last int // the number of rows in the batches
	for _, shard := range []router.ShardName{"s0", "s1"} {
		sent := s.log.Statements(shard)
		if sent[0] != "BEGIN" || sent[len(sent)-1] != "COMMIT" || !strings.Contains(sent[1], strconv.FormatUint(got.FirstID, 10)) && shard == "s1" {
			t.Errorf("%s was sent %.300q", shard, sent)
		}
		first += strings.Count(sent[1], ",5, ")
		for _, sql := range sent[2 : len(sent)-1] {
			last += strings.Count(sql, "(1000,5, ")
		}
		if tail := ") ON DUPLICATE KEY UPDATE amount = 1"; !strings.HasSuffix(sent[1], tail) {
			t.Errorf("%s was sent %.300q", shard, sent)
		}
	}
	if first != bulkRows || last != 1 || s.ids.asked != bulkRows+1 {
		t.Errorf("%d rows, then %d; %d IDs", first, last, s.ids.asked)
	}
	if got, err := a.insert("orders", 0, nil); err != nil || got != (insertedRows{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// With long rows, a batch has fewer rows.
func TestInsertLongRows(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT 1")
	row := strings.Repeat(" ", bulkBytes/2) + "1,2"
	in := a.insertion("INSERT INTO orders (buyer, amount)", "")
	if _, err := a.insertRows(in, func(add rowAdder) error {
		for range 3 {
			if err := add(func(out []byte) ([]byte, error) { return append(out, row...), nil }); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	batches := 0
	for shard := range s.shards {
		batches += strings.Count(strings.Join(s.log.Statements(shard), ";"), "INSERT")
	}
	if batches != 2 {
		t.Errorf("%d batches", batches)
	}
}

// A global table gets the rows on every shard, and the client gets the count of one shard. A single table gets them on its
// shard.
func TestInsertOfOthers(t *testing.T) {
	for table, shards := range map[string][]router.ShardName{"country": {"s0", "s1", "s2"}, "report": {"s0"}} {
		s := newStand(t)
		a := s.request("SELECT 1")
		for _, shard := range shards {
			s.shards[shard].Next(fakeshard.Reply{Prefix: "INSERT", Affected: 2, Warnings: 1})
		}
		got, err := a.insert(table, 2, nil)
		if err != nil || got.Affected != 2 || got.Warnings != 1 || got.Rows != 2 || len(s.log.WarnedBy()) != 1 {
			t.Errorf("%s: %+v, %v, warned by %v", table, got, err, s.log.WarnedBy())
		}
		for _, shard := range shards {
			if sent := strings.Join(s.log.Statements(shard), "; "); !strings.Contains(sent, "VALUES (0,5),(1,5) ON") {
				t.Errorf("%s was sent %q", shard, sent)
			}
		}
	}
}

// After a failure no row remains. Rows that were inserted before it are rolled back, including the rows of earlier batches.
func TestInsertFails(t *testing.T) {
	why := errors.New("the client is gone")
	for name, fail := range map[string]func(a *asking) error{
		"rows":   func(a *asking) error { _, err := a.insert("orders", bulkRows+1, why); return err },
		"issuer": func(a *asking) error { a.ids.refused = why; _, err := a.insert("orders", 1, nil); return err },
		"unsent": func(a *asking) error { a.unsent["s1"] = why; _, err := a.insert("orders", 1, nil); return err },
		"row": func(a *asking) error {
			_, err := a.insertRows(insertion{}, func(add rowAdder) error { return add(func([]byte) ([]byte, error) { return nil, why }) })
			return err
		},
	} {
		s := newStand(t)
		if err := fail(s.request("SELECT 1")); !errors.Is(err, why) || s.Conns.Running() || s.Conns.Lost() {
			t.Errorf("%s: %v, running is %t", name, err, s.Conns.Running())
		}
		if sent := strings.Join(s.log.Statements("s0"), "; "); strings.Contains(sent, "COMMIT") {
			t.Errorf("%s: s0 was sent %.300q", name, sent)
		}
	}
	for _, reply := range failures("INSERT") {
		s := newStand(t)
		s.shards["s1"].Next(fakeshard.Reply{Prefix: "INSERT"}, reply)
		if _, err := s.request("SELECT 1").insert("orders", bulkRows+1, nil); !failed(err) || s.Conns.Running() {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
		if sent := s.log.Statements("s0"); sent[len(sent)-1] != "ROLLBACK" {
			t.Errorf("%+v: s0 was sent %.300q", reply, sent)
		}
	}
}

// Within the client's transaction, a failure undoes the insertion alone, unless the failure ends the transaction.
func TestInsertInATransaction(t *testing.T) {
	for _, reply := range failures("INSERT") {
		s := newStand(t)
		s.begin()
		s.shards["s1"].Next(reply)
		if _, err := s.request("SELECT 1").insert("orders", 1, nil); !failed(err) || s.Conns.Running() == lost(err) {
			t.Errorf("%+v: %v, running is %t", reply, err, s.Conns.Running())
		}
		if sent := strings.Join(s.log.Statements("s0"), "; "); reply.Code != 0 && !strings.HasSuffix(sent, "ROLLBACK TO SAVEPOINT `locus_statement`") {
			t.Errorf("s0 was sent %q", sent)
		}
	}
}

// Rows that can't be inserted from a query or file are refused before any shard gets them.
func TestInsertRefuses(t *testing.T) {
	s := newStand(t)
	a := s.request("SELECT 1")
	a.Vars.Settings = a.Vars.Settings.WithNames("utf8mb3", "")
	in := a.insertion("INSERT INTO orders (buyer, amount)", "")
	one := func(text string) func(rowAdder) error {
		return func(add rowAdder) error {
			return add(func(out []byte) ([]byte, error) { return append(out, text...), nil })
		}
	}
	if _, err := a.insertRows(in, one("1,'😀'")); err == nil || !strings.Contains(err.Error(), "use SET NAMES utf8mb4") {
		t.Error(err)
	}
	a.Vars.Settings = a.Vars.Settings.WithNames("ascii", "")
	if _, err := a.insertRows(in, one("1,'ä'")); err == nil || !strings.Contains(err.Error(), "use SET NAMES utf8mb4") {
		t.Error(err)
	}
	s.log.Sent(nil)
	l, err := s.Conns.Acquire("s2", 0)
	if err != nil {
		t.Fatal(err)
	}
	l.Reserve(txn.LockedTables)
	l.Done(l.Conn.Status())
	if _, err := a.insert("orders", 1, nil); err == nil || !strings.Contains(err.Error(), "locked tables") {
		t.Error(err)
	}
}

// A statement that may write the time into rows has the same time on all shards. The time does not remain on the connections.
func TestChangeAtOneTime(t *testing.T) {
	for _, fails := range []bool{false, true} {
		s := newStand(t)
		s.Execution = s.execution("UPDATE orders SET amount = NOW()")
		if fails {
			s.shards["s1"].Next(fakeshard.Reply{Prefix: "UPDATE", Code: 1146})
		}
		before := s.Vars.Settings
		if _, err := s.change(parts("UPDATE a", "s0", "s1")); (err != nil) != fails {
			t.Error(err)
		}
		if s.Vars.Settings != before {
			t.Errorf("settings are %v", s.Vars.Settings)
		}
		var times []string
		for _, shard := range []router.ShardName{"s0", "s1"} {
			for _, sql := range s.shards[shard].Sent() {
				if strings.HasPrefix(sql, "UPDATE") {
					break // from now on, a pool may reset its connection and apply the same settings
				}
				if _, rest, ok := strings.Cut(sql, "timestamp="); ok {
					times = append(times, strings.Fields(rest)[0])
				}
			}
		}
		if len(times) != 2 || times[0] != times[1] {
			t.Errorf("shards were told %q", times)
		}
	}
}
