//go:build long && !planted

package differential

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// The random statements notice every bug. The test builds the proxy with all bugs and runs TestNoticing, which
// switches on one at a time.
func TestBugsAreNoticed(t *testing.T) {
	overlay := plantAll(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "planted", "-count=1", "-v", "-timeout", "2h", "-overlay", overlay, "-run", "^TestNoticing$", ".")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "noticed") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// plantAll writes the replacements of the proxy's files: an overlay of the go command.
func plantAll(t *testing.T) string {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replaced := map[string]string{}
	put := func(file, text string) {
		name := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(root, filepath.FromSlash(file))] = name
	}
	texts := map[string]string{}
	for _, b := range bugs {
		text, ok := texts[b.file]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.file)))
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		texts[b.file] = strings.Replace(text, b.from, b.to, 1)
	}
	for file, text := range texts {
		put(file, text)
		in := path.Dir(file)
		put(in+"/planted.go", "package "+path.Base(in)+"\n\nimport \"os\"\n\nfunc planted(bug string) bool { return os.Getenv(\""+plantedBug+"\") == bug }\n")
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}
