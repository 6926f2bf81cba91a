package stand

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestCommandOutput(t *testing.T) {
	c := Command{Dir: t.TempDir(), Env: []string{"WORD=hello"}, Stdin: " world", Args: []string{"sh", "-c", `printf "$WORD"; cat >&2; exit 3`}, Limit: time.Minute}
	if got := string(c.Output(t)); got != "hello world" {
		t.Errorf("output %q", got)
	}
}

// A suite that hangs is killed with its children, its test fails, and its output so far is kept.
func TestCommandRunsOutOfTime(t *testing.T) {
	r := &recorder{TB: t}
	c := Command{Dir: t.TempDir(), Args: []string{"sh", "-c", "echo begun; sleep 1000 & sleep 1000"}, Limit: 100 * time.Millisecond}
	out := c.Output(r)
	if !r.failed || !strings.Contains(r.said, "not done within 100ms") {
		t.Errorf("failed %v: %s", r.failed, r.said)
	}
	r.end()
	path := regexp.MustCompile(`/\S+\.log`).FindString(r.said)
	kept, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(string(kept), string(out)) {
		t.Errorf("kept %q (%v)", kept, err)
	}
	_ = os.Remove(path)
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed  bool
	said    string
	cleanup []func()
}

func (r *recorder) Helper()                           {}
func (r *recorder) Failed() bool                      { return r.failed }
func (r *recorder) Cleanup(f func())                  { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Logf(format string, args ...any)   { r.said += fmt.Sprintf(format+"\n", args...) }
func (r *recorder) Errorf(format string, args ...any) { r.failed = true; r.Logf(format, args...) }

func (r *recorder) end() {
	for _, f := range r.cleanup {
		f()
	}
}
