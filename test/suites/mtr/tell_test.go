package mtr

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// tell runs cases in the protocols of LOCUS_MTR_PROTOCOLS, and logs their outcomes. The cases match a pattern, or are listed
// in a file if the pattern begins with @. The client's output is written to files in LOCUS_MTR_OUT.
func (s suite) tell(t *testing.T, engine servers.Engine, pattern string) {
	t.Helper()
	names, err := s.named(pattern)
	if err != nil {
		t.Fatal(err)
	}
	protocols := strings.Fields(os.Getenv("LOCUS_MTR_PROTOCOLS"))
	if len(protocols) == 0 {
		protocols = []string{string(text)}
	}
	var jobs []job
	for _, name := range names {
		jobs = append(jobs, s.jobs(t, name, protocols)...)
	}
	out := os.Getenv("LOCUS_MTR_OUT")
	if out == "" {
		out = t.TempDir()
	}
	table, err := os.OpenFile(filepath.Join(out, "table.tsv"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	s.runAll(t, engine, jobs, func(j job, direct, proxied verdict) {
		line := fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f", j.name, engine, j.protocol, direct.State, proxied.State,
			direct.took.Seconds(), proxied.took.Seconds())
		t.Log(line)
		fmt.Fprintln(table, line)
		for end, v := range map[string]verdict{"direct": direct, "proxied": proxied} {
			file := fmt.Sprintf("%s.%s.%s.%s", strings.ReplaceAll(j.name, "/", "_"), engine, j.protocol, end)
			if err := os.WriteFile(filepath.Join(out, file), []byte(v.Detail), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
}

func (s suite) named(pattern string) ([]string, error) {
	if file, ok := strings.CutPrefix(pattern, "@"); ok {
		list, err := os.ReadFile(file)
		return strings.Fields(string(list)), err
	}
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return s.all(matches)
}

// difference returns the differences between two files.
func difference(t *testing.T, want, got string) string {
	said, _ := exec.CommandContext(t.Context(), "diff", "-a", "-U3", want, got).CombinedOutput() // diff ends with status 1 if the files differ
	return string(said[:min(len(said), 16<<10)])
}
