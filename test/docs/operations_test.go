package docs

import (
	"regexp"
	"strings"
	"testing"
)

const operationsDocument = "docs/operations.md"

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
	for _, r := range tableOf(t, read(t, operationsDocument), "metric", "type", "labels", "meaning") {
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
	for _, r := range tableOf(t, read(t, operationsDocument), "path", "role", "what") {
		documented[code(r["path"])] = false
	}
	for _, h := range handled {
		path := strings.TrimSuffix(h[1], "{$}")
		if strings.HasPrefix(path, "/debug/pprof/") { // one row for all of them
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
