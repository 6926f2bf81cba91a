package floors

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wiring contains the files of cmd/locus that connect the parts of a process. They may import everything.
var wiring = []string{"process.go", "serve.go", "serve_console.go", "serve_options.go", "serve_timeline.go"}

// TestCommandsKeepNoLogic checks that commands use package ops for everything that moves rows, serves statements or plans
// them.
func TestCommandsKeepNoLogic(t *testing.T) {
	files, err := filepath.Glob("../../cmd/locus/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files: %v", len(files), err)
	}
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
			t.Errorf("%s: a command must not import %s: put what needs it into control/ops", i.at, i.path)
		}
	}
}
