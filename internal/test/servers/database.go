package servers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

var databases atomic.Int64

// Database creates an empty database of the same name on each of the servers and returns the name, which no
// other test of this program gets. It is dropped when the test ends.
//
// A test that fails may leave transactions open. A DROP would wait for their metadata locks for a year, the
// server's default. So it waits for half a minute and then fails.
func Database(t testing.TB, servers ...*Server) string {
	t.Helper()
	name := fmt.Sprintf("test_%02d", databases.Add(1)) // the name has a fixed length, because the column widths of printed tables depend on it
	if err := Each(servers, func(_ int, s *Server) error { return s.Execute(t.Context(), "CREATE DATABASE "+name) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context()) // the test's own context has ended
		if err := Each(servers, func(_ int, s *Server) error {
			return s.Execute(ctx, "SET SESSION lock_wait_timeout = 30", "DROP DATABASE "+name)
		}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// Each calls do for several servers concurrently.
func Each(servers []*Server, do func(i int, s *Server) error) error {
	failed := make([]error, len(servers))
	var doing sync.WaitGroup
	for i, s := range servers {
		doing.Go(func() {
			if err := do(i, s); err != nil {
				failed[i] = fmt.Errorf("%s at %s: %w", s.Engine(), s.Addr(), err)
			}
		})
	}
	doing.Wait()
	return errors.Join(failed...)
}
