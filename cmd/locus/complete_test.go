//go:build servers

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate/job"
)

// A shell completes names of the cluster once the command line says where the cluster is.
func TestNamesAreCompleted(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := &shop{dir: t.TempDir(), etcd: server.Endpoint()}
	s.write(t, "keys.yaml", keyRing)
	s.write(t, "locus.yaml", fmt.Sprintf("etcd: {endpoints: [%q]}\nkey_ring: %s\n", s.etcd, s.file("keys.yaml")))
	client, err := etcd.Open(etcd.Config{Endpoints: []string{s.etcd}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	kv := client.Under("/locus/main/")
	s.write(t, "cluster.yaml", `shards:
  s0: {address: "127.0.0.1:1", user: locus, secret: shards/both}
  s1: {address: "127.0.0.1:2", user: locus, secret: shards/both}
  t2: {address: "127.0.0.1:3", user: locus, secret: shards/both}
tables:
  shop.product: {kind: global}
generators:
  ticket: {kind: segment}
routes: |
  0x7fff s0
  0xffff s1
`)
	s.output(t, "apply", "-c", s.file("locus.yaml"), "-f", s.file("cluster.yaml"), "--skip-live-check")
	genes, err := gene.ParseSet("0x4000-0x7fff", 16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New("split-1", job.Split, "s0", "s1", 16, genes, "anna", "", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs.New(kv, "test", nil).Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	doctored(t, kv, fleet.Card{ID: "db-proxy-1:4306"}, nil)
	for line, want := range map[string]string{
		"pause ":                  "split-1",
		"jobs s":                  "split-1",
		"watch x":                 "",
		"throttle split-1 ":       "",
		"split --from ":           "s0 s1 t2",
		"split --to t":            "t2",
		"merge --into s":          "s0 s1",
		"cutover split-1 --to ":   "",
		"proxies drain ":          "db-proxy-1:4306",
		"proxies evict x":         "",
		"keys use ":               "1",
		"id next --table ":        "shop.product",
		"id next --generator tic": "ticket",
	} {
		words := strings.Split(line, " ")
		out := s.output(t, append([]string{"__complete", "-c", s.file("locus.yaml")}, words...)...)
		got, _, _ := strings.Cut("\n"+out, "\n:") // the remaining lines tell the shell what else to complete
		if got := strings.Join(strings.Fields(got), " "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	// No server answers at that address, and no error is printed.
	if out := s.output(t, "__complete", "--etcd", "127.0.0.1:1", "pause", ""); !strings.HasPrefix(out, ":4") {
		t.Errorf("without etcd: %q", out)
	}
}
