package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/control/ops"
	"locus/idgen/gene"
	"locus/internal/test/golden"
	"locus/migrate/job"
	"locus/proxy/meter"
	"locus/router"
	"locus/router/balance"
	"locus/router/cluster"
)

// printed compares the output with a file of testdata; -update writes it.
func printed(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	golden.Update(t, path, string(got))
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("printed\n%s\nwant (%v)\n%s", got, err, want)
	}
}

// busy returns a cluster of two shards and a spare one, and the load that two proxies counted: one buyer has
// many statements, the others have few.
func busy(t *testing.T) (*cluster.Cluster, *ops.Load) {
	t.Helper()
	c, err := cluster.Parse([]byte(`schema: 1
shards:
  s0: {address: "127.0.0.1:3306", user: locus, secret: s}
  s1: {address: "127.0.0.1:3307", user: locus, secret: s}
  s2: {address: "127.0.0.1:3308", user: locus, secret: s}
routes: |
  0x7fff s0
  0xffff s1
`))
	if err != nil {
		t.Fatal(err)
	}
	even := make([]float64, 256)
	for i := range even {
		even[i] = 1
	}
	report := meter.Load{Heaviest: []meter.Rate{{Slot: 0x3eab, PerSecond: 200}, {Slot: 0x1234, PerSecond: 20}}, Stripes: even, Scattered: 0.5}
	return c, &ops.Load{Loads: meter.Sum(gene.W16, report, report), Proxies: 2, Silent: []string{"old:4306"}}
}

func TestWhatHotShows(t *testing.T) {
	c, loads := busy(t)
	h := heatOf(loads, c, 4)
	h.Genes[0].Owners = []ops.OwnerRows{{Table: "shop.test_order", Owner: "42", Rows: "12,000"}, {Table: "shop.test_order", Owner: "7788", Rows: "3"}}
	var out bytes.Buffer
	h.print(&out, loads)
	printed(t, "hot.txt", out.Bytes())
}

func TestWhatRebalanceShows(t *testing.T) {
	c, loads := busy(t)
	moves, err := balance.Rebalance(c.Routes, c.ShardNames(), loads.At, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	p := &proposal{By: "load", unit: "STATEMENTS/S", told: whose(loads)}
	p.fill(&ops.Rebalancing{Cluster: c, Shards: c.ShardNames(), Weight: loads.At, Moves: moves})
	var out bytes.Buffer
	p.print(&out)
	even := &proposal{By: "load", unit: "ROWS", told: "estimated"}
	even.fill(&ops.Rebalancing{Cluster: c, Shards: []router.ShardName{"s0"}, Weight: loads.At})
	even.print(&out)
	printed(t, "rebalance.txt", out.Bytes())
}

// The hottest genes of a shard are shown with their share of its load.
func TestWhatHottestShows(t *testing.T) {
	c, loads := busy(t)
	genes, err := balance.Hottest(gene.W16, c.Routes.GenesOf("s0"), loads.At, 0.5)
	if err != nil || genes.String() != "0x3eab" {
		t.Fatalf("%s, %v", genes, err)
	}
	var out bytes.Buffer
	printLoad(&out, &ops.Plan{Job: jobOf(t, genes), Cluster: c, Load: loads})
	printed(t, "hottest.txt", out.Bytes())
}

func jobOf(t *testing.T, genes gene.Set) *job.Job {
	t.Helper()
	j, err := job.New("split-1", job.Split, "s0", "s2", gene.W16, genes, "ann", "", time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return j
}
