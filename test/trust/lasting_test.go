package trust

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// lasting is what something is built with that outlives the test that asks for it
// first: it ends with the program. What fails is told to the test that runs.
type lasting struct {
	testing.TB // nil: what is not below is not for who outlives a test

	mu   sync.Mutex
	test *testing.T // that runs; nil: none
	late []string   // failures while none ran
	ends []func()
}

// serve has failures told to a test until it ends.
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

// Fatal and Fatalf are for who builds, in the goroutine of the test that asks.
func (l *lasting) Fatal(args ...any) { l.test.Fatal(args...) }

func (l *lasting) Fatalf(format string, args ...any) { l.test.Fatalf(format, args...) }

// end ends what was built, and gives what failed when no test ran any more.
func (l *lasting) end() []string {
	for _, end := range slices.Backward(l.ends) {
		end()
	}
	return l.late
}
