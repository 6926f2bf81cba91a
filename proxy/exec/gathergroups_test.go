package exec

import (
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/wire"
	"locus/router"
)

const summed = "SELECT amount, COUNT(*), SUM(buyer) FROM orders WHERE id > 5 GROUP BY amount"

// typed sets the types of a key and of two sums, and each shard's values.
func (s *stand) typed() {
	double := fakeshard.Number("s")
	double.Type, double.Decimals = 5, 31
	s.shards["s2"].Next(
		fakeshard.Reply{Prefix: "SELECT `orders`.`amount`", Columns: []wire.Column{fakeshard.Number("amount")}},
		fakeshard.Reply{Prefix: "SELECT COUNT(", Columns: []wire.Column{fakeshard.Number("c"), double}},
		fakeshard.Reply{Prefix: "SELECT SUM(", Columns: []wire.Column{double, fakeshard.Number("c")}},
	)
	for _, shard := range []router.ShardName{"s0", "s1"} {
		s.shards[shard].Next(fakeshard.Reply{
			Prefix: "SELECT ", Columns: []wire.Column{fakeshard.Number("c"), double, fakeshard.Number("amount")}, Rows: [][]string{{"1", "2", "3"}}, Warnings: 1,
		})
	}
}

// Each shard sums up its own rows, and the statement runs over the groups of all shards.
func TestGatherGroups(t *testing.T) {
	s := newStand(t)
	a := s.request(summed)
	s.typed()
	text, err := a.gather("s2", plenty)
	if err != nil || !strings.Contains(text, "FROM `shop`.`locus_gathered_0` AS `orders`") || strings.Contains(text, "id > 5") || len(s.log.WarnedBy()) != 2 {
		t.Errorf("%q, %v, warned by %v", text, err, s.log.WarnedBy())
	}
	for _, shard := range []router.ShardName{"s0", "s1"} {
		if got := strings.Join(s.log.Statements(shard), "; "); !strings.Contains(got, "FROM orders WHERE id > 5 \nGROUP BY `orders`.`amount`") {
			t.Errorf("%s was sent %q", shard, got)
		}
	}
	if got := strings.Join(s.log.Statements("s2"), "; "); !strings.Contains(got, "CREATE TEMPORARY TABLE `shop`.`locus_gathered_0` (") || strings.Count(got, "INSERT INTO") != 2 {
		t.Errorf("s2 was sent %q", got)
	}
}

// If a sum could have a type that is not supported, rows are gathered instead. All other failures are the statement's.
func TestGatherGroupsFails(t *testing.T) {
	s := newStand(t)
	a := s.request(summed)
	strange := fakeshard.Number("c")
	strange.Type = 200
	s.shards["s2"].Next(
		fakeshard.Reply{Prefix: "SELECT `orders`.`amount`", Columns: []wire.Column{fakeshard.Number("amount")}},
		fakeshard.Reply{Prefix: "SELECT COUNT(", Columns: []wire.Column{strange, strange}}, fakeshard.Reply{Prefix: "SELECT SUM(", Columns: []wire.Column{strange, strange}},
		orders(),
	)
	for _, shard := range []router.ShardName{"s0", "s1"} {
		r := orders()
		r.Prefix, r.Rows = "SELECT ", [][]string{{"1", "2", "3"}}
		s.shards[shard].Next(r)
	}
	if text, err := a.gather("s2", plenty); err != nil || !strings.Contains(text, "WHERE id > 5") {
		t.Errorf("%q, %v", text, err)
	}
	for shard, prefixes := range map[router.ShardName][]string{"s2": {"SELECT `orders`", "SELECT ", "CREATE", "INSERT"}, "s1": {"SELECT "}} {
		for _, prefix := range prefixes {
			for _, reply := range failures(prefix) {
				s := newStand(t)
				a := s.request(summed)
				s.shards[shard].Next(reply)
				s.typed()
				if _, err := a.gather("s2", plenty); !failed(err) {
					t.Errorf("%+v on %s: %v", reply, shard, err)
				}
			}
		}
	}
}
