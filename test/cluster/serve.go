package cluster

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/product"
)

// Served is the binary that ships, run as a proxy and mover of a cluster. It has no stop points.
type Served struct {
	*product.Program
	Addr string // where clients connect

	page string // the address of its HTTP pages
}

// Serve runs the binary that ships and waits until it is ready. Its files have the given name.
func (c *Cluster) Serve(name string) *Served {
	c.t.Helper()
	s := &Served{Addr: process.FreeAddr(c.t), page: process.FreeAddr(c.t)}
	config := c.config(name) + "proxy: {listen: \"" + s.Addr + "\", drain_delay: 0s}\nhttp: {listen: \"" + s.page + "\"}\n"
	c.Write(name+".yaml", config)
	s.Program = product.NewProgram(c.t, c.dir, name, c.Binary(), "serve", "-c", c.Path(name+".yaml"))
	s.Start(c.t)
	s.AwaitReady(c.t)
	return s
}

// AwaitReady waits until the process accepts clients.
func (s *Served) AwaitReady(t *testing.T) {
	t.Helper()
	product.Eventually(t, s.Name+" is ready", func() bool {
		r, err := http.Get("http://" + s.page + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

// config returns the part of a process's file that all processes of the cluster have alike, but for the directory of its data.
func (c *Cluster) config(name string) string {
	c.t.Helper()
	if _, err := os.Stat(c.Path("secrets")); err != nil {
		c.Write("secrets/shard", servers.Password)
		c.Write("secrets/"+User, servers.Password)
	}
	lines := []string{
		"cluster: " + c.name, `etcd: {endpoints: ["http://` + c.Etcd.reached() + `"]}`,
		`secrets: {dir: "` + c.Path("secrets") + `"}`, `data_dir: "` + c.Path("data-of-"+name) + `"`,
	}
	if c.keyRing != "" {
		c.Write("keys.yaml", c.keyRing)
		lines = append(lines, `key_ring: "`+c.Path("keys.yaml")+`"`)
	}
	return strings.Join(lines, "\n") + "\n"
}
