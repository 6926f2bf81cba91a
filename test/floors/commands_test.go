package floors

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wiring contains the files of cmd/locus that connect the parts of a process. They may import everything.
var wiring = []string{"process.go", "serve.go", "serve_console.go", "serve_options.go", "serve_timeline.go"}

// namesRecords contains the files of cmd/locus that print records of jobs, rows that differ and saved transactions by the types of these
// packages. A file leaves the list when it stops importing them, and no other file may join it.
var namesRecords = map[string][]string{
	"cutover.go": {"migrate/job"}, "import.go": {"migrate/job"}, "import_outside.go": {"migrate/job"}, "repair.go": {"migrate/job"}, "split.go": {"migrate/job"},
	"jobs.go": {"migrate/job", "migrate/phase", "proxy/mirror"}, "wait.go": {"migrate/job", "migrate/phase"}, "watch.go": {"migrate/job", "proxy/mirror"},
	"verify.go": {"migrate/audit", "migrate/phase", "migrate/repair"}, "verify_repair.go": {"migrate/repair"}, "rejoin.go": {"migrate/changes"},
}

// TestCommandsKeepNoLogic: what moves rows, serves statements or plans them is reached by commands through package ops.
func TestCommandsKeepNoLogic(t *testing.T) {
	files, err := filepath.Glob("../../cmd/locus/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	named := map[string][]string{}
	for _, path := range files {
		file := filepath.Base(path)
		if strings.HasSuffix(file, "_test.go") || slices.Contains(wiring, file) {
			continue
		}
		m := module{imports: map[string][]fileImport{}}
		if err := m.readFile(path, "cmd/locus/"+file); err != nil {
			t.Fatal(err)
		}
		for _, i := range m.imports["cmd/locus"] {
			pkg := strings.TrimPrefix(i.path, "locus/")
			if !within(pkg, "migrate") && !within(pkg, "proxy") && pkg != "router/plan" {
				continue
			}
			if !slices.Contains(namesRecords[file], pkg) {
				t.Errorf("%s: a command must not import %s: put what needs it into control/ops", i.at, i.path)
			}
			named[file] = append(named[file], pkg)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(namesRecords)) {
		for _, pkg := range namesRecords[file] {
			if !slices.Contains(named[file], pkg) {
				t.Errorf("cmd/locus/%s does not import %s any more: remove it from the list", file, pkg)
			}
		}
	}
}
