//go:build long

package differential

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"locus/test/servers"
)

const (
	plantedBug  = "LOCUS_PLANTED" // names the bug that is planted
	withPlanted = "LOCUS_WITH_PLANTED"
	// patience is how many reads may go by before a bug must have been noticed.
	patience = 8000
)

// Every bug is noticed by the random statements: this test is run again with all
// of them in the proxy, of which one at a time is switched on.
func TestBugsAreNoticed(t *testing.T) {
	if os.Getenv(withPlanted) != "" {
		t.Skip("this is the run with the bugs")
	}
	overlay := plantAll(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "long", "-count=1", "-v", "-timeout", "2h", "-overlay", overlay, "-run", "^TestNoticing$", ".")
	cmd.Env = append(os.Environ(), withPlanted+"=1")
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

// plantAll writes what replaces the proxy's files: an overlay of the go command.
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

// TestNoticing is what runs with the bugs in the proxy.
func TestNoticing(t *testing.T) {
	if os.Getenv(withPlanted) == "" {
		t.Skip("it is run by TestBugsAreNoticed")
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		if n, found := notices(t, engine, "none"); found != "" {
			t.Fatalf("read %d differs without any bug: %s", n, found)
		}
		for i, b := range bugs {
			if i > 0 && bugs[i-1].name == b.name {
				continue
			}
			t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
				n, found := notices(t, engine, b.name)
				if found == "" {
					t.Errorf("%s, %s: %d reads are answered as if it weren't there", engine, b.name, n)
				}
				t.Logf("%s, %s: noticed by read %d: %s", engine, b.name, n, found)
			})
		}
	})
}

// notices runs reads with a bug until one differs, and gives how many those were.
func notices(t *testing.T, engine servers.Engine, bug string) (int, string) {
	p := newPair(t, engine) // its plans were made without a bug, or with another one
	g := p.generator(1)
	p.fill(g)
	t.Setenv(plantedBug, bug)
	for n := range patience {
		s := g.read()
		if difference, _, _ := p.both(s); difference != "" {
			return n + 1, difference + " differ: " + s.String()
		}
	}
	return patience, ""
}
