package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"locus/config"
	"locus/router/cluster"
)

// deployed is the files of deploy/ whose names match.
func deployed(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "deploy", filepath.FromSlash(pattern)))
	if err != nil || len(paths) == 0 {
		t.Fatalf("deploy/%s: no such files (%v)", pattern, err)
	}
	return paths
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExampleConfigurationsAreRight(t *testing.T) {
	for _, path := range slices.Concat(deployed(t, "*/locus-?.yaml"), deployed(t, "*/mover.yaml"), deployed(t, "one-machine/locus.yaml")) {
		if _, err := config.Load(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range deployed(t, "*/cluster.yaml") {
		if _, err := cluster.Parse([]byte(contents(t, path))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range append(deployed(t, "*/etcd-?.yaml"), deployed(t, "prometheus/*.yaml")...) {
		var v map[string]any
		if err := yaml.Unmarshal([]byte(contents(t, path)), &v); err != nil || len(v) == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The configuration within the manifest is one too.
func TestTheManifestsConfiguration(t *testing.T) {
	documents := yaml.NewDecoder(strings.NewReader(contents(t, deployed(t, "kubernetes/locus.yaml")[0])))
	found := false
	for {
		var d struct {
			Kind string
			Data map[string]string
		}
		if documents.Decode(&d) != nil {
			break
		}
		if text, is := d.Data["locus.yaml"]; is {
			found = true
			if _, err := config.Parse([]byte(text)); err != nil {
				t.Error(err)
			}
		}
	}
	if !found {
		t.Error("the manifest has no locus.yaml")
	}
}

// The metrics in rules and panels are metrics that proxies export.
func TestRulesAndPanelsAskForWhatIsThere(t *testing.T) {
	var dashboard map[string]any
	panels := contents(t, deployed(t, "grafana/locus.json")[0])
	if err := json.Unmarshal([]byte(panels), &dashboard); err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, m := range described.FindAllStringSubmatch(read(t, "control/console/metrics.go"), -1) {
		exported["locus_"+m[1]] = true
	}
	rules := contents(t, deployed(t, "prometheus/alerts.yaml")[0])
	for _, name := range regexp.MustCompile(`locus_[a-z_]+`).FindAllString(rules+panels, -1) {
		if of := regexp.MustCompile(`^(.*)_(?:bucket|count|sum)$`).FindStringSubmatch(name); of != nil && !exported[name] {
			name = of[1] // a histogram
		}
		if !exported[name] {
			t.Errorf("no proxy exports %s", name)
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not installed: test/install/servers.sh test")
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", deployed(t, "prometheus/alerts.yaml")[0]).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestPrometheusReadsItsConfiguration(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not installed: test/install/servers.sh test")
	}
	// The files in its configuration, such as certificates, are on another machine.
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "config", "--syntax-only", deployed(t, "prometheus/prometheus.yaml")[0]).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestScriptsAreScripts(t *testing.T) {
	for _, path := range deployed(t, "*/*.sh") {
		if out, err := exec.CommandContext(t.Context(), "bash", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}
