package mtr

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/suites/stand"
)

// quick reports whether only the cases that are marked so run.
var quick = !scale.Long()

func TestCases(t *testing.T) {
	s := installedSuite(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		if other := os.Getenv("LOCUS_MTR"); other != "" {
			s.tell(t, engine, other)
			return
		}
		var exceptions stand.Exceptions
		jobs := s.listed(t, engine, quick)
		must := stand.Outcomes{}
		for _, j := range jobs {
			must[j.String()] = stand.Outcome{}
		}
		if !quick {
			exceptions = stand.Excepted(t, ".", engine)
			jobs = append(jobs, s.excepted(t, exceptions)...)
		}
		direct, proxied := s.runAll(t, engine, jobs, nil)
		t.Logf("direct, %s: %s", engine, direct)
		t.Logf("proxy, %s: %s; %d exceptions", engine, proxied, len(exceptions))
		for name := range must {
			if direct[name].State != stand.Passed {
				t.Errorf("%s is in cases.txt and is %s on a plain server: %s", name, direct[name].State, direct[name].Detail)
			}
		}
		stand.Compare(t, direct, proxied, exceptions)
	})
}

// runAll runs jobs at both ends. Told may be nil.
func (s suite) runAll(t *testing.T, engine servers.Engine, jobs []job, told func(j job, direct, proxied verdict)) (direct, proxied stand.Outcomes) {
	direct, proxied = stand.Outcomes{}, stand.Outcomes{}
	for len(jobs) > 0 {
		t.Run(jobs[0].String(), func(t *testing.T) {
			done := 0
			defer func() { jobs = jobs[max(done, 1):] }()
			plain, proxy := ends(t, s, engine)
			for _, j := range jobs {
				d, p := s.both(t, engine, j, plain, proxy)
				direct[j.String()], proxied[j.String()] = d.Outcome, p.Outcome
				if told != nil {
					told(j, d, p)
				}
				if done++; d.spoilt || p.spoilt { // the rest runs on new servers
					return
				}
			}
		})
	}
	return direct, proxied
}

// both runs a job at both ends: at once, if the result is known.
func (s suite) both(t *testing.T, engine servers.Engine, j job, plain, proxy *end) (d, p verdict) {
	if engine == servers.MySQL {
		return s.recorded(t, j, plain, proxy)
	}
	result := filepath.Join(s.dir, j.result)
	done := make(chan verdict, 1)
	go func() { done <- s.play(t.Context(), j, plain, result) }()
	p = s.play(t.Context(), j, proxy, result)
	return <-done, p
}

// recorded runs a job at both ends and compares the recorded results. The result may contain an error of a statement; the next
// statement is then run.
func (s suite) recorded(t *testing.T, j job, plain, proxy *end) (d, p verdict) {
	dir := t.TempDir()
	record := func(at *end, name string) (verdict, string) {
		file := filepath.Join(dir, name)
		return s.play(t.Context(), j, at, file, "--record", "--continue-on-error"), file
	}
	done := make(chan struct{})
	var want, got string
	go func() {
		defer close(done)
		d, want = record(plain, "direct")
	}()
	p, got = record(proxy, "proxied")
	<-done
	if d.State != stand.Passed || p.State != stand.Passed {
		return d, p
	}
	a, errA := os.ReadFile(want)
	b, errB := os.ReadFile(got)
	switch {
	case errA != nil || errB != nil:
		d = failed("%v, %v", errA, errB)
	case !bytes.Equal(a, b):
		p.State, p.Detail = stand.Failed, difference(t, want, got)
	}
	return d, p
}
