package ddl

import (
	"fmt"
	"testing"

	"locus/proxy/wire"
	"locus/router"
)

// TestMade checks that every statement that changed a shard is recorded, without literals, and no other statement.
func TestMade(t *testing.T) {
	s := newStand(t)
	var got []string
	s.session.User = "ann"
	s.session.Services.Made = func(m Made) {
		got = append(got, fmt.Sprint(m.Subject, " by ", m.User, " on ", m.Shards, " ", m.Code, ": ", m.Statement))
	}
	text := "ALTER TABLE orders ADD COLUMN n INT DEFAULT 4711"
	all := []router.ShardName{"s0", "s1"}
	for _, out := range []Outcome{
		{}, {Err: wire.Errorf(1060, "42S21", "Duplicate column")}, {Passed: []Passed{{Shard: "s0"}}},
		{Done: all}, {Done: all[:1], Err: &Error{Err: wire.Errorf(1205, "HY000", "Lock wait timeout, 4711")}},
	} {
		s.request(text).made(out)
	}
	want := []string{
		"table shop.orders by ann on [s0 s1] 0: ALTER TABLE orders ADD COLUMN n INT DEFAULT ?",
		"table shop.orders by ann on [s0] 1205: ALTER TABLE orders ADD COLUMN n INT DEFAULT ?",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, want %q", got, want)
	}
}
