package mtr

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/suites/stand"
)

// job is a case in one protocol.
type job struct {
	testCase
	protocol protocol
}

// String returns the case's name, with the protocol if it isn't text. Exceptions are listed under this name.
func (j job) String() string {
	if j.protocol == text {
		return j.name
	}
	return j.name + " " + string(j.protocol)
}

// listed are the jobs of cases.txt for an engine, or those of them that are
// marked quick. A line is a case's name, and in columns behind tabs the
// protocols for each engine and the mark:
//
//	main.select	mariadb: text ps cursor	mysql: text	quick
func (s suite) listed(t *testing.T, engine servers.Engine, quick bool) (jobs []job) {
	t.Helper()
	list, err := os.ReadFile("cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if quick && !slices.Contains(columns, "quick") {
			continue
		}
		for _, column := range columns[1:] {
			of, protocols, _ := strings.Cut(column, ":")
			if of == string(engine) {
				jobs = append(jobs, s.jobs(t, columns[0], strings.Fields(protocols))...)
			}
		}
	}
	return jobs
}

func (s suite) jobs(t *testing.T, name string, protocols []string) (jobs []job) {
	t.Helper()
	c, err := s.find(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range protocols {
		if _, known := protocolArgs[protocol(p)]; !known {
			t.Fatalf("case %s: no protocol %q", name, p)
		}
		jobs = append(jobs, job{c, protocol(p)})
	}
	return jobs
}

// excepted are the jobs of the exceptions.
func (s suite) excepted(t *testing.T, exceptions stand.Exceptions) (jobs []job) {
	t.Helper()
	for name := range exceptions {
		of, p, ok := strings.Cut(name, " ")
		if !ok {
			p = string(text)
		}
		jobs = append(jobs, s.jobs(t, of, []string{p})...)
	}
	slices.SortFunc(jobs, func(a, b job) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return jobs
}
