package doctor

import (
	"strings"
	"testing"
	"time"

	"locus/control/keyring"
	"locus/router/cluster"
)

func TestMembersThatFailTogether(t *testing.T) {
	e := &examination{Options: Options{Cluster: &cluster.Cluster{Generators: map[string]cluster.Generator{
		"a": {Kind: cluster.SegmentGenerator}, "b": {Kind: cluster.SegmentGenerator}, "h": {Kind: cluster.HAGenerator, Of: []string{"a", "b"}},
	}}}}
	e.generators()
	if len(e.findings) != 1 || !strings.Contains(e.findings[0].What, "generator h: all of its 2 members stop with etcd") {
		t.Errorf("%+v", e.findings)
	}
}

// Another key is due once the current one is older than the schedule, and never without a schedule or a key.
func TestARotationThatIsDue(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		every   string
		version uint32
		after   time.Duration
		want    string
	}{
		{"90d", 3, 90 * 24 * time.Hour, ""},
		{"90d", 3, 97 * 24 * time.Hour, "key version 3 hides new numbers since 2026-03-01: rotate_keys_every is 90d, so another key has been due for 7 days"},
		{"90d", 0, 97 * 24 * time.Hour, ""},
		{"", 3, 9700 * 24 * time.Hour, ""},
	} {
		e := &examination{Options: Options{
			Cluster: &cluster.Cluster{Settings: cluster.Settings{RotateKeysEvery: c.every}}, Now: func() time.Time { return since.Add(c.after) },
		}}
		e.rotation(keyring.Current{Version: c.version, At: since})
		found := ""
		for _, f := range e.findings {
			found += f.What
		}
		if found != c.want {
			t.Errorf("every %q, after %s: %q, want %q", c.every, c.after, found, c.want)
		}
		if len(e.findings) > 0 && !strings.Contains(e.findings[0].Remedy, "locus keys rotate") {
			t.Errorf("the remedy is %q", e.findings[0].Remedy)
		}
	}
}
