package cluster

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"locus/router"
	"locus/router/catalog"
)

func good(t *testing.T) *Cluster {
	t.Helper()
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseFillsInDefaults(t *testing.T) {
	c := good(t)
	want := Settings{GeneBits: 16, Hash: "xxhash64^murmur64", CounterGroups: 256, DefaultShard: "s0"}
	if c.Settings != want {
		t.Errorf("settings are %+v, want %+v", c.Settings, want)
	}
	if got := c.Shards["s0"].TLS; got != TLSOff {
		t.Errorf("tls of s0 is %q, want off", got)
	}
	if got := c.Shards["s10"].TLS; got != TLSOn {
		t.Errorf("tls of s10 is %q, want on", got)
	}
	if got, want := c.Routes.String(), "0x0000..0x7fff  s0\n0x8000..0xffff  s1\n"; got != want {
		t.Errorf("routes are\n%swant\n%s", got, want)
	}
	names := c.ShardNames()
	if len(names) != 4 || names[2] != "s2" || names[3] != "s10" {
		t.Errorf("shards in the order %v", names)
	}
}

func TestFormatIsReadBack(t *testing.T) {
	c := good(t)
	c.Stamp = router.Stamp{By: "anna", Why: "two\nlines"}
	again, err := Parse(Format(c))
	if err != nil {
		t.Fatalf("%v in\n%s", err, Format(c))
	}
	again.Stamp = c.Stamp
	if a, b := string(Format(again)), string(Format(c)); a != b {
		t.Errorf("formatted again:\n%s\nfirst:\n%s", a, b)
	}
	if changes, err := Diff(c, again); err != nil || changes != nil {
		t.Errorf("differences %v, %v", changes, err)
	}
}

// Each file is good.yaml with one text replaced.
func TestParseRefuses(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"schema: 1", "schema: 2\nfuture: yes", "schema 2 is newer than 1, which this build reads: upgrade locus"},
		{"schema: 1", "schema: 0", "schema 0: schemas begin at 1"},
		{"gene_bits: 16", "gene_bitz: 16", `line 4: unknown field "gene_bitz": did you mean gene_bits?`},
		{"kind: single, shard: s0", "kind: singel, shard: s0", "it is one of sharded, global, single: did you mean single?"},
		{"gene_bits: 16", "gene_bits: many", "line 4: text `many` is not expected here"},
		{"gene_bits: 16", "gene_bits: 17", "settings: gene_bits 17: use 14, 15, 16 or 23"},
		{"gene_bits: 16", "gene_bits: 23", "routes, lines 31 to 34: the last bound is 0x00ffff and not 0x7fffff"},
		{"gene_bits: 16", "hash: md5", `settings: hash "md5": this build computes xxhash64^murmur64 and no other`},
		{"gene_bits: 16", "counter_groups: 65537", "settings: counter_groups 65537: use 1 to 65536"},
		{"gene_bits: 16", "rotate_keys_every: 90", `settings: rotate_keys_every "90": write a number of days from 1d to 3650d, such as 90d`},
		{"gene_bits: 16", "rotate_keys_every: 0d", `settings: rotate_keys_every "0d": write a number of days`},
		{"gene_bits: 16", "rotate_keys_every: 90h", `settings: rotate_keys_every "90h": write a number of days`},
		{"gene_bits: 16", "default_shard: s7", `settings: default_shard "s7": no such shard is declared`},
		{"127.0.0.1:3310", "127.0.0.1", `shard s0: address "127.0.0.1": write host:port`},
		{"127.0.0.1:3310", "127.0.0.1:3311", "shard s1: address 127.0.0.1:3311 is shard s0's: two shards can't be one server"},
		{"secret: shards/s0}", "user: x}", `line 6: mapping key "user" already defined at line 6`},
		{"secret: shards/s0}", "secret: a}\n  s7: {address: a:1, user: ' a', secret: a}", `shard s7: user " a": spaces around it`},
		{"secret: shards/s0}", "tls: off}", "shard s0: secret is missing: give the name"},
		{"secret: shards/s0}", "secret: 'top secret!'}", "shard s0: secret holds no name"},
		{"tls: on", "tls: maybe", `shard s10: tls "maybe": use off, on or verify`},
		{"tls: verify", "tls: on", "shard s1: ca is for tls: verify, this is tls: on"},
		{"  s10:", "  -10:", `shards: shard name "-10"`},
		{"  s10:", "  s1:", `mapping key "s1" already defined at line 7`},
		{"shop.product", "product", `tables: table name "product": write it as schema.table`},
		{"{kind: global}", "{kind: everywhere}", `table shop.product: kind "everywhere": it is one of sharded, global, single`},
		{"{kind: global}", "", `table shop.product: kind "": it is one of sharded, global, single`},
		{"kind: single, shard: s0", "kind: single, shard: s9", `table shop.setting: shard "s9": no such shard is declared`},
		{"layout: int64}\n    order_number", "layout: int63}\n    order_number", `table shop.test_order: column order_id: no layout is named "int63"`},
		{"layout: int64}\n    order_number", "layout: int64-14}\n    order_number", "table shop.test_order: column order_id: layout int64-14 has 14 bits of gene and the cluster routes by 16"},
		{"layout: int64}\n    order_number", "layout: int64, segments: {store: {mysql: {shard: s9}}}}\n    order_number", `table shop.test_order: segments: store on shard "s9": no such shard is declared: name one of [s0 s1 s2 s10]`},
		{"layout: int64}\n    order_number", "layout: int64, segments: {store: {}}}\n    order_number", "table shop.test_order: column order_id: segments: store: name one, such as {mysql: {shard: s0}}, or leave `store:` out"},
		{"layout: int64}\n    order_number", "layout: int64, segments: {store: {mysql: {}}}}\n    order_number", "table shop.test_order: column order_id: segments: store: mysql: its table is on a shard: give `shard:`"},
		{"layout: int64}\n    order_number", "layout: int64, segments: {store: {mysql: {shard: ''}}}}\n    order_number", "table shop.test_order: column order_id: segments: store: mysql: its table is on a shard: give `shard:`"},
		{"layout: int64}\n    order_number", "layout: int64, segments: {store: {mysql: {sharp: s0}}}}\n    order_number", `unknown field "sharp"`},
		{"app: {secret: users/app}", "app: {}", "user app: no secret: give `secret:`"},
		{"app: {secret: users/app}", "app: {secret: a, authentication_string: b}", "user app: give secret or authentication_string, one of the two"},
		{"*2470C0", "*", "user report: authentication_string is neither"},
		{"  app:", `  "a/b":`, `users: name "a/b": use 1 to 80 letters`},
		{"0xffff s1", "0xfffe s1", "routes, lines 31 to 34: the last bound is 0xfffe and not 0xffff: genes 0xffff..0xffff would have no shard"},
		{"0xffff s1", "0xffff s1 s2", `line 34: "0xffff s1 s2": write the last gene of a range in hex and a shard, like 0x7fff s0`},
		{"0xffff s1", "0x7fff s1", "entry 2: bound 0x7fff of s1 is the bound of the entry before, too, which has s0"},
		{"0xffff s1", "0xffff s9", "routes: unknown shard s9 owns 0x8000-0xffff"},
		{"routes: |\n  0x7fff s0\n\n  # the other half\n  0xffff s1\n", "routes: |\n", "routes: none: give every gene a shard, for a cluster of one shard: 0xffff s0"},
		{"routes: |\n", "routes: {}\nmore: |\n", "line 30: routes are a text that begins with | or a list"},
		{"routes: |", "---\nroutes: |", "a second document begins here"},
	} {
		if n := strings.Count(string(text), c.old); n != 1 {
			t.Fatalf("%q stands %d times in good.yaml", c.old, n)
		}
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if _, err := Parse([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: error is\n  %v\nand not\n  %s", c.new, c.old, err, c.want)
		}
	}
}

// Each line is good.yaml with one more generator.
func TestGeneratorsRefused(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ generator, want string }{
		{"a: {kind: row, shards: [s0]}", ""},
		{"a: {kind: row, shards: [s0], lock: local}", ""},
		{"a: {kind: row, shards: [s0], lock: redis, server: 'redis:6379', secret: redis}", ""},
		{"a: {kind: auto_increment, shards: [s0]}", ""},
		{"a: {kind: auto_increment, shards: [s0, s1, s0, s2]}", ""},
		{"a: {kind: rows}", `generator a: kind "rows": use segment,`},
		{"a: {kind: row}", "generator a: shards: 0: a row is on one shard, such as [s0]"},
		{"a: {kind: row, shards: [s0, s1]}", "generator a: shards: 2: a row is on one shard"},
		{"a: {kind: row, shards: [s9]}", `generator a: shard "s9": no such shard is declared`},
		{"a: {kind: row, shards: [s0], lock: remote}", `generator a: lock "remote": use local or redis`},
		{"a: {kind: row, shards: [s0], lock: redis}", "generator a: lock: redis and server, its host:port, go together"},
		{"a: {kind: row, shards: [s0], lock: local, server: 'redis:6379'}", "generator a: lock: redis and server, its host:port, go together"},
		{"a: {kind: row, shards: [s0], bits: 3}", "generator a: bits 3: kind queue takes 0 to 20"},
		{"a: {kind: auto_increment}", "generator a: shards: 0: a table for each, which are 1, 2, 4 … 1024"},
		{"a: {kind: auto_increment, shards: [s0, s1, s0]}", "generator a: shards: 3: a table for each"},
		{"a: {kind: auto_increment, shards: [s0], server: 'redis:6379'}", "generator a: server: kind auto_increment has none"},
		{"a: {kind: auto_increment, shards: [s0], lock: local}", "generator a: lock: kind auto_increment has none"},
		{strings.Repeat("a", 49) + ": {kind: auto_increment, shards: [s0]}", "a name of 49 characters: tables are named after it: use at most 48"},
		{"a: {kind: segment, store: {mysql: {shard: s0}}}", ""},
		{"a: {kind: segment, server: 'redis:6379', store: {mysql: {shard: s0, table: billing.alloc, tag: order}}}", ""},
		{"a: {kind: redis, server: 'redis:6379', store: {mysql: {shard: s0}}}", ""},
		{"a: {kind: memcached, server: 'memcached:11211', store: {mysql: {shard: s0, table: billing.alloc}}}", ""},
		{"a: {kind: segment, store: {}}", "generator a: store: name one, such as {mysql: {shard: s0}}; left out it is etcd"},
		{"a: {kind: segment, store: {mysql: {}}}", "generator a: store: a table of MySQL is on a shard: give `shard:`"},
		{"a: {kind: segment, store: {oracle: {shard: s0}}}", `unknown field "oracle"`},
		{"a: {kind: segment, store: {mysql: {shard: s9}}}", `generator a: shard "s9": no such shard is declared`},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: alloc}}}", `generator a: store: table "alloc": write schema.table`},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: 'a.b;c'}}}", `generator a: store: table "a.b;c": write schema.table`},
		{"a: {kind: segment, store: {mysql: {shard: s0, tag: order}}}", "generator a: store: a tag is a row of a table that is there: give `table:` too"},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: a.b, tag: " + strings.Repeat("t", 129) + "}}}", "generator a: store: a tag of 129 bytes: biz_tag has room for 128"},
		{"a: {kind: row, shards: [s0], store: {mysql: {shard: s0}}}", "generator a: shards: its row is the one of `store:`"},
		{"a: {kind: segment, shards: [s0]}", "generator a: shards: kind segment has none"},
		{"a: {kind: auto_increment, shards: [s0, s1], limits: {slow: 50ms, strikes: 2, within: 5s, timeout: 2s, aside: 1s}}", ""},
		{"a: {kind: segment, limits: {slow: 50ms}}", "generator a: limits: kind segment has none"},
		{"a: {kind: auto_increment, shards: [s0], limits: {slow: soon}}", `generator a: limits: slow "soon": write a duration from 1ms to 1h`},
		{"a: {kind: auto_increment, shards: [s0], limits: {strikes: -1}}", "generator a: limits: strikes -1: use 1 to 1000"},
		{"a: {kind: redis, servers: ['r1:6379', 'r2:6379'], keys: 4, secret: redis, tls: verify, ca: redis/ca}", ""},
		{"a: {kind: segment, servers: ['r1:6379', 'r2:6379']}", ""},
		{"a: {kind: redis, servers: ['r1:6379', 'r2:6379'], cluster: true, user: locus, secret: redis}", ""},
		{"a: {kind: buckets, server: 'r1:6379', cluster: true}", ""},
		{"a: {kind: segment, sentinel: {master: shop, servers: ['s1:26379', 's2:26379'], secret: sentinels}, tls: on}", ""},
		{"a: {kind: row, shards: [s0], lock: redis, sentinel: {master: shop, servers: ['s1:26379']}}", ""},
		{"a: {kind: memcached, servers: ['m1:11211', 'm2:11211']}", ""},
		{"a: {kind: redis}", "generator a: server is missing: give its host:port, or `servers:` of several, or a `sentinel:`"},
		{"a: {kind: memcached}", "generator a: server is missing: give its host:port, or `servers:` of several"},
		{"a: {kind: redis, server: 'r1:6379', servers: ['r2:6379']}", "generator a: server and servers: give one of the two"},
		{"a: {kind: redis, servers: ['r1:6379', 'r1:6379']}", "generator a: server r1:6379 is named twice"},
		{"a: {kind: redis, servers: [r1]}", `generator a: server "r1": write host:port`},
		{"a: {kind: redis, cluster: true}", "generator a: cluster: give some of its nodes as `servers:`"},
		{"a: {kind: redis, servers: ['r1:6379'], sentinel: {master: shop, servers: ['s1:26379']}}", "generator a: sentinel: it names the server: leave"},
		{"a: {kind: redis, sentinel: {servers: ['s1:26379']}}", `generator a: sentinel: master "": give the name that the sentinels have for it`},
		{"a: {kind: redis, sentinel: {master: shop}}", "generator a: sentinel: servers are missing: give the host:port of each sentinel"},
		{"a: {kind: redis, sentinel: {master: shop, servers: [s1]}}", `generator a: sentinel "s1": write host:port`},
		{"a: {kind: redis, sentinel: {master: shop, servers: ['s1:26379'], user: u}}", "generator a: sentinel: user u: give the name of its password as `secret:`"},
		{"a: {kind: redis, server: 'r1:6379', secret: 'top secret!'}", "generator a: secret holds no name"},
		{"a: {kind: redis, server: 'r1:6379', user: locus}", "generator a: user locus: give the name of its password as `secret:`"},
		{"a: {kind: redis, server: 'r1:6379', tls: maybe}", `generator a: tls "maybe": use off, on or verify`},
		{"a: {kind: redis, server: 'r1:6379', tls: on, ca: redis/ca}", "generator a: ca is for tls: verify, this is tls: on"},
		{"a: {kind: segment, tls: on}", "generator a: secret is for a server, and so are user, tls and ca"},
		{"a: {kind: memcached, servers: ['m1:11211'], cluster: true}", "generator a: cluster and sentinel are of Redis: kind memcached has `servers:`"},
		{"a: {kind: memcached, server: 'm1:11211', tls: on}", "generator a: user, tls and ca are of Redis: kind memcached has none"},
		{"a: {kind: snowflake, servers: ['r1:6379']}", "generator a: servers: kind snowflake has none"},
		{"a: {kind: snowflake, cluster: true}", "generator a: cluster and sentinel: kind snowflake has no Redis"},
		{"a: {kind: row, shards: [s0], lock: redis, servers: ['r1:6379', 'r2:6379']}", "generator a: servers: a lock is in one place"},
		{"{a: {kind: segment}, b: {kind: queue, of: [a]}, c: {kind: ha, of: [a, b]}, d: {kind: format, of: [c], template: 'D{seq:19}'}}", ""},
		{"{a: {kind: queue, of: [b]}, b: {kind: queue, of: [a]}}", "generator a: of: it takes numbers from itself: a of b of a"},
		{"{a: {kind: format, template: 'A{seq:9}'}, b: {kind: queue, of: [a]}}", "generator b: of a: it makes texts, and numbers are needed"},
		{"{a: {kind: snowflake}, b: {kind: ha, of: [a, c]}, c: {kind: segment}}", "generator b: it adds 1 low bits to those of a, a snowflake"},
		{"{a: {kind: segment}, b: {kind: queue, of: [a], bits: 20}, c: {kind: queue, of: [b], bits: 4}}", "generator c: it adds 24 low bits to the numbers of b: at most 23"},
		{"{a: {kind: snowflake}, b: {kind: format, of: [a], template: 'A{seq}'}}", ""},
		{"{a: {kind: segment}, d: {kind: auto_increment, shards: [s0, s1, s0, s1]}, b: {kind: ha, of: [a, d]}, c: {kind: format, of: [b], template: 'A{seq:1}'}}", ""},
		{"{a: {kind: segment}, b: {kind: format, of: [a], template: '{time:yyyyMMdd}{seq:9,per=yyyyMMdd}'}}", "generator b: of: a sequence that starts again (per=…) belongs to the format itself"},
		{"a: {kind: format, template: '{context:unit:4}-{seq:5,per=context:unit}', values: 200000}", ""},
		{"a: {kind: format, template: '{context:unit:4}-{seq:5,per=context:unit}', values: 200001}", "generator a: values 200001: generators that count for each value take 1 to 200000"},
		{"a: {kind: format, template: '{context:unit:4}-{seq:5}', values: 5}", "generator a: values: 5: the template counts for no values: give its sequence per=context:NAME, or leave values out"},
		{"a: {kind: segment, values: 5}", "generator a: values 5: generators that count for each value take 1 to 200000"},
		{"a: {kind: segment, per: 'context:owner_key', values: 5, min_step: 10}", ""},
		{"a: {kind: segment, per: owner_key}", "generator a: per: owner_key: write per: context:NAME"},
		{"a: {kind: segment, per: 'context:k', server: 'r1:6379'}", "generator a: per: its counters are in etcd"},
		{"a: {kind: segment, per: 'context:k', sizing: leaf}", "generator a: sizing: it has no effect with per"},
		{"a: {kind: segment, per: 'context:k', ordered: true}", ""},
		{"a: {kind: snowflake, per: 'context:k'}", "generator a: per: kind snowflake has none"},
		{"{a: {kind: segment, per: 'context:k'}, b: {kind: format, of: [a], template: 'A{seq:9}'}}", "generator b: of a: its numbers are distinct for each value of k only"},
		{"a: {kind: format, template: '{seq:5,per=context:unit}'}", "does not show unit: add it as {context:unit:…}"},
		{"{a: {kind: segment}, b: {kind: format, of: [a], template: '{context:unit:4}-{seq:9,per=context:unit}'}}", "generator b: of: a sequence that starts again (per=…) belongs to the format itself"},
		{"{a: {kind: segment}, b: {kind: format, of: [a], template: 'B{seq:9}', min_step: 5}}", "generator b: min_step and max_step are those of the generator that it is of"},
		{"{a: {kind: snowflake, epoch: 2010-11-04}, b: {kind: snowflake, epoch: 2010-11-04T01:42:54.657Z}, c: {kind: snowflake, epoch: 1288834974657}}", ""},
		{"a: {kind: snowflake, epoch: yesterday}", `generator a: epoch "yesterday": write a date such as 2010-11-04`},
		{"a: {kind: snowflake, epoch: -5}", `generator a: epoch "-5": use a time from 1970 to 2099`},
		{"a: {kind: segment, epoch: 2010-11-04}", "generator a: epoch is for kind snowflake"},
		{"{a: {kind: segment, ordered: true}, b: {kind: format, of: [a], ordered: true, template: 'B{seq:9}'}, c: {kind: format, ordered: true, template: 'C{seq:9}'}, d: {kind: row, shards: [s0], ordered: true}}", ""},
		{"a: {kind: segment, ordered: true, preload: 5%}", "generator a: ordered: no number is in memory: leave min_step"},
		{"a: {kind: segment, ordered: true, server: 'r:1'}", "generator a: ordered: numbers of Redis and of the store behind it"},
		{"a: {kind: snowflake, ordered: true}", "generator a: ordered: kind snowflake makes numbers in no order"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: format, of: [a], ordered: true, template: 'B{seq:9}'}}", "generator b: ordered: its numbers are those of a, which is not"},
		{"{a: {kind: row, shards: [s0], ordered: true}, b: {kind: format, of: [a], template: 'B{seq:9}'}}", "generator b: of a: it is ordered"},
		{"{a: {kind: row, shards: [s0], ordered: true}, b: {kind: queue, of: [a]}}", "generator b: of a: it is ordered"},
		{"{a: {kind: redis, server: 'r:1', keys: 4, key_by: 'context:class'}, b: {kind: format, of: [a], template: 'B{seq:9}'}}", ""},
		{"a: {kind: redis, servers: ['r:1', 'r:2'], key_by: 'context:class'}", ""},
		{"a: {kind: redis, server: 'r:1', key_by: 'context:class'}", "generator a: key_by: it chooses between keys or servers"},
		{"a: {kind: redis, server: 'r:1', keys: 4, key_by: class}", "generator a: key_by: class: write key_by: context:NAME"},
		{"a: {kind: segment, key_by: 'context:class'}", "generator a: key_by: kind redis has keys"},
		{"{a: {kind: redis, server: 'r:1', keys: 4, key_by: 'context:class'}, b: {kind: queue, of: [a]}}", "generator b: of a: the caller's class chooses its key"},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: a.b, every_tag: true}}}", ""},
		{"a: {kind: segment, store: {mysql: {shard: s0, every_tag: true}}}", "generator a: store: every_tag is for the rows of a table that is there"},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: a.b, tag: c, every_tag: true}}}", "generator a: store: every_tag is for the rows of a table that is there"},
		{"a: {kind: segment, server: 'r:1', store: {mysql: {shard: s0, table: a.b, every_tag: true}}}", "generator a: store: every_tag is for kind segment, without a server"},
		{"{a: {kind: segment, store: {mysql: {shard: s0, table: a.b, every_tag: true}}}, b: {kind: queue, of: [a]}}", "generator b: of a: its numbers are distinct for each tag only"},
		{"{a: {kind: row, store: {mysql: {shard: s0, table: a.p, value: max_id}}}, b: {kind: segment, store: {mysql: {shard: s0, table: a.r, value: v, key: k, tag: SN, holds: next}}}}", ""},
		{"a: {kind: row, shards: [s0], store: {mysql: {shard: s0, table: a.p, value: max_id}}}", "generator a: shards: its row is the one of `store:`"},
		{"a: {kind: row, store: {mysql: {shard: s0}}}", "generator a: store: kind row takes from a table that is there"},
		{"a: {kind: row, store: {mysql: {shard: s0, table: a.p, value: 'x`'}}}", "generator a: store: value \"x`\": use letters"},
		{"a: {kind: row, store: {mysql: {shard: s0, table: a.p, value: v, tag: SN}}}", "generator a: store: tag is the row of a `key:`"},
		{"a: {kind: row, store: {mysql: {shard: s0, table: a.p, holds: next}}}", "generator a: store: key and holds are for a table with other columns"},
		{"a: {kind: segment, store: {mysql: {shard: s0, table: a.p, value: v, holds: first}}}", "generator a: store: holds \"first\": use last or next"},
		{"a: {kind: auto_increment, shards: [s0, s0], tables: [a.x, a.y], time_column: at}", ""},
		{"a: {kind: auto_increment, shards: [s0, s0], tables: [a.x]}", "generator a: tables: 1 for 2 shards"},
		{"a: {kind: auto_increment, shards: [s0, s0], tables: [a.x, a.X]}", "generator a: tables: a.X of shard s0 is named twice"},
		{"a: {kind: auto_increment, shards: [s0], tables: [x]}", "generator a: tables: \"x\": write schema.table"},
		{"a: {kind: auto_increment, shards: [s0], time_column: at}", "generator a: time_column \"at\": it is a column of `tables:`"},
		{"{a: {kind: segment, start: 5}, b: {kind: format, template: 'B{seq:9}', start: 5}, c: {kind: redis, server: 'r:1', start: 5}}", ""},
		{"a: {kind: snowflake, start: 5}", "generator a: start: kinds segment, redis, memcached and format begin there"},
		{"a: {kind: format, template: '{time:yyyy}{seq:9,per=yyyy}', start: 5}", "generator a: start: kinds segment"},
		{"a: {kind: segment, start: 9007199254740992}", "generator a: start 9007199254740992: begin below 2^53"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], buffer: 40ms, interval: 20ms}}", ""},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], interval: 20ms}}", "generator b: interval 20ms: the numbers in memory last for 5ms"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], interval: 20}}", "generator b: interval \"20\": write a duration"},
		{"a: {kind: segment, interval: 20ms}", "generator a: interval is for a queue"},
		{"a: {kind: segment, buffer: 30s, preload: 25%, sizing: leaf}", ""},
		{"a: {kind: segment, buffer: often}", `generator a: buffer "often": write a duration from 1ms to 1h`},
		{"a: {kind: segment, preload: 0%}", `generator a: preload "0%": write a share from 1% to 100%`},
		{"a: {kind: segment, sizing: fixed}", `generator a: sizing "fixed": use measured or leaf`},
		{"a: {kind: format, template: 'A{seq:9}', buffer: 2s, preload: 50%}", ""},
		{"a: {kind: format, template: 'A{seq:9}', max_step: 1, preload: 50%}", "generator a: preload: with max_step 1 no number may be in memory"},
		{"a: {kind: format, template: 'A{seq:9}', sizing: leaf}", "generator a: sizing is for kind segment"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], buffer: 20ms, preload: 100%, max_step: 100000}}", ""},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], max_step: 2000000}}", "generator b: max_step 2000000: a queue keeps at most 1048576 numbers ready"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: queue, of: [a], min_step: 2}}", "generator b: min_step and max_step are for kinds segment and format, and max_step for queue"},
		{"{a: {kind: row, shards: [s0]}, c: {kind: segment}, b: {kind: ha, of: [a, c], buffer: 20ms}}", ""},
		{"{a: {kind: segment}, c: {kind: segment}, b: {kind: ha, of: [a, c], buffer: 20ms}}", "generator b: buffer and preload: its numbers are in memory already"},
		{"{a: {kind: segment}, b: {kind: format, of: [a], template: 'B{seq:9}', preload: 20%}}", "generator b: buffer and preload: its numbers are in memory already"},
		{"a: {kind: row, shards: [s0], buffer: 1s}", "generator a: buffer and preload are for kinds segment, queue, ha and format: put a queue in front of kind row"},
	} {
		_, err := Parse([]byte(string(text) + "generators:\n  " + c.generator + "\n"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error is\n  %v\nand not\n  %s", c.generator, err, c.want)
		}
	}
}

// Declarations of servers are the same after they are written and read.
func TestServersOfGeneratorsAreReadBack(t *testing.T) {
	c := good(t)
	c.Generators = map[string]Generator{
		"several": {Kind: RedisGenerator, Servers: Servers{Several: []string{"r1:6379", "r2:6379"}, TLS: TLSVerify, CA: "redis/ca"}},
		"cluster": {Kind: BucketsGenerator, Secret: "redis", Servers: Servers{Several: []string{"r1:6379"}, Cluster: true, User: "locus"}},
		"master":  {Kind: SegmentGenerator, Servers: Servers{Sentinel: &Sentinel{Master: "shop", Servers: []string{"s1:26379"}, Secret: "sentinels"}}},
	}
	again, err := Parse(Format(c))
	if err != nil {
		t.Fatalf("%v in\n%s", err, Format(c))
	}
	if !reflect.DeepEqual(again.Generators, c.Generators) {
		t.Errorf("read back is %+v of\n%s", again.Generators, Format(c))
	}
	if changes, err := Diff(c, again); err != nil || changes != nil {
		t.Errorf("differences %v, %v", changes, err)
	}
}

func TestParseReportsAllProblemsAtOnce(t *testing.T) {
	_, err := Parse([]byte(`
settings: {hash: md5, counter_groups: -1}
shards:
  s0: {address: nowhere}
tables:
  t: {kind: global}
  a.b: {kind: sharded, shard: s0}
users:
  app: {}
routes:
  - 0xff s9
`))
	if err == nil {
		t.Fatal("no error")
	}
	want := `tables: table name "t": write it as schema.table, with other characters in backquotes: ` + "`my schema`.`my table`" + `
routes, line 11: the last bound is 0x00ff and not 0xffff: genes 0x0100..0xffff would have no shard
settings: hash "md5": this build computes xxhash64^murmur64 and no other
settings: counter_groups -1: use 1 to 65536, and no more than there are genes
shard s0: address "nowhere": write host:port
shard s0: user is missing: name the account that proxies log in as
shard s0: secret is missing: give the name under which each process finds it, such as shards/s0
table a.b: a sharded table is on every shard: remove ` + "`shard:`" + `
table a.b: a sharded table is routed by ` + "`owner:` or by `parent:`" + `, one of the two
user app: no secret: give ` + "`secret:`" + `, the name under which proxies find the password, or ` + "`authentication_string:`"
	if err.Error() != want {
		t.Errorf("problems are\n%s\nand not\n%s", err, want)
	}
}

func TestRoutesAsList(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "routes:")
	c, err := Parse([]byte(head + "routes: [0x7fff s0, 0xffff s1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := Diff(good(t), c); err != nil || changes != nil {
		t.Errorf("differences %v, %v", changes, err)
	}
}

// The tag of a counter's row fits in its column.
func TestTagsOfCounters(t *testing.T) {
	for length, fits := range map[int]bool{50: true, 64: false} {
		c := good(t)
		id := &catalog.IDColumn{Column: "id", Layout: "int64", Segments: catalog.Segments{Store: &catalog.SegmentStore{MySQL: &catalog.ShardStore{Shard: "s0"}}}}
		long := strings.Repeat("a", length)
		c.Tables[catalog.TableName{Schema: long, Name: long}] = catalog.Declaration{Kind: catalog.Sharded, Owner: "o", ID: id}
		if err := c.Validate(); (err == nil) != fits || !fits && !strings.Contains(err.Error(), "biz_tag has room for 128") {
			t.Errorf("names of %d: %v", length, err)
		}
		if again, err := Parse(Format(c)); fits && (err != nil || !reflect.DeepEqual(again.Tables[catalog.TableName{Schema: long, Name: long}].ID.Segments, id.Segments)) {
			t.Errorf("written and read: %v", err)
		}
	}
}

// The Redis in front of a table's counters is declared and checked like the Redis of a generator.
func TestRedisBeforeCounters(t *testing.T) {
	const of = "table shop.parcel: segments: redis: "
	for declared, reason := range map[string]string{
		"{server: 'r1:6379'}": "",
		"{servers: ['r1:6379', 'r2:6379'], user: locus, secret: redis, tls: verify, ca: redis/ca}": "",
		"{servers: ['r1:6379'], cluster: true}":                                                    "",
		"{sentinel: {master: shop, servers: ['s1:26379']}}":                                        "",
		"{}":           of + "server is missing",
		"{server: r1}": of + `server "r1": write host:port`,
		"{server: 'r1:6379', servers: ['r2:6379']}":                               of + "server and servers: give one of the two",
		"{servers: ['r1:6379', 'r1:6379']}":                                       of + "server r1:6379 is named twice",
		"{cluster: true}":                                                         of + "cluster: give some of its nodes",
		"{server: 'r1:6379', secret: 'top secret!'}":                              of + "secret holds no name",
		"{server: 'r1:6379', user: locus}":                                        of + "user locus: give the name of its password",
		"{server: 'r1:6379', tls: maybe}":                                         of + `tls "maybe"`,
		"{sentinel: {master: shop, servers: ['s1:26379']}, servers: ['r1:6379']}": of + "sentinel: it names the server",
		"{server: 'r1:6379', keys: 4}":                                            "keys",
	} {
		text := string(Format(good(t))) + "\n"
		declaration := "tables:\n  shop.parcel: {kind: sharded, owner: sender, id: {column: parcel_id, layout: int64, segments: {redis: " + declared + "}}}\n"
		text = strings.Replace(text, "tables:\n", declaration, 1)
		c, err := Parse([]byte(text))
		switch {
		case reason != "" && (err == nil || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "top secret")):
			t.Errorf("%s: %v, want %q", declared, err, reason)
		case reason == "" && err != nil:
			t.Errorf("%s: %v", declared, err)
		case reason == "":
			again, err := Parse(Format(c))
			if err != nil || !reflect.DeepEqual(again.Tables, c.Tables) {
				t.Errorf("%s: written and read: %v", declared, err)
			}
		}
	}
}
