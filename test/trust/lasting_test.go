package trust

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// lasting is a testing.TB for something that outlives the test that first needs it, and ends with the program.
// Its failures are reported to the running test.
type lasting struct {
	testing.TB // nil: methods that are not defined below must not be used

	mu   sync.Mutex
	test *testing.T // the running test; nil: none
	late []string   // failures when no test was running
	ends []func()
}

// serve reports failures to a test until it ends.
func (l *lasting) serve(t *testing.T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.test = t
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.test = nil
	})
}

func (l *lasting) Helper() {}

func (l *lasting) Context() context.Context { return context.Background() }

func (l *lasting) Cleanup(end func()) { l.ends = append(l.ends, end) }

func (l *lasting) TempDir() string {
	dir, err := os.MkdirTemp("", "locus-trust-")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			l.Error(err)
		}
	})
	return dir
}

func (l *lasting) Error(args ...any) { l.Errorf("%s", fmt.Sprint(args...)) }

func (l *lasting) Errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.test == nil {
		l.late = append(l.late, fmt.Sprintf(format, args...))
		return
	}
	l.test.Errorf(format, args...)
}

// Fatal and Fatalf may only be called while building, in the goroutine of the test that needs it.
func (l *lasting) Fatal(args ...any) { l.test.Fatal(args...) }

func (l *lasting) Fatalf(format string, args ...any) { l.test.Fatalf(format, args...) }

// end ends everything that was started, and returns the failures that occurred while no test was running.
func (l *lasting) end() []string {
	for _, end := range slices.Backward(l.ends) {
		end()
	}
	return l.late
}
