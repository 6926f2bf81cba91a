package stand

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Run runs a suite's cases at an endpoint and returns their outcomes; nil cases are all.
type Run func(t *testing.T, at Endpoint, cases []string) Outcomes

// Check runs a suite at both ends, one after the other, and compares the outcomes. The exceptions are in the suite's
// directory. If a case fails only through the proxy, it runs directly again. If its outcome then differs from the first one,
// the suite itself is unstable, and the case counts as failed. Check returns the outcomes of the plain server.
func (s *Stand) Check(t *testing.T, dir string, run Run) Outcomes {
	t.Helper()
	direct := run(t, s.Direct, nil)
	s.judge(t, dir, run, direct, run(t, s.Proxy, nil))
	return direct
}

// CheckAtOnce is Check for a suite that may run at both ends at the same time, because it keeps no files in one place.
func (s *Stand) CheckAtOnce(t *testing.T, dir string, run Run) Outcomes {
	t.Helper()
	var direct, proxy Outcomes
	var both sync.WaitGroup
	// without t.Parallel, which would wait for all other tests
	both.Go(func() { t.Run("direct", func(t *testing.T) { direct = run(t, s.Direct, nil) }) })
	both.Go(func() { t.Run("proxy", func(t *testing.T) { proxy = run(t, s.Proxy, nil) }) })
	both.Wait()
	s.judge(t, dir, run, direct, proxy)
	return direct
}

func (s *Stand) judge(t *testing.T, dir string, run Run, direct, proxy Outcomes) {
	t.Helper()
	exceptions := Excepted(t, dir, s.Engine)
	t.Logf("direct, %s: %s", s.Engine, direct)
	for _, name := range direct.With(Failed) {
		t.Logf("fails directly: %s: %s", name, lastLine(direct[name].Detail))
	}
	t.Logf("proxy, %s: %s; %d exceptions", s.Engine, proxy, len(exceptions))
	if disputed := disputed(direct, proxy, exceptions); len(disputed) > 0 {
		again := run(t, s.Direct, disputed)
		for _, name := range disputed {
			if o, ran := again[name]; ran && !o.same(direct[name]) {
				t.Logf("%s has several outcomes without the proxy too: %s", name, o.Detail)
				direct[name] = Outcome{State: Failed, Detail: "unsteady"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) { // the failures with which a reason is compared
		said, _, _ := strings.Cut(strings.TrimSpace(proxy[name].Detail), "\n")
		t.Logf("excepted: %s (%s): %s %s", name, exceptions[name], proxy[name].State, said)
	}
	Compare(t, direct, proxy, exceptions)
}

// Compare fails the test for each case that passes directly and not, or with
// another result, through the proxy, unless it is an exception; and for each
// exception that passes, or that no case bears the name of.
func Compare(t testing.TB, direct, proxy Outcomes, exceptions Exceptions) {
	t.Helper()
	for _, complaint := range compare(direct, proxy, exceptions) {
		t.Error(complaint)
	}
}

func compare(direct, proxy Outcomes, exceptions Exceptions) []string {
	var complaints []string
	say := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	if len(direct.With(Passed)) == 0 {
		say("no case passes directly: the suite did not run")
	}
	for _, name := range disputed(direct, proxy, exceptions) {
		o, ran := proxy[name]
		switch {
		case !ran:
			say("%s passes directly and is not run through the proxy", name)
		case o.State != Passed:
			say("%s passes directly and is %s through the proxy: %s", name, o.State, indent(o.Detail))
		default:
			d, p := apart(direct[name].Result, o.Result)
			say("%s has another result through the proxy:\n\tdirect %s\n\tproxy  %s", name, d, p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		_, known := direct[name]
		switch {
		case !known:
			say("exception %s: no case has that name", name)
		case direct[name].State == Passed && direct[name].same(proxy[name]):
			say("exception %s passes: strike it off (%s)", name, exceptions[name])
		case direct[name].State != Passed:
			say("exception %s is %s directly: strike it off (%s)", name, direct[name].State, exceptions[name])
		}
	}
	return complaints
}

// disputed returns the cases that pass directly and fail, or have another result, through the proxy, without
// the exceptions.
func disputed(direct, proxy Outcomes, exceptions Exceptions) []string {
	var names []string
	for _, name := range direct.With(Passed) {
		if _, excepted := exceptions[name]; !excepted && !direct[name].same(proxy[name]) {
			names = append(names, name)
		}
	}
	return names
}

// apart cuts two texts to where they differ.
func apart(a, b string) (string, string) {
	const before, after = 60, 300
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, i-before):min(len(s), i+after)] }
	return cut(a), cut(b)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func indent(text string) string {
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return strings.TrimSpace(text)
	}
	return "\n\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}
