//go:build servers

package generators

import (
	"strconv"
	"testing"
	"time"

	"locus/idgen/snowflake"
	"locus/router/cluster"
)

// A snowflake counts from its epoch, with the worker of the process, and continues after one of Leaf's.
func TestSnowflakesOfOtherEpochs(t *testing.T) {
	s := New(Options{KV: newKV(), Name: "test", DataDir: t.TempDir(), Worker: snowflake.Options{First: 700, Last: 700}})
	defer s.Close()
	c := of(map[string]cluster.Generator{
		"flake": {Kind: cluster.SnowflakeGenerator}, "leaf": {Kind: cluster.SnowflakeGenerator, Epoch: "1288834974657"},
	})
	for name, start := range map[string]time.Time{"flake": snowflake.Epoch(), "leaf": time.UnixMilli(1288834974657)} {
		began := time.Now().Truncate(time.Millisecond)
		texts, err := s.Next(t.Context(), Request{Declared: c, Name: name, Count: 1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseUint(texts[0], 10, 63)
		if err != nil {
			t.Fatal(err)
		}
		if at, worker, _ := snowflake.Parts(n, start); worker != 700 || at.Before(began) || at.After(time.Now()) {
			t.Errorf("%s: %s, worker %d", name, at, worker)
		}
	}
	// Leaf's number of this moment, by worker 1023, is below the next one.
	leafs := uint64(time.Now().UnixMilli()-1288834974657)<<22 | 1023<<12 | 4095
	time.Sleep(2 * time.Millisecond)
	texts, err := s.Next(t.Context(), Request{Declared: c, Name: "leaf", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.ParseUint(texts[0], 10, 63); err != nil || n <= leafs {
		t.Errorf("%d after Leaf's %d, %v", n, leafs, err)
	}
	for _, status := range s.Status() {
		if left := status.Left["time"]; status.Name == "leaf" && (left > 0.8 || left < 0.1) {
			t.Errorf("%v of the milliseconds since 2010 are left", left)
		}
	}
}
