package docs

import (
	"reflect"
	"strings"
	"testing"

	"locus/router/catalog"
	"locus/router/cluster"
)

// Every field of a cluster file is in the page about that file, and every field in a table of that page exists.
func TestEveryFieldOfAClusterIsDocumented(t *testing.T) {
	page := read(t, clusterDocument)
	for _, part := range []struct {
		heading string
		of      any
	}{
		{"Settings", cluster.Settings{}},
		{"Tables", catalog.Declaration{}},
		{"Shards", cluster.Shard{}},
		{"Users", cluster.User{}},
	} {
		_, section, _ := strings.Cut(page, "\n## "+part.heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		documented := map[string]bool{}
		for line := range strings.Lines(section) {
			if c := cells(strings.TrimSuffix(line, "\n")); len(c) == 2 && strings.HasPrefix(c[0], "`") {
				for name := range strings.SplitSeq(c[0], ", ") {
					documented[strings.Trim(name, "`")] = true
				}
			}
		}
		fields := reflect.TypeOf(part.of)
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Field(i).Tag.Get("yaml"), ",")
			if name != "" && name != "-" && name != "kind" && !documented[name] {
				t.Errorf("%s: the field %s is not documented", part.heading, name)
			}
		}
	}
}

// The examples of pages that declare parts of a cluster are read by the code that reads cluster.yaml.
func TestExamplesDeclare(t *testing.T) {
	declared := 0
	for _, path := range documents(t) {
		if strings.HasPrefix(path, "docs/") && path != generatorsDocument {
			for _, text := range blocks(read(t, path), "yaml") {
				declared += declares(t, path, text)
			}
		}
	}
	if declared < 7 {
		t.Errorf("only %d examples declare something", declared)
	}
}

func declares(t *testing.T, path, text string) int {
	t.Helper()
	first, _, _ := strings.Cut(text, ":")
	rest := ""
	switch first {
	case "shards":
		rest = "routes: [0xffff s0]\n"
		if !strings.Contains(text, "\n  s0:") {
			text += "  s0: {address: 'a:1', user: u, secret: s}\n"
		}
	case "users", "tables":
		rest = "shards:\n  s0: {address: 'a:1', user: u, secret: s}\nroutes: [0xffff s0]\n"
	default:
		return 0
	}
	if _, err := cluster.Parse([]byte("schema: 1\n" + text + rest)); err != nil {
		t.Errorf("%s: %v in\n%s", path, err, text)
	}
	return 1
}
