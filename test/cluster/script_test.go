package cluster

import (
	"path/filepath"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// TestScripts runs every script on each server.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d scripts, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel() // a script waits more than it computes
			servers.Engines(t, func(t *testing.T, engine servers.Engine) {
				t.Parallel()
				RunScript(t, engine, path)
			})
		})
	}
}

const begun = "start 2 shards, 2 with genes, and 1 proxies\n"

func TestScriptsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "must start a cluster",
		"# start 2 shards": "must start a cluster",
		"start the mover":  "must start a cluster",
		"kill etcd":        "must start a cluster",
		begun + "\n# a comment\nkill etcd at once": `line 4: unknown command "kill etcd at once"`,
		begun + "expect  no errors at all":         `unknown command "expect no errors at all"`,
		begun + "wait until split-1 is":            "unknown command",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestReadScript(t *testing.T) {
	for line, want := range map[string][]string{
		"start 3 shards, 2 with genes, and 4 proxies":            {"3", "2", "4"},
		"start 3 shards, 2 with genes, and 4 proxies with links": {"3", "2", "4"},
		"kill etcd":                               {"etcd"},
		"kill shard s0":                           {"shard", "s0"},
		"start the mover":                         {"mover"},
		"slow shard s0 by 5ms":                    {"s0", "5ms"},
		"locus split --from s0 --to s2":           {"split --from s0 --to s2"},
		"expect that locus get fails with x y":    {"get fails with x y"},
		"expect split-1 is cut":                   {"split-1", "cut"},
		"expect 3 from SELECT COUNT(*) FROM a, b": {"3", "SELECT COUNT(*) FROM a, b"},
	} {
		steps, err := parse(begun + line + " # a comment")
		if err != nil || strings.Join(steps[1].args, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %+v, %v", line, steps, err)
		}
	}
	if got := strings.Join(words(`table add shop.a "owner=uid id=a"`), "|"); got != "table|add|shop.a|owner=uid id=a" {
		t.Error(got)
	}
}
