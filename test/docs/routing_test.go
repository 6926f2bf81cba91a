package docs

import (
	"strings"
	"testing"

	"locus/control/events"
	"locus/control/failover"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/control/switchover"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

const (
	routingDocument = "docs/concepts/genes-and-route-map.md"
	clusterDocument = "docs/reference/cluster.yaml.md"
)

func TestExampleOfAMap(t *testing.T) {
	m, _, err := router.Decode([]byte(block(t, read(t, routingDocument), "yaml", "schema: 1\ngene_bits")))
	if err != nil {
		t.Fatal(err)
	}
	for g, want := range map[gene.Gene]router.ShardName{0x3eab: "s0", 0x4000: "s1", 0xc000: "s2"} {
		if got := m.Shard(m.Lookup(g)); got != want {
			t.Errorf("gene %s is said to be on %s and is on %s", g, want, got)
		}
	}
}

func TestExampleOfACluster(t *testing.T) {
	if _, err := cluster.Parse([]byte(block(t, read(t, clusterDocument), "yaml", "schema: 1\nsettings"))); err != nil {
		t.Fatal(err)
	}
}

func TestKeysAreThose(t *testing.T) {
	documented := map[string]bool{}
	for _, r := range tableOf(t, read(t, architectureDocument), "key", "what", "written by") {
		for key := range strings.SplitSeq(r["key"], ", ") {
			documented[code(key)] = true
		}
	}
	history, _, _ := strings.Cut(cluster.HistoryKey(7), "0")
	for _, key := range []string{
		cluster.Prefix + cluster.SettingsKey, cluster.Prefix + cluster.MapKey,
		cluster.Prefix + cluster.ShardKey("<name>"), cluster.Prefix + cluster.UserKey("<name>"),
		cluster.Prefix + cluster.PrimaryKey("<name>"), switchover.ClaimPrefix + "<name>",
		cluster.Prefix + cluster.TableKey(catalog.TableName{Schema: "<schema>", Name: "<table>"}),
		cluster.Prefix + cluster.RenamingKey(catalog.TableName{Schema: "<schema>", Name: "<table>"}),
		cluster.Prefix + cluster.CountersKey(catalog.TableName{Schema: "<schema>", Name: "<table>"}),
		history + "<version>", cluster.ProxyPrefix + "<host>:<port>", cluster.ProcessPrefix + "<host>:<port>", cluster.SegmentPrefix + "…",
		cluster.Prefix + cluster.GeneratorKey("<name>"), job.Prefix + "<id>", job.ReportPrefix + "<id>", job.ClaimPrefix + "<id>", job.DifferencesPrefix + "<id>",
		events.Prefix + "<time>-<number>", fleet.MemberPrefix + "<id>", failover.RecordPrefix + "<name>", "failover/watches/<name>", strings.TrimSuffix(keyring.CurrentKey, "current") + "…",
		"outages/<check and place>", "orders/<id>", "stopping", "kills/<proxy>/…", "schemas/<name>", "definitions/…", "questions/…", "answers/…",
	} {
		if !documented[key] {
			t.Errorf("key %s is not documented", key)
		}
		delete(documented, key)
	}
	if len(documented) > 0 {
		t.Errorf("documented and unknown: %v", documented)
	}
}
