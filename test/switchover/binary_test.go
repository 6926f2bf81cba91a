package switchover

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"locus/internal/test/process"
	"locus/internal/test/servers"
)

// built is where binary puts it; empty: nobody has asked for it.
var built string

// binary is what operators use, built once.
var binary = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "locus-binary-"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "locus")
	if out, err := exec.Command("go", "build", "-o", path, "locus/cmd/locus").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// locus runs a command of the binary against the cluster, and gives what it says.
func (s *stand) locus(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := binary()
	must(t, err)
	if s.config == "" {
		dir := t.TempDir()
		s.config = filepath.Join(dir, "locus.yaml")
		must(t, os.WriteFile(filepath.Join(dir, "x"), []byte(servers.Password), 0o600))
		must(t, os.WriteFile(s.config, fmt.Appendf(nil, "cluster: test\netcd: {endpoints: [%q]}\nsecrets: {dir: %q}\n", s.etcd.Addr(), dir), 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "-c", s.config)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it tells then where it hangs
	out, err := cmd.CombinedOutput()
	t.Logf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	return string(out), err
}

// says wants a command to end well, and to say something.
func (s *stand) says(t *testing.T, what string, args ...string) string {
	t.Helper()
	out, err := s.locus(t, args...)
	if err != nil || !strings.Contains(out, what) {
		t.Fatalf("locus %s: %v\n%s\nit lacks %q", strings.Join(args, " "), err, out, what)
	}
	return out
}

// refuses wants a command to end with an error, and to say something.
func (s *stand) refuses(t *testing.T, what string, args ...string) {
	t.Helper()
	out, err := s.locus(t, args...)
	if err == nil || !strings.Contains(out, what) {
		t.Fatalf("locus %s: %v\n%s\nit lacks %q", strings.Join(args, " "), err, out, what)
	}
}
