package exec

import (
	"strings"
	"testing"

	"locus/internal/test/fakeshard"
	"locus/proxy/wire"
)

// told returns a shard's answer to a maintenance statement.
func told(verb string, rows ...[]string) fakeshard.Reply {
	r := fakeshard.Reply{Prefix: verb, Rows: rows}
	for range rows[0] {
		r.Columns = append(r.Columns, wire.Column{Name: []byte("c"), Charset: 45, Type: 253})
	}
	return r
}

// maintained returns the rows of the answer as one text.
func (a *asking) maintained() (string, error) {
	_, rows, err := a.maintain()
	var lines []string
	for _, row := range rows {
		var values []string
		for _, v := range row {
			values = append(values, string(v))
		}
		lines = append(lines, strings.Join(values, ","))
	}
	return strings.Join(lines, "; "), err
}

// TestMaintain: a row that all shards return is returned once. The other rows name their shard.
func TestMaintain(t *testing.T) {
	s := newStand(t)
	a := s.request("ANALYZE TABLE orders, country")
	s.shards["s0"].Next(told("ANALYZE", []string{"shop.orders", "status", "OK"}, []string{"shop.country", "status", "OK"}))
	s.shards["s1"].Next(told("ANALYZE", []string{"shop.orders", "status", "OK"}, []string{"shop.country", "error", "broken"}))
	s.shards["s2"].Next(told("ANALYZE", []string{"shop.orders", "status", "OK"}, []string{"shop.country", "status", "OK"}))
	got, err := a.maintained()
	if want := "shop.orders,status,OK; shop.country,status,shard s0: OK; shop.country,error,shard s1: broken; shop.country,status,shard s2: OK"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestChecksums checks that the checksums of a sharded table are added up, and that the checksums of a global table's copies
// must be equal.
func TestChecksums(t *testing.T) {
	for _, c := range []struct {
		orders, country [3]string
		want            string
	}{
		{[3]string{"1", "2", "4294967295"}, [3]string{"7", "7", "7"}, "shop.orders,2; shop.country,7"},
		{[3]string{"1", "2", "3"}, [3]string{"7", "7", "8"}, "the copies of global table shop.country differ: its checksum is 7 on s0 and 8 on s2"},
		{[3]string{"1", "x", "3"}, [3]string{"7", "7", "8"}, "invalid syntax"},
	} {
		s := newStand(t)
		a := s.request("CHECKSUM TABLE orders, country")
		for i, shard := range a.Snapshot.Catalog.Shards {
			s.shards[shard].Next(told("CHECKSUM", []string{"shop.orders", c.orders[i]}, []string{"shop.country", c.country[i]}))
		}
		got, err := a.maintained()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestMaintainFails: the statement returns the first error, and all connections are given back or closed.
func TestMaintainFails(t *testing.T) {
	for _, reply := range failures("ANALYZE") {
		s := newStand(t)
		a := s.request("ANALYZE TABLE orders")
		s.shards["s1"].Next(reply)
		if _, err := a.maintained(); !failed(err) {
			t.Errorf("%+v: %v", reply, err)
		}
	}
	s := newStand(t)
	a := s.request("ANALYZE TABLE orders")
	if _, err := a.maintained(); err == nil || !strings.Contains(err.Error(), "without rows") {
		t.Error(err)
	}
	a.Snapshot.Catalog.Shards = append(a.Snapshot.Catalog.Shards, "nowhere")
	if _, err := a.maintained(); err == nil {
		t.Error("a shard that is not there was asked")
	}
}
