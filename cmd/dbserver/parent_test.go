//go:build servers

package dbserver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests below need a parent process that dies or is interrupted. The test's own program acts as the parent:
// with parentMode set, it starts a server of that engine in its working directory, prints the server's process
// ID, and stops the server on SIGINT.
const parentMode = "DBSERVER_TEST_PARENT"

// parentTemplates is the environment's word for the templates that the parent may use.
const parentTemplates = "DBSERVER_TEST_TEMPLATES"

func parent(engine string) int {
	interrupt, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	installation, err := Find(interrupt, Engine(engine), "")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	s, err := Start(interrupt, installation, Options{Dir: "server", Templates: os.Getenv(parentTemplates)})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(s.Pid())
	select {
	case <-interrupt.Done():
	case <-s.Done():
		fmt.Println("the server ended first:", s.Err())
		return 1
	}
	if err := s.Stop(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// startParent runs the parent in a process group of its own, as a shell runs a
// job, and returns its server's process ID once it is up. The parent's working
// directory is dir.
func startParent(t *testing.T, engine Engine, program, dir string, credential *syscall.Credential) (cmd *exec.Cmd, server int) {
	t.Helper()
	cmd = exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), parentMode+"="+string(engine))
	if credential == nil { // another user initialises its own server
		cmd.Env = append(cmd.Env, parentTemplates+"="+templates)
	}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	server, err = strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatalf("the parent of the server says %q, want a process ID", lines.Text())
	}
	return cmd, server
}

func self(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func TestAServerDiesWithItsParent(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		dir := t.TempDir()
		cmd, server := startParent(t, installation.Engine, self(t), dir, nil)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, server)
		// Its directory is free again at once, and its data is whole.
		s := run(t, installation, Options{Dir: filepath.Join(dir, "server")})
		mustExecute(t, s, "DO 1")
	})
}

func TestCtrlCStopsCleanly(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		dir := t.TempDir()
		cmd, server := startParent(t, installation.Engine, self(t), dir, nil)
		if group, err := syscall.Getpgid(server); err != nil || group != cmd.Process.Pid {
			t.Errorf("the server is in group %d (%v), its parent's is %d", group, err, cmd.Process.Pid)
		}
		interruptGroup(t, cmd)
		log, err := os.ReadFile(filepath.Join(dir, "server", "server.log"))
		if err != nil || !strings.Contains(string(log), "Shutdown complete") {
			t.Errorf("no clean shutdown (%v):\n%s", err, log)
		}
	})
}

// A machine's tests run as root in a container or as a plain user; as root,
// the other is tried here.
func TestAsAPlainUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then every other test is this one
	}
	engines(t, func(t *testing.T, installation *Installation) {
		dir, err := os.MkdirTemp("", "dbserver-plain-") // t.TempDir is root's alone
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		program := filepath.Join(dir, "parent")
		if out, err := exec.Command("cp", self(t), program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
		if err := os.Chown(dir, int(nobody.Uid), int(nobody.Gid)); err != nil {
			t.Fatal(err)
		}
		cmd, _ := startParent(t, installation.Engine, program, dir, nobody)
		interruptGroup(t, cmd)
	})
}

// interruptGroup simulates a Ctrl-C, after which the parent must end cleanly.
func interruptGroup(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the parent of the server: %v", err)
	}
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(pid, 0) == nil && !isZombie(pid) {
		select {
		case <-deadline:
			t.Fatalf("process %d outlives its parent", pid)
		case <-tick.C:
		}
	}
}

// isZombie reports whether a process has ended but was not reaped, as in a container without an init process.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}

// The kernel kills a child when the thread that started it ends. Here the thread that requests the server ends,
// and the server must survive.
func TestAServerOutlivesTheThreadThatAskedForIt(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		options := Options{Dir: t.TempDir(), Templates: templates}
		started := make(chan *Server, 1)
		thread := onThreadThatEnds(func() {
			s, err := Start(t.Context(), installation, options)
			if err != nil {
				t.Error(err)
			}
			started <- s
		})
		s := <-started
		if s == nil {
			return
		}
		t.Cleanup(func() { _ = s.Kill() })
		awaitEnd(t, thread)
		mustExecute(t, s, "DO 1")
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
}

// onThreadThatEnds runs f on a thread that ends with it, and returns the
// thread's ID. The first thread of a process never ends, so it is avoided.
func onThreadThatEnds(f func()) int {
	thread := make(chan int)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		if syscall.Gettid() == syscall.Getpid() {
			thread <- onThreadThatEnds(f)
			runtime.UnlockOSThread()
			return
		}
		f()
		thread <- syscall.Gettid()
	}()
	return <-thread
}
