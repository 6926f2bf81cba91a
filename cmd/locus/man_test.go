package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManPages: there is exactly one page for each command, and it contains everything that the command's help
// contains. Pages of the same version and date are identical, whatever the environment.
func TestManPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1772600767")
	pages := manPages(t, nil, time.Unix(0, 0))
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	root.InitDefaultCompletionCmd()
	commands := append(allCommands(root), root)
	for _, c := range commands {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, is := pages[name]
		if !is {
			t.Errorf("%s has no man page", c.CommandPath())
			continue
		}
		wants := []string{c.Short, c.UseLine(), "Mar 2026"}
		if !strings.HasPrefix(c.CommandPath(), "locus completion") { // cobra writes the texts of these commands, with markup
			wants = append(wants, c.Long, c.Example)
		}
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) { wants = append(wants, "--"+f.Name, strings.ReplaceAll(f.Usage, "`", "")) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { wants = append(wants, "--"+f.Name) })
		for _, sub := range available(c) {
			wants = append(wants, strings.TrimSuffix(name, ".1")+"-"+sub.Name()+"(1)")
		}
		text := plainRoff(page)
		for _, want := range wants {
			if !strings.Contains(text, words(want)) {
				t.Errorf("%s lacks %q\n%s", name, want, text)
			}
		}
	}
	if len(pages) != len(commands) {
		t.Errorf("%d pages of %d commands", len(pages), len(commands))
	}
	elsewhere := map[string]string{"LOCUS_CONFIG": "/secret/locus.yaml", "LOCUS_ETCD": "10.0.0.1:2379", "LOCUS_CLUSTER": "x"}
	for name, page := range manPages(t, elsewhere, time.Unix(1, 0)) {
		if page != pages[name] {
			t.Errorf("%s differs in another environment", name)
		}
	}
}

func available(c *cobra.Command) (list []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list = append(list, sub)
		}
	}
	return list
}

func manPages(t *testing.T, environment map[string]string, now time.Time) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man1")
	var out, errs strings.Builder
	in := &invocation{stdout: &out, stderr: &errs, getenv: func(name string) string { return environment[name] }, now: func() time.Time { return now }}
	if status := run(t.Context(), []string{"man", dir}, in); status != done {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[e.Name()] = string(text)
	}
	return pages
}

var (
	roffFonts = regexp.MustCompile(`\\f(\(..|.)`)
)

// plainRoff returns the text of a page on one line.
func plainRoff(page string) string {
	text := roffFonts.ReplaceAllString(page, "")
	return words(strings.NewReplacer(`\-`, "-", `\&`, "", `\[aq]`, "'", `\(aq`, "'", `\(dq`, `"`, `\e`, `\`, `\\`, `\`, "\n.PP\n", "\n", "\n.EX\n", "\n", "\n.EE\n", "\n").Replace(text))
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestManPagesKeepWhatLooksLikeMarkup: the texts of commands are plain, and each character is on the page.
func TestManPagesKeepWhatLooksLikeMarkup(t *testing.T) {
	const text = `SELECT * FROM t_a_b WHERE a*b < c AND d > e; [a](b) <file> #1 | x & y ~~z~~ C:\dir **bold**`
	c := &cobra.Command{Use: "x", Short: "short: " + text, Long: "long: " + text, Run: func(*cobra.Command, []string) {}}
	c.Flags().String("f", "", "the `name`: "+text)
	asMarkdown(c, map[*pflag.Flag]bool{})
	dir := t.TempDir()
	if _, err := writeMan(c, dir, time.Now); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "x.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"short: " + text, "long: " + text, "the name: " + text} {
		if got := plainRoff(string(page)); !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
