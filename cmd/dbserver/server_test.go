//go:build servers

package dbserver

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAFreshServerIsFitToBeAShard(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		want := map[string]string{
			"binlog_format":    "ROW",
			"binlog_row_image": "FULL",

			"character_set_server":    "utf8mb4",
			"max_connections":         "500",
			"innodb_buffer_pool_size": "134217728",
			"log_bin = 1":             "1",
			"performance_schema = 0":  "1",
		}
		if installation.Engine == MySQL {
			want["gtid_mode"] = "ON"
			want["enforce_gtid_consistency"] = "ON"
		}
		for variable, value := range want {
			if got := ask(t, s, "SELECT CAST(@@"+variable+" AS CHAR)"); got != value {
				t.Errorf("%s is %s, want %s", variable, got, value)
			}
		}
		if version := ask(t, s, "SELECT VERSION()"); !strings.Contains(version, strings.Split(installation.Version, "-")[0]) {
			t.Errorf("the server is %s, the installation %s", version, installation.Version)
		}
	})
}

func TestOnlyRootIsThereAndOnlyThroughTheSocket(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		accounts := ask(t, s, `SELECT GROUP_CONCAT(CONCAT(user, '@', host)) FROM mysql.user
			WHERE user NOT LIKE 'mysql.%' AND user NOT LIKE 'mariadb.%'`)
		if accounts != "root@localhost" {
			t.Errorf("accounts are %s, want root@localhost alone", accounts)
		}
		if err := login(t, tcp(s, "root", "")); err == nil {
			t.Error("root can log in by TCP without a password")
		}
		info, err := os.Stat(s.Dir())
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory is %v, %v; want it to be its owner's alone", info.Mode(), err)
		}
	})
}

func TestServersOfOneTemplateAreDistinct(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		shared := t.TempDir()
		const count = 3
		started := make(chan *Server, count)
		for range count {
			dir := t.TempDir()
			go func() {
				s, err := Start(t.Context(), installation, Options{Dir: dir, Templates: shared})
				if err != nil {
					t.Error(err)
				}
				started <- s
			}()
		}
		seen := map[string]bool{}
		for range count {
			s := <-started
			if s == nil {
				continue
			}
			t.Cleanup(func() { _ = s.Kill() })
			seen[ask(t, s, "SELECT @@server_id")] = true
			seen[s.Addr()] = true
			if installation.Engine == MySQL {
				seen[ask(t, s, "SELECT @@server_uuid")] = true
			}
		}
		want := count * 2
		if installation.Engine == MySQL {
			want = count * 3
		}
		if len(seen) != want {
			t.Errorf("server IDs, UUIDs and addresses of %d servers: %v", count, seen)
		}
		left, err := filepath.Glob(filepath.Join(shared, "*.new"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestStopAndStartContinues(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		id := ask(t, s, "SELECT @@server_id")
		mustExecute(t, s, "CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (7)")
		stop(t, s)
		select {
		case <-s.Done():
		default:
			t.Error("not done after Stop")
		}
		if err := s.Err(); err != nil {
			t.Errorf("an end that was asked for is an error: %v", err)
		}
		stop(t, s) // again is nothing

		s = run(t, installation, Options{Dir: s.Dir()})
		if a := ask(t, s, "SELECT a FROM d.t"); a != "7" {
			t.Errorf("row is %s after a restart", a)
		}
		if again := ask(t, s, "SELECT @@server_id"); again != id {
			t.Errorf("server ID was %s and is %s", id, again)
		}
	})
}

func TestKilledServerRecovers(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		mustExecute(t, s, "CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (7)")
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		s = run(t, installation, Options{Dir: s.Dir(), Port: s.Port()})
		if a := ask(t, s, "SELECT a FROM d.t"); a != "7" {
			t.Errorf("row is %s after kill -9", a)
		}
	})
}

func TestAnEndNobodyAskedForIsReported(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		if err := syscall.Kill(s.Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-s.Done()
		if err := s.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("error is %v, want one that says killed", err)
		}
	})
}

func TestPausedServerHangsAndStops(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		if err := s.Pause(); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := s.Execute(short, "DO 1"); err == nil {
			t.Error("a paused server answers")
		}
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
		mustExecute(t, s, "DO 1")
		if err := s.Pause(); err != nil {
			t.Fatal(err)
		}
		stop(t, s)
	})
}

func TestStopThatTakesTooLongKills(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Stop(over); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "killed") {
			t.Errorf("error is %v, want one that says killed and why", err)
		}
		<-s.Done()
	})
}

func TestADeepDirectoryGetsAShortSocket(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{Dir: filepath.Join(t.TempDir(), strings.Repeat("deep", 30))})
		mustExecute(t, s, "DO 1")
		if len(s.Socket()) > longestSocket {
			t.Errorf("socket is %s, too long", s.Socket())
		}
		stop(t, s)
		if _, err := os.Stat(filepath.Dir(s.Socket())); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket's directory is left behind: %v", err)
		}
	})
}

func TestADirectoryHasOneServer(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := Start(short, installation, Options{Dir: s.Dir()})
		if !errors.Is(err, errLocked) || !strings.Contains(err.Error(), "(process ") {
			t.Errorf("a second server in %s: %v", s.Dir(), err)
		}
		mustExecute(t, s, "DO 1")
	})
}

func TestAPortThatIsTakenIsSaid(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		port := listener.Addr().(*net.TCPAddr).Port
		_, err = Start(t.Context(), installation, Options{Dir: t.TempDir(), Port: port, Templates: templates})
		if !errors.Is(err, errPortTaken) {
			t.Errorf("error is %v, want %v", err, errPortTaken)
		}
	})
}

func TestABadOptionIsExplainedByTheServersOwnWords(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		_, err := Start(t.Context(), installation, Options{Dir: t.TempDir(), Templates: templates, Args: []string{"--no-such-option=1"}})
		if err == nil || !strings.Contains(err.Error(), "no-such-option") || strings.Contains(err.Error(), "deadline") {
			t.Errorf("error is %v, want the server's words", err)
		}
	})
}

func TestInitialisingAgainAfterAnInterruption(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		interrupted := make(chan error)
		go func() {
			_, err := Start(ctx, installation, Options{Dir: dir})
			interrupted <- err
		}()
		awaitFile(t, filepath.Join(dir, "data.new", "ibdata1"))
		cancel()
		if err := <-interrupted; !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v, want %v", err, context.Canceled)
		}
		if _, err := os.Stat(filepath.Join(dir, "data")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("half a data directory is taken for a whole one: %v", err)
		}
		s, err := Start(t.Context(), installation, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		mustExecute(t, s, "DO 1")
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
	})
}

// awaitFile polls for a file that another process makes.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s does not appear", path)
		case <-tick.C:
		}
	}
}
