//go:build servers

package generators

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"locus/idgen/format"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

// The caller's value chooses the key, and does so in the same way in every process. The numbers for one value
// rise from request to request, and no number is returned twice, with several keys, servers, and parts of a
// cluster. With Redis down, numbers are still distinct.
func TestTheCallerChoosesTheKey(t *testing.T) {
	first, second := servers.Redis(t), servers.Redis(t)
	several := cluster.Servers{Several: []string{first.Addr, second.Addr}}
	parts := cluster.Servers{Several: servers.StartRedisCluster(t).Seeds(), Cluster: true}
	c := of(map[string]cluster.Generator{
		"keys":    {Kind: cluster.RedisGenerator, Server: first.Addr, Keys: 8, KeyBy: "context:class"},
		"servers": {Kind: cluster.RedisGenerator, Servers: several, Keys: 3, KeyBy: "context:class"},
		"parts":   {Kind: cluster.RedisGenerator, Servers: parts, Keys: 5, KeyBy: "context:class"},
		"text":    {Kind: cluster.FormatGenerator, Of: []string{"keys"}, Template: "{seq:9}"},
	})
	store := newKV()
	sets := []*Set{open(t, store), open(t, store)}
	for name := range c.Generators {
		seen, last := map[int]string{}, map[string]int{}
		one := func(i int, rises bool) {
			t.Helper()
			class := fmt.Sprint("order", i%6)
			texts, err := sets[i*7%11%2].Next(t.Context(), Request{Declared: c, Name: name, Count: 1 + i%3, Context: map[string]string{"class": class}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, text := range texts {
				n, err := strconv.Atoi(text)
				if err != nil || rises && n <= last[class] || seen[n] != "" {
					t.Fatalf("%s gave %s for %s after %d; it was given for %q, %v", name, text, class, last[class], seen[n], err)
				}
				seen[n], last[class] = class, n
			}
		}
		for i := range 200 {
			one(i, true)
		}
		spans := map[int]bool{}
		for n := range seen {
			spans[(n-1)/1000] = true
		}
		if len(spans) < 2 || len(spans) > 6 {
			t.Errorf("%s: 6 values use %d keys", name, len(spans))
		}
		if name == "keys" {
			continue
		}
		if _, err := sets[0].Next(t.Context(), Request{Declared: c, Name: name, Count: 1}); !errors.As(err, new(format.ValueError)) {
			t.Errorf("%s: without a value: %v", name, err)
		}
	}
	first.Kill()
	for i := range 40 {
		if _, err := sets[i%2].Next(t.Context(), Request{Declared: c, Name: "keys", Count: 1, Context: map[string]string{"class": "a"}}); err != nil {
			t.Errorf("with Redis down: %v", err)
		}
	}
}
