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

// Database makes an empty database of one name on each of the servers and
// returns the name, which no other test of this program gets. It is dropped when
// the test ends.
//
// A test that fails may leave transactions open, whose metadata locks a DROP
// would wait for as long as the server's default is, which is a year: it waits for
// half a minute and says so instead.
func Database(t testing.TB, servers ...*Server) string {
	t.Helper()
	name := fmt.Sprintf("test_%02d", databases.Add(1)) // of one length: tables that are printed have columns as wide
	if err := Each(servers, func(_ int, s *Server) error { return s.Execute(t.Context(), "CREATE DATABASE "+name) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context()) // which is done by now
		if err := Each(servers, func(_ int, s *Server) error {
			return s.Execute(ctx, "SET SESSION lock_wait_timeout = 30", "DROP DATABASE "+name)
		}); err != nil {
			t.Error(err)
		}
	})
	return name
}

// Each does something at each of several servers, side by side.
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
