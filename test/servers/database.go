package servers

import (
	"context"
	"fmt"
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
	name := fmt.Sprintf("test_%d", databases.Add(1))
	for _, s := range servers {
		s.Exec(t, "CREATE DATABASE "+name)
		t.Cleanup(func() {
			// The test's context is done by now.
			if err := s.Execute(context.WithoutCancel(t.Context()), "SET SESSION lock_wait_timeout = 30", "DROP DATABASE "+name); err != nil {
				t.Errorf("%s at %s: %v", s.Engine(), s.Addr(), err)
			}
		})
	}
	return name
}
