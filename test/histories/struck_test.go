package histories

import (
	"slices"
	"strings"
	"testing"
)

// struck is what was killed or stopped so far.
type struck struct {
	processes map[string]bool // by their addresses
	etcd      bool
	shards    []string // as errors name them
}

// excuses tells whether a client may have been told an error: by a process that was
// struck, or because of etcd or a shard that was; and in any case that a statement
// was held, or waited for a lock, for as long as it may.
func (s *struck) excuses(f failure) bool {
	const lockWait, deadlock = 1205, 1213
	switch {
	case f.code == lockWait, f.code == deadlock, s.processes[f.addr]:
		return true
	case s.etcd && strings.Contains(f.text, "etcd at "):
		return true
	}
	return slices.ContainsFunc(s.shards, func(shard string) bool { return strings.Contains(f.text, shard) })
}

// checkErrors tells what clients were told, and what of that nothing excuses.
func (w *world) checkErrors(t *testing.T, r *record) {
	t.Helper()
	texts := map[string]int{}
	for f, n := range r.errors {
		texts[f.text] += n
		if !w.struck.excuses(f) {
			t.Errorf("%d times, by %s, where nothing was struck that explains it: %s", n, f.addr, f.text)
		}
	}
	for text, n := range texts {
		t.Logf("%d times: %s", n, text)
	}
}
