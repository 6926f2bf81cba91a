package cluster

import (
	"os"
	"strings"
	"testing"
)

func TestFailTogether(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Split(string(text), "\ngenerators:")[0])
	for _, c := range []struct{ generators, want string }{
		{"a: {kind: row, shards: [s0]}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", "generator h: all of its 2 members stop with shard s0"},
		{"a: {kind: row, shards: [s0]}, b: {kind: row, shards: [s1]}, h: {kind: ha, of: [a, b]}", ""},
		{"a: {kind: row, shards: [s0]}, b: {kind: row, shards: [s1]}, d: {kind: row, shards: [s0]}, e: {kind: row, shards: [s1]}, h: {kind: ha, of: [a, b, d, e]}", ""},
		{"a: {kind: segment}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", ""},
		{"a: {kind: segment}, b: {kind: segment, store: {mysql: {shard: s0}}}, h: {kind: ha, of: [a, b]}", "generator h: all of its 2 members stop with etcd: give it one that needs another server"},
		{"a: {kind: segment, store: {mysql: {shard: s0}}}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", "stop with shard s0"},
		{"a: {kind: redis, server: 'r1:6379'}, b: {kind: segment}, h: {kind: ha, of: [a, b]}", "stop with etcd"},
		{"a: {kind: buckets, server: 'r1:6379'}, b: {kind: buckets, server: 'r1:6379'}, h: {kind: ha, of: [a, b]}", "stop with machine r1, and with the server at r1:6379"},
		{"a: {kind: buckets, server: 'r1:6379'}, b: {kind: buckets, server: 'r1:6380'}, h: {kind: ha, of: [a, b]}", "stop with machine r1: "},
		{"a: {kind: buckets, server: 'r1:6379'}, b: {kind: buckets, servers: ['r1:6379', 'r2:6379']}, h: {kind: ha, of: [a, b]}", ""},
		{"a: {kind: memcached, server: 'm1:11211'}, b: {kind: segment}, h: {kind: ha, of: [a, b]}", "stop with etcd"},
		{"a: {kind: snowflake}, b: {kind: segment}, h: {kind: format, of: [b], template: '{seq}'}", ""},
		{"a: {kind: row, shards: [s0]}, q: {kind: queue, of: [a]}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [q, b]}", "generator h: all of its 2 members stop with shard s0"},
		{"a: {kind: row, store: {mysql: {shard: s0, table: shop.t, value: n}}}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", "stop with shard s0"},
		{"a: {kind: row, store: {mysql: {shard: s1, table: shop.t, value: n}}}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", ""},
		{"a: {kind: auto_increment, shards: [s0, s0]}", "generator a: all of its 2 members stop with shard s0"},
		{"a: {kind: auto_increment, shards: [s0, s1]}", ""},
		{"a: {kind: auto_increment, shards: [s0]}", ""},
		{"a: {kind: auto_increment, shards: [s0, s1]}, b: {kind: row, shards: [s0]}, h: {kind: ha, of: [a, b]}", ""},
	} {
		cluster, err := Parse([]byte(string(text) + "\ngenerators: {" + c.generators + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(cluster.FailTogether(nil), "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.generators, got, c.want)
		}
		if got := cluster.FailTogether(cluster); len(got) > 0 {
			t.Errorf("%s, unchanged: %q", c.generators, got)
		}
	}
}
