package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"locus/internal/test/process"
	"locus/internal/test/servers"
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

// Locus runs a command of the binary and returns what it printed.
func (c *Cluster) Locus(args ...string) (string, error) {
	c.t.Helper()
	if _, err := os.Stat(c.Path("locus.yaml")); err != nil {
		c.Write("secrets/shard", c.Shards[0].Password)
		c.Write("secrets/app", servers.Password)
		c.Write("locus.yaml", fmt.Sprintf("cluster: %s\netcd: {endpoints: [%q]}\nsecrets: {dir: %q}\n", c.name, "http://"+c.Etcd.Addr(), c.Path("secrets")))
	}
	locus := c.Binary()
	ctx, cancel := context.WithTimeout(c.t.Context(), process.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, locus, append(args, "-c", c.Path("locus.yaml"))...).CombinedOutput()
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
