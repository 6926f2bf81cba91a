package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"locus/cmd/dbserver"
)

// Password is the password of every server's account. The word is unique, so that a search for it in a log or
// in a test's output finds every leaked password.
const Password = "sesame-4f1d0c7a92"

// bufferPool is the size of a test server's buffer pool. It is small, because tests run several servers.
const bufferPool = 64 << 20

// quick avoids disk flushes: a commit is written, but not flushed.
var quick = []string{"--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0"}

// Start starts n servers concurrently for this test only, and kills them when the test ends. If one ends by
// itself before, the test fails. args are further options of the server's command line.
func Start(t testing.TB, engine Engine, n int, args ...string) []*Server {
	t.Helper()
	started, err := start(t.Context(), find(t, engine), t.TempDir(), 0, n, args)
	t.Cleanup(func() {
		for _, s := range started {
			if err := s.end(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// start starts n servers in directories s<first>, s<first+1>, … of dir. With an error, it also returns the
// servers that did start.
func start(ctx context.Context, installation *dbserver.Installation, dir string, first, n int, args []string) ([]*Server, error) {
	type outcome struct {
		server *Server
		err    error
	}
	outcomes := make([]chan outcome, n)
	for i := range outcomes {
		s := &Server{
			User: "locus", Password: Password,
			installation: installation,
			options: dbserver.Options{
				Dir:        filepath.Join(dir, fmt.Sprintf("s%d", first+i)),
				BufferPool: bufferPool,
				Args:       append(quick[:len(quick):len(quick)], args...),
				Templates:  templates(),
			},
		}
		outcomes[i] = make(chan outcome, 1)
		go func() { outcomes[i] <- outcome{s, s.startWithUser(ctx)} }()
	}
	var started []*Server
	var failed error
	for _, pending := range outcomes {
		done := <-pending
		failed = errors.Join(failed, done.err)
		if done.server.Server != nil {
			started = append(started, done.server)
		}
	}
	return started, failed
}

func (s *Server) startWithUser(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	return s.CreateUser(ctx, dbserver.User{Name: s.User, Password: s.Password})
}

// end kills the server, and returns an error if it had ended by itself before.
func (s *Server) end() error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.Kill()
}

// templates returns the directory with freshly initialised servers: in the user's cache, or, if that is not
// writable, in the directory for temporary files. A user without a home has no cache.
func templates() string {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "locus", "servers")
		if os.MkdirAll(dir, 0o700) == nil {
			return dir
		}
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("locus-templates-%d", os.Getuid()))
}
