package exec

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/fakeshard"
	"locus/proxy/snapshot"
	"locus/proxy/wire"
	"locus/router"
)

const carriedJoin = "SELECT b.buyer FROM orders a JOIN orders b ON b.id = a.amount WHERE a.id = 5"

// orderOn returns an order ID with a gene.
func orderOn(t *testing.T, g gene.Gene) string {
	t.Helper()
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	id, err := layout.Compose(g, 1, orderid.Seq(1))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(id.Lo)
}

// keyRows is a shard's answer with the rows of the first table.
func keyRows(keys ...string) fakeshard.Reply {
	r := fakeshard.Reply{Prefix: "SELECT `a`", Columns: []wire.Column{fakeshard.Number("id"), fakeshard.Number("amount")}}
	for _, k := range keys {
		r.Rows = append(r.Rows, []string{"5", k})
	}
	return r
}

// carries runs the statement. It returns what the client got, and which statements each shard got.
func (s *stand) carries(text string, params ...wire.Param) (got string, err error) {
	s.t.Helper()
	a := s.request(text, params...)
	return s.told(func() error { return a.Execution.gather(a.of()) })
}

// tries reports whether the statement ran with the rows in its text.
func (s *stand) tries(text string) (carried bool, err error) {
	s.t.Helper()
	a := s.request(text)
	_, err = s.told(func() error {
		carried, err = a.carry(a.of())
		return err
	})
	return carried, err
}

// A statement runs on the shard of its last table, with the row of the first one in its text. That takes two round trips. If both rows are on one
// shard, they are read in a transaction, which the client doesn't see.
func TestCarry(t *testing.T) {
	const read = "SELECT `a`.`id`, `a`.`amount` FROM `shop`.`orders` AS `a` WHERE (a.id = 5\n) LIMIT 101"
	sent := func(rows string) string {
		return fmt.Sprintf("SELECT b.buyer FROM  JSON_TABLE(_utf8mb4 x'%x', '$[*]' COLUMNS (`id` BIGINT PATH '$[0]' ERROR ON ERROR, `amount` BIGINT PATH '$[1]' ERROR ON ERROR))  a JOIN orders b ON b.id = a.amount WHERE a.id = 5", rows)
	}
	here, there := orderOn(t, 0x10), orderOn(t, 0x9000)
	for name, c := range map[string]struct {
		keys []string
		want map[router.ShardName]string
	}{
		"two shards": {[]string{there}, map[router.ShardName]string{"s0": read, "s1": sent("[[5," + there + "]]")}},
		"one shard": {[]string{here}, map[router.ShardName]string{
			"s0": read + "; START TRANSACTION READ ONLY; " + read + "; " + sent("[[5,"+here+"]]") + "; ROLLBACK",
		}},
	} {
		s := newStand(t)
		answer := fakeshard.Reply{Prefix: "SELECT b.buyer", Columns: []wire.Column{fakeshard.Number("buyer")}, Rows: [][]string{{"77"}}}
		s.shards["s0"].Next(keyRows(c.keys...), keyRows(c.keys...), answer)
		s.shards["s1"].Next(answer)
		got, err := s.carries(carriedJoin)
		if err != nil || !strings.Contains(got, "\x0277") || s.Conns.Running() || s.Tally.Carried.Load() != 1 || s.Tally.Gathered.Load() != 1 {
			t.Errorf("%s: %q, %v, running is %t", name, got, err, s.Conns.Running())
		}
		end := got[len(got)-2:]
		if status := uint16(end[0]) | uint16(end[1])<<8; status&(mysql.SERVER_STATUS_IN_TRANS|statusReadOnly) != 0 {
			t.Errorf("%s: the client is sent the status %#x", name, status)
		}
		s.log.Sent(c.want)
	}
}

// Without a row that the first table's condition matches, any shard returns the empty answer.
func TestCarryNothing(t *testing.T) {
	s := newStand(t)
	s.shards["s0"].Next(keyRows())
	for _, shard := range s.shards {
		shard.Next(fakeshard.Reply{Prefix: "SELECT b.buyer", Columns: []wire.Column{fakeshard.Number("buyer")}})
	}
	if _, err := s.carries(carriedJoin); err != nil {
		t.Error(err)
	}
	all := strings.Join(append(s.log.Statements("s0"), s.log.Statements("s1")...), "; ")
	if want := fmt.Sprintf("JSON_TABLE(_utf8mb4 x'%x'", "[]"); !strings.Contains(all, want) {
		t.Errorf("sent %s", all)
	}
}

// Rows are gathered in temporary tables if they are many, if their keys are on several shards, or if their values are not of the types that the
// catalog has.
func TestCarryGathers(t *testing.T) {
	many := make([]string, 101)
	for i := range many {
		many[i] = orderOn(t, 0x9000)
	}
	zeros := keyRows("7")
	zeros.Columns[1].Flags |= mysql.ZEROFILL_FLAG
	narrow := keyRows("7")
	narrow.Columns[1].Type = mysql.MYSQL_TYPE_LONG
	for name, reply := range map[string]fakeshard.Reply{
		"many": keyRows(many...), "two shards": keyRows(orderOn(t, 0x10), orderOn(t, 0x9000)), "zerofill": zeros, "type": narrow,
	} {
		s := newStand(t)
		s.shards["s0"].Next(reply)
		if carried, err := s.tries(carriedJoin); carried || err != nil {
			t.Errorf("%s: carried is %t, %v", name, carried, err)
		}
	}
	s := newStand(t) // a user's limits apply
	s.Account = &snapshot.Account{GatherBytes: 1, LargeGather: snapshot.Refuse}
	s.shards["s0"].Next(keyRows(orderOn(t, 0x9000)))
	if carried, err := s.tries(carriedJoin); carried || err != nil {
		t.Errorf("beyond the limit: carried is %t, %v", carried, err)
	}
	for _, reply := range failures("SELECT `a`") {
		s := newStand(t)
		s.shards["s0"].Next(reply)
		if carried, err := s.tries(carriedJoin); !carried || !failed(err) {
			t.Errorf("%+v: carried is %t, %v", reply, carried, err)
		}
	}
}

// A JSON string in ASCII has the value of the text.
func TestAppendJSON(t *testing.T) {
	for _, text := range []string{"", "Ann", `"\` + "\x7f", "é€", "😀日本", "it's  "} {
		out := appendJSON(nil, []byte(text))
		var back string
		if err := json.Unmarshal(out, &back); err != nil || back != text || !IsASCII(string(out)) {
			t.Errorf("%q: %s, %q, %v", text, out, back, err)
		}
	}
}
