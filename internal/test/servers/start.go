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

// Password is that of every server's account: a word that stands nowhere else, so that
// who finds it in a log or in a test's output knows that a secret was told.
const Password = "sesame-4f1d0c7a92"

// bufferPool of a test's server is small: tests run several.
const bufferPool = 64 << 20

// quick spares the disk: a commit is written, not flushed.
var quick = []string{"--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0"}

// Start starts n servers for this test alone, side by side, and kills them when
// it ends. One that ends by itself meanwhile fails the test. args are further
// options of the server's command line.
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

// start starts n servers in directories s<first>, s<first+1>, … of dir. The
// servers that did start are returned beside the error about those that did not.
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

// end kills the server, and tells if it had ended before without being asked.
func (s *Server) end() error {
	if err := s.Err(); err != nil {
		return err
	}
	return s.Kill()
}

// templates is where the machine keeps freshly initialised servers: the user's
// cache, or where that can't be written, as for a user without a home, the
// directory for temporary files.
func templates() string {
	if cache, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(cache, "locus", "servers")
		if os.MkdirAll(dir, 0o700) == nil {
			return dir
		}
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("locus-templates-%d", os.Getuid()))
}
