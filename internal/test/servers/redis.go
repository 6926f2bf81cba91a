package servers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/internal/test/process"
)

// Process is a Redis or memcached server for one test. One goroutine uses it.
type Process struct {
	Addr string

	command []string
	log     string
	started *exec.Cmd
	ended   chan struct{} // closed when the process is gone
}

// Redis starts a Redis server that is killed when the test ends. It stores nothing on disk unless args enable
// that.
func Redis(t testing.TB, args ...string) *Process {
	t.Helper()
	return startProcess(t, "redis-server", func(dir, host, port string) []string {
		return append([]string{
			"--bind", host, "--port", port, "--dir", dir, "--save", "", "--daemonize", "no",
			"--repl-diskless-sync-delay", "0",
		}, args...)
	})
}

// Memcached starts a memcached that is killed when the test ends.
func Memcached(t testing.TB) *Process {
	t.Helper()
	return startProcess(t, "memcached", func(_, host, port string) []string {
		arguments := []string{"-l", host, "-p", port, "-U", "0"}
		if os.Getuid() == 0 {
			arguments = append(arguments, "-u", "nobody")
		}
		return arguments
	})
}

func startProcess(t testing.TB, program string, arguments func(dir, host, port string) []string) *Process {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v: test/install/servers.sh installs it", err)
	}
	dir := t.TempDir()
	for attempt := 0; ; attempt++ {
		host, port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		p := &Process{Addr: net.JoinHostPort(host, port), command: append([]string{path}, arguments(dir, host, port)...), log: filepath.Join(dir, program+".log")}
		err = p.start()
		if err == nil {
			t.Cleanup(p.Kill)
			return p
		}
		if attempt == 4 { // another program may have taken the port
			t.Fatal(err)
		}
	}
}

// freePort returns a free port below the range that the kernel uses for outgoing connections, so that no
// connection takes it while the server is being restarted.
func freePort() (host, port string, err error) {
	host = "127.0.0.1"
	for range 100 {
		port = strconv.Itoa(20_000 + rand.IntN(12_000))
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
			return host, port, l.Close()
		}
	}
	return "", "", err
}

// Port returns a free port of 127.0.0.1 for a server that is restarted on it.
func Port(t testing.TB) string {
	t.Helper()
	_, port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (p *Process) start() error {
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	command := exec.Command(p.command[0], p.command[1:]...)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ended := make(chan struct{})
	if err := process.Spawn(command, func() {}, func(error) { close(ended) }); err != nil {
		return err
	}
	p.started, p.ended = command, ended
	return p.answers()
}

// answers waits until the server accepts connections and answers.
func (p *Process) answers() error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := p.ping()
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			said, _ := os.ReadFile(p.log)
			return fmt.Errorf("%s ended: %s", p.command[0], said)
		case <-time.After(5 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			p.Kill()
			return fmt.Errorf("%s does not answer: %w", p.command[0], err)
		}
	}
}

// ping sends a request that both kinds answer: PING to Redis, version to memcached.
func (p *Process) ping() error {
	question, answer := "PING\r\n", "+PONG"
	if strings.HasSuffix(p.command[0], "memcached") {
		question, answer = "version\r\n", "VERSION"
	}
	said, err := p.Ask(question)
	if err == nil && !strings.HasPrefix(said, answer) {
		err = fmt.Errorf("it says %q", said)
	}
	return err
}

// Ask sends text and returns the first data of the answer.
func (p *Process) Ask(question string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte(question)); err != nil {
		return "", err
	}
	buffer := make([]byte, 4096)
	n, err := conn.Read(buffer)
	return string(buffer[:n]), err
}

// Do sends Redis a command of plain words and returns the first line of the answer.
func (p *Process) Do(words ...string) (string, error) {
	said, err := p.Ask(strings.Join(words, " ") + "\r\n")
	line, _, _ := strings.Cut(said, "\r\n")
	if err == nil && strings.HasPrefix(line, "-") {
		err = errors.New(line)
	}
	return line, err
}

// Kill kills the server with SIGKILL and waits for its end.
func (p *Process) Kill() {
	_ = p.started.Process.Kill()
	<-p.ended
}

// Stop sends SIGSTOP, and Continue sends SIGCONT.
func (p *Process) Stop()     { _ = p.started.Process.Signal(syscall.SIGSTOP) }
func (p *Process) Continue() { _ = p.started.Process.Signal(syscall.SIGCONT) }

// Restart starts the server again after Kill, on its port and in its directory.
func (p *Process) Restart() error {
	<-p.ended
	return p.start()
}
