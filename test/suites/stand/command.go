package stand

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Command is a program that runs a suite.
type Command struct {
	Dir   string
	Env   []string // in addition to the test's own environment
	Args  []string // the program first
	Stdin string
	Limit time.Duration // after which it is killed with all it started
}

// Output runs the program and returns its standard output and error together. A non-zero exit status is no
// failure, because suites return one if a case fails. It is a failure if the program can't be started or takes
// too long. If the test fails, the output is kept, and the test logs where.
func (c Command) Output(t testing.TB) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, append(os.Environ(), c.Env...), strings.NewReader(c.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // because children of a killed program may keep the pipes open
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	keep(t, c.Args, out.Bytes())
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Errorf("%s: not done within %s", strings.Join(c.Args, " "), c.Limit)
	case err != nil && !errors.As(err, &exit):
		t.Fatalf("%s: %v", strings.Join(c.Args, " "), err)
	}
	return out.Bytes()
}

// keep writes a program's output to a file if the test fails.
func keep(t testing.TB, args []string, out []byte) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		f, err := os.CreateTemp("", "locus-suite-"+filepath.Base(args[0])+"-*.log")
		if err == nil {
			_, err = fmt.Fprintf(f, "%s\n%s", strings.Join(args, " "), out)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Logf("keep the output: %v", err)
			return
		}
		t.Logf("output of %s: %s", filepath.Base(args[0]), f.Name())
	})
}
