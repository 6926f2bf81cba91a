package cluster

import (
	"strings"
	"testing"

	"locus/router"
	"locus/router/catalog"
)

func lines(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return strings.Join(out, "\n")
}

func TestDiffReadsLikeThis(t *testing.T) {
	old, next := good(t), good(t)
	next.Settings.CounterGroups = 512
	next.Shards["s3"] = Shard{Address: "db3:3306", User: "locus", Secret: "shards/s3", TLS: TLSOff}
	delete(next.Shards, "s10")
	next.Shards["s1"] = Shard{Address: "db1:3306", User: "locus", Secret: "shards/s1", TLS: TLSOn}
	order := catalog.TableName{Schema: "shop", Name: "test_order"}
	d := next.Tables[order]
	d.ID = &catalog.IDColumn{Column: "order_id", Layout: "js53"}
	d.OrderNumber = ""
	d.Gene = "gene"
	next.Tables[order] = d
	delete(next.Users, "report")
	next.Routes = routed(t, 2, "0x3fff s0", "0x7fff s1", "0xbfff s0", "0xffff s3")
	changes, err := Diff(old, next)
	if err != nil {
		t.Fatal(err)
	}
	want := `~ settings
    counter_groups: 256 -> 512
~ shard s1
    address: 127.0.0.1:3311 -> db1:3306
    tls: verify -> on
    ca: removed shards/ca
+ shard s3
    address: db3:3306
    user: locus
    secret: shards/s3
    tls: off
- shard s10
~ table shop.test_order
    id.layout: int64 -> js53
    gene: added gene
    order_number: removed order_no
- user report
~ routes
    0x4000-0x7fff  s0 -> s1
    0x8000-0xbfff  s1 -> s0
    0xc000-0xffff  s1 -> s3`
	if got := lines(changes); got != want {
		t.Errorf("the diff reads\n%s\nand not\n%s", got, want)
	}
}

func TestDiffOfTheFirstCluster(t *testing.T) {
	next := good(t)
	changes, err := Diff(nil, next)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(changes)
	for _, want := range []string{"+ settings\n    gene_bits: 16\n", "+ shard s0\n    address: 127.0.0.1:3310\n", "+ routes\n    s0: 0x0000-0x7fff\n    s1: 0x8000-0xffff"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestDiffIgnoresHowRoutesAreCut(t *testing.T) {
	old, next := good(t), good(t)
	next.Routes = routed(t, 1, "0x00ff s0", "0x7fff s0", "0xffff s1")
	if changes, err := Diff(old, next); err != nil || changes != nil {
		t.Errorf("differences %v, %v", lines(changes), err)
	}
}

func routed(t *testing.T, version int64, text ...string) *router.Map {
	t.Helper()
	var entries []router.Entry
	for _, line := range text {
		e, err := parseRoute(line)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	m, err := router.New(16, version, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
