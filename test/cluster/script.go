package cluster

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// run is a script that runs.
type run struct {
	t       *testing.T
	engine  servers.Engine
	cluster *Cluster // nil until the script starts it
	clients *Counters
	mover   *Proxy // where the script stopped it; nil: nowhere
	point   string // the point at which the movers stop
}

// command is a command of scripts.
type command struct {
	form string // words in capitals are placeholders for arguments
	what string
	do   func(r *run, args ...string)

	pattern *regexp.Regexp
}

// argument is a placeholder of a form. REST is everything up to the end of the line, and each other placeholder one word.
var argument = regexp.MustCompile(`\b[A-Z]{3,}\b`)

// compiled are all commands with their patterns.
var compiled = func() []command {
	all := slices.Concat(setting, acting, expecting)
	for i, c := range all {
		pattern := argument.ReplaceAllStringFunc(regexp.QuoteMeta(c.form), func(name string) string {
			if name == "REST" {
				return "(.+)"
			}
			return `(\S+?)`
		})
		all[i].pattern = regexp.MustCompile("^" + pattern + "$")
	}
	return all
}()

// Commands returns the forms of all commands of scripts, each with a description.
func Commands() string {
	var b strings.Builder
	for _, c := range compiled {
		fmt.Fprintf(&b, "%-50s %s\n", c.form, c.what)
	}
	return b.String()
}

// step is a line of a script.
type step struct {
	line int
	text string
	command
	args []string
}

// parse reads a script. An unknown command is an error, before anything is started.
func parse(text string) (steps []step, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		s, known := read(line)
		if !known {
			return nil, fmt.Errorf("line %d: unknown command %q; the commands are\n%s", n, line, Commands())
		}
		s.line = n
		steps = append(steps, s)
	}
	if len(steps) == 0 || !strings.HasPrefix(steps[0].text, "start ") || strings.HasPrefix(steps[0].form, "start the") {
		return nil, fmt.Errorf("the first command must start a cluster, such as %q", setting[0].form)
	}
	return steps, nil
}

func read(line string) (step, bool) {
	for _, c := range compiled {
		if found := c.pattern.FindStringSubmatch(line); found != nil {
			return step{text: line, command: c, args: found[1:]}, true
		}
	}
	return step{}, false
}

// RunScript runs the commands of a file. A command that fails ends the test; an expectation that isn't met fails it.
func RunScript(t *testing.T, engine servers.Engine, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parse(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if _, err := binary(); err != nil { // before the clients run, who would compete with the compiler
		t.Fatal(err)
	}
	r := &run{t: t, engine: engine}
	at := steps[0]
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:%d: %s", path, at.line, at.text)
		}
	})
	for _, at = range steps {
		t.Logf("%d: %s", at.line, at.text)
		at.do(r, at.args...)
	}
}
