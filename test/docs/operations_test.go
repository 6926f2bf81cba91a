package docs

import (
	"regexp"
	"strings"
	"testing"
)

const (
	alertsDocument  = "docs/troubleshoot/alerts.md"
	metricsDocument = "docs/reference/metrics.md"
	httpDocument    = "docs/reference/http.md"
)

// The metrics are read from where they are named: describe("name", "help",
// "label" …).
var described = regexp.MustCompile(`describe\("([a-z_]+)", "[^"]*"((?:, "[a-z_]+")*)\)`)

func TestEveryMetricIsDocumented(t *testing.T) {
	labels := map[string]string{}
	for _, m := range described.FindAllStringSubmatch(read(t, "control/console/metrics.go"), -1) {
		labels["locus_"+m[1]] = m[2]
	}
	if len(labels) == 0 {
		t.Fatal("control/console/metrics.go describes no metric that is understood")
	}
	documented := map[string]bool{}
	for _, r := range tableOf(t, read(t, metricsDocument), "metric", "type", "labels", "meaning") {
		name := code(r["metric"])
		documented[name] = true
		want, ok := labels[name]
		if !ok {
			t.Errorf("%s is documented and does not exist", name)
			continue
		}
		if counter := strings.HasSuffix(name, "_total"); counter != (r["type"] == "counter") {
			t.Errorf("%s is documented as a %s", name, r["type"])
		}
		for label := range strings.FieldsFuncSeq(want, func(c rune) bool { return c == ',' || c == ' ' || c == '"' }) {
			if !strings.Contains(r["labels"], "`"+label+"`") {
				t.Errorf("%s has label %s", name, label)
			}
		}
	}
	for name := range labels {
		if !documented[name] {
			t.Errorf("%s is not documented", name)
		}
	}
}

func TestEveryPathIsDocumented(t *testing.T) {
	handled := regexp.MustCompile(`"(?:GET|POST) (/[^"]*)"`).FindAllStringSubmatch(read(t, "control/console/console.go"), -1)
	documented := map[string]bool{}
	for _, r := range tableOf(t, read(t, httpDocument), "path", "role", "what") {
		documented[code(r["path"])] = false
	}
	for _, h := range handled {
		path := strings.TrimSuffix(h[1], "{$}")
		if strings.HasPrefix(path, "/debug/pprof/") { // one row documents all of them
			path = "/debug/pprof/"
		}
		if _, there := documented[path]; !there {
			t.Errorf("%s is not documented", path)
		}
		documented[path] = true
	}
	for path, is := range documented {
		if !is {
			t.Errorf("%s is documented and not handled", path)
		}
	}
}

// The table of runbooks contains every alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	documented := map[string]bool{}
	for _, r := range tableOf(t, read(t, alertsDocument), "alert", "means", "runbook") {
		documented[code(r["alert"])] = false
	}
	rules := contents(t, deployed(t, "prometheus/alerts.yaml")[0])
	for _, rule := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(rules, -1) {
		if _, there := documented[rule[1]]; !there {
			t.Errorf("%s has no runbook", rule[1])
		}
		documented[rule[1]] = true
	}
	for alert, is := range documented {
		if !is {
			t.Errorf("%s has a runbook and is no alert", alert)
		}
	}
}
