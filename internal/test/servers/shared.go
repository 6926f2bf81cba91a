package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// kind is an engine, with further options of the server's command line.
type kind struct {
	engine  Engine
	options string
}

// shared holds the servers that the tests of one program share.
var shared = struct {
	mu      sync.Mutex         // held while servers start and end
	dir     string             // empty unless a Runner runs
	starts  int                // number of starts so far; used in the name of the directory
	servers map[kind][]*Server // by kind, in the order in which they were started
}{servers: map[kind][]*Server{}}

// Shared returns the first n servers of an engine that all tests of the package share, and starts the missing
// ones. A test creates its own databases there, see [Database], and does not reconfigure the servers. Different
// args, further options of the command line, give different servers. Shared needs [Main], which ends the
// servers.
func Shared(t testing.TB, engine Engine, n int, args ...string) []*Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.dir == "" {
		t.Fatal("servers.Shared needs `func TestMain(m *testing.M) { servers.Main(m) }` in this package")
	}
	of := kind{engine, strings.Join(args, " ")}
	if have := len(shared.servers[of]); have < n {
		// Not the test's context, because the servers outlive this test.
		ctx := context.WithoutCancel(t.Context())
		shared.starts++
		dir := fmt.Sprintf("%s/%s%d", shared.dir, engine, shared.starts)
		started, err := start(ctx, find(t, engine), dir, have, n-have, args)
		shared.servers[of] = append(shared.servers[of], started...)
		if err != nil {
			t.Fatal(err)
		}
	}
	servers := shared.servers[of][:n:n]
	for _, s := range servers {
		if err := s.Err(); err != nil {
			t.Fatalf("a server that tests share is gone: %v", err)
		}
	}
	return servers
}

// Main runs the tests of a package that uses Shared, and exits the program.
func Main(m *testing.M) {
	os.Exit(Runner{m}.Run())
}

// Runner runs the tests of a package and then ends the shared servers. It replaces Main in a TestMain with
// further tasks, such as goleak.VerifyTestMain(servers.Runner{M: m}).
type Runner struct{ M interface{ Run() int } }

// Run returns the tests' exit code, or 1 if they passed but a shared server ended by itself.
func (r Runner) Run() int {
	home, err := makeHome(os.TempDir())
	if err != nil {
		fmt.Fprintln(os.Stderr, "directory for shared servers:", err)
		return 1
	}
	defer home.lock.Close()
	shared.dir = home.dir
	code := r.M.Run()
	if err := endShared(); err != nil {
		fmt.Fprintln(os.Stderr, "end the shared servers:", err)
		return max(code, 1)
	}
	return code
}

func endShared() error {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	var failed error
	for _, servers := range shared.servers {
		for _, s := range servers {
			failed = errors.Join(failed, s.end())
		}
	}
	clear(shared.servers)
	failed = errors.Join(failed, os.RemoveAll(shared.dir))
	shared.dir = ""
	return failed
}
