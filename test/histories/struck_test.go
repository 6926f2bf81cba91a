package histories

import (
	"slices"
	"strings"
	"testing"
)

// overdue is in the error of a commit that has taken longer than recovery waits.
const overdue = "it took so long that recovery has rolled it back; the transaction was rolled back on every shard"

// struck contains the processes that were killed or suspended so far.
type struck struct {
	processes map[string]bool // by their addresses
	etcd      bool
	shards    []string // as errors name them
}

// excuses reports whether a client may have received an error: from a process that was struck, or because of etcd or a shard that was. In any
// case a statement may have been held, or have waited for a lock, for as long as it may; and on a busy machine a commit may have taken
// longer than recovery leaves a transaction to its process. Such a transaction is rolled back everywhere.
func (s *struck) excuses(f failure) bool {
	const lockWait, deadlock = 1205, 1213
	switch {
	case f.code == lockWait, f.code == deadlock, s.processes[f.addr]:
		return true
	case strings.Contains(f.text, overdue):
		return true
	case s.etcd && strings.Contains(f.text, "etcd at "):
		return true
	}
	return slices.ContainsFunc(s.shards, func(shard string) bool { return strings.Contains(f.text, shard) })
}

// checkErrors logs the errors that clients received, and fails the test for those that no fault explains.
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
