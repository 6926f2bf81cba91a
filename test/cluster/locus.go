package cluster

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"locus/test/product"
)

// binary builds the binary once in a process.
var binary = sync.OnceValues(func() (string, error) { return product.Build("") })

// Binary returns the path of the binary that ships, which is built when it is needed first.
func (c *Cluster) Binary() string {
	c.t.Helper()
	path, err := binary()
	if err != nil {
		c.t.Fatal(err)
	}
	return path
}

// limit bounds a command. Commands that wait for a job have limits of their own, which are lower.
const limit = 5 * time.Minute

// Locus runs a command of the binary and returns what it printed.
func (c *Cluster) Locus(args ...string) (string, error) {
	c.t.Helper()
	locus := c.Binary()
	c.locusOnce.Do(func() { c.Write("locus.yaml", c.config("locus")) })
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, locus, append(args, "-c", c.Path("locus.yaml"))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // SIGQUIT makes it print its goroutines
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// MustLocus is Locus of a command that may not fail.
func (c *Cluster) MustLocus(args ...string) string {
	c.t.Helper()
	out, err := c.Locus(args...)
	if err != nil {
		c.t.Fatalf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
