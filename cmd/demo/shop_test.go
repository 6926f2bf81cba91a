package demo

import (
	"fmt"
	"testing"

	"locus/config"
	"locus/router"
	"locus/router/cluster"
)

func declaredFor(t *testing.T, owning, spare []router.ShardName) *cluster.Cluster {
	t.Helper()
	addresses := map[router.ShardName][]string{}
	for i, name := range append(owning[:len(owning):len(owning)], spare...) {
		addresses[name] = []string{fmt.Sprintf("127.0.0.1:%d", 1000+i)}
	}
	c, err := declare(owning, spare, addresses)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDeclareGivesEqualRanges(t *testing.T) {
	c := declaredFor(t, []router.ShardName{"s0", "s1"}, []router.ShardName{"s2"})
	if got, want := c.Routes.String(), "0x0000..0x7fff  s0\n0x8000..0xffff  s1\n"; got != want {
		t.Errorf("routes are\n%s", got)
	}
	if len(c.Shards) != 3 || len(c.Tables) != 4 || c.Settings.DefaultShard != "s0" {
		t.Errorf("shards %v, tables %v, settings %v", c.Shards, c.Tables, c.Settings)
	}
}

func TestProxyConfigurations(t *testing.T) {
	d := open(t, t.TempDir())
	o := Default()
	o.Proxies = 8
	for i, listen := range []string{"127.0.0.1:8306", ""} {
		text, err := d.proxyConfig(o, i, "127.0.0.1:4306", "127.0.0.1:2379", "keys.yaml")
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.HTTP.Listen != listen || c.Prefix() != prefix() || c.Backends.MaxConnectionsPerShard != 50 {
			t.Errorf("proxy %d: %+v", i, c)
		}
	}
}
