package plan

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"locus/router/stmt"
)

// TestCacheAgainstMap checks that the cache returns the last value put under a key, or nothing. A key that was used since half of
// the cache was filled must be present.
func TestCacheAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const entries = cacheShards * 8
		c := NewCache(entries)
		model := map[string]Plan{}
		var fresh []string // keys used last, the newest at the end
		key := rapid.IntRange(0, 3*entries)
		for range rapid.IntRange(0, 600).Draw(t, "steps") {
			k := fmt.Sprint("key ", key.Draw(t, "key"))
			if rapid.Bool().Draw(t, "put") {
				p := &Local{}
				c.Put([]byte(k), p)
				model[k] = p
				fresh = append(fresh, k)
				continue
			}
			got := c.Get([]byte(k))
			if got != nil && got != model[k] {
				t.Fatalf("%s has another plan than was put last", k)
			}
			if got != nil {
				fresh = append(fresh, k)
			}
		}
		if n := c.plans(); n > entries {
			t.Fatalf("%d plans in a cache of %d", n, entries)
		}
		for i := range c.shards {
			s := &c.shards[i]
			recent := map[string]bool{}
			for j := len(fresh) - 1; j >= 0 && len(recent) < s.most; j-- {
				if c.shardOf([]byte(fresh[j])) == s {
					recent[fresh[j]] = true
				}
			}
			for k := range recent {
				if c.Get([]byte(k)) == nil {
					t.Fatalf("%s was among the last %d of its part and is gone", k, s.most)
				}
			}
		}
	})
}

// plans returns the number of plans in the cache.
func (c *Cache) plans() int {
	n := 0
	for i := range c.shards {
		n += len(c.shards[i].young) + len(c.shards[i].old)
	}
	return n
}

func (c *Cache) bytes() int {
	n := 0
	for i := range c.shards {
		for _, generation := range []map[string]Plan{c.shards[i].young, c.shards[i].old} {
			for k := range generation {
				n += len(k)
			}
		}
	}
	return n
}

func TestCacheIsBounded(t *testing.T) {
	c := NewCache(64)
	if c.Put(bytes.Repeat([]byte("x"), longestKey+1), &Local{}); c.plans() != 0 {
		t.Error("a key that is too long was kept")
	}
	long := strings.Repeat("y", longestKey-10)
	for i := range 10_000 {
		c.Put(fmt.Appendf(nil, "%d %s", i, long), &Local{})
		c.Get(fmt.Appendf(nil, "%d %s", i/2, long))
	}
	if n := c.plans(); n > 64 || n == 0 {
		t.Errorf("%d plans in a cache of 64", n)
	}
	// Each generation of each part may contain one key that fills it.
	if most := 64*keyBytes + 2*cacheShards*longestKey; c.bytes() > most {
		t.Errorf("%d bytes of keys, at most %d should be kept", c.bytes(), most)
	}
}

func TestCacheGetAllocatesNothing(t *testing.T) {
	c, key := NewCache(100), []byte("select \x00\x01")
	c.Put(key, &Local{})
	if n := testing.AllocsPerRun(100, func() { c.Get(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCacheConcurrently gives the race detector something to check.
func TestCacheConcurrently(t *testing.T) {
	c := NewCache(32)
	plans := make([]Plan, 200)
	for i := range plans {
		plans[i] = &Local{}
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 5000 {
				n := (i*7 + g) % len(plans)
				key := fmt.Appendf(nil, "key %d", n)
				if p := c.Get(key); p != nil && p != plans[n] {
					t.Errorf("%s has another's plan", key)
					return
				}
				c.Put(key, plans[n])
			}
		})
	}
	wait.Wait()
}

func TestContextInKeys(t *testing.T) {
	keys := map[string]string{}
	for _, text := range []string{"select 1", "select 1 from a", "select `a`"} {
		for _, schema := range []string{"", "a", "b"} {
			for _, mode := range []stmt.Mode{0, stmt.AnsiQuotes, stmt.PipesConcat} {
				l := lexedText(text, mode)
				name := fmt.Sprint(text, " in ", schema, " mode ", mode)
				key := string(AppendContext(l.Key, schema, mode))
				if other := keys[key]; other != "" {
					t.Errorf("%s and %s have one key", name, other)
				}
				keys[key] = name
			}
		}
	}
}
