//go:build servers

package schema

import (
	"log/slog"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/router"
	"locus/router/cluster"
)

// Existing tables of auto_increment either make numbers, or are reported with the remedy.
func TestNumberedTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		database := servers.Database(t, server)
		server.Exec(t, "CREATE TABLE "+database+".code (id BIGINT AUTO_INCREMENT PRIMARY KEY, generate_time DATETIME NOT NULL)",
			"CREATE TABLE "+database+".plain (id BIGINT AUTO_INCREMENT PRIMARY KEY, issued TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, note VARCHAR(9))", "CREATE TABLE "+database+".other (id BIGINT PRIMARY KEY)")
		shard := cluster.Shard{Address: server.Addr(), User: server.User, Secret: "s0", TLS: cluster.TLSOff}
		target, err := Target("s0", shard, func(string) (string, error) { return server.Password, nil })
		if err != nil {
			t.Fatal(err)
		}
		pool := backend.NewPool(target, backend.Limits{}, slog.New(slog.DiscardHandler))
		defer func() { _ = pool.Close(t.Context()) }()
		for _, c := range []struct{ table, time, want string }{
			{"code", "generate_time", ""},
			{"plain", "", ""},
			{"plain", "issued", ""},
			{"code", "", "needs a value for column generate_time: give it a default, or declare `time_column: generate_time`"},
			{"plain", "at", "has no column at"},
			{"other", "", "needs a value for column id"},
			{"none", "", "does not exist, or has no AUTO_INCREMENT column"},
		} {
			declared := &cluster.Cluster{Generators: map[string]cluster.Generator{
				"n": {Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0"}, Tables: []string{database + "." + c.table}, TimeColumn: c.time},
			}}
			problems := Stores(t.Context(), map[router.ShardName]Querier{"s0": Pooled{pool}}, declared)
			if c.want == "" && len(problems) > 0 || c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want)) {
				t.Errorf("%+v: %v", c, problems)
			}
		}
	})
}

// Each store either grants numbers, or is reported with its remedy.
func TestStores(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		database := servers.Database(t, server)
		server.Exec(t, "CREATE TABLE "+database+".alloc (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT, step INT, description VARCHAR(256), version BIGINT, update_time TIMESTAMP)")
		server.Exec(t, "INSERT INTO "+database+".alloc VALUES ('good', 1000, 100, NULL, 0, NOW()), ('still', 1000, 0, NULL, 0, NOW())")
		server.Exec(t, "CREATE TABLE "+database+".leaf (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT, step INT, update_time TIMESTAMP)")
		server.Exec(t, "INSERT INTO "+database+".leaf VALUES ('good', 1, 2000, NOW())", "CREATE TABLE "+database+".short (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT, update_time TIMESTAMP)")
		shard := cluster.Shard{Address: server.Addr(), User: server.User, Secret: "s0", TLS: cluster.TLSOff}
		target, err := Target("s0", shard, func(string) (string, error) { return server.Password, nil })
		if err != nil {
			t.Fatal(err)
		}
		pool := backend.NewPool(target, backend.Limits{}, slog.New(slog.DiscardHandler))
		defer func() { _ = pool.Close(t.Context()) }()
		for _, c := range []struct {
			store cluster.MySQLStore
			want  string
		}{
			{cluster.MySQLStore{Shard: "s0"}, ""},
			{cluster.MySQLStore{Shard: "s1", Table: "no.matter"}, ""}, // the shard can't be reached
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc"}, ""},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Tag: "other"}, "generator good: row other of " + database + ".alloc on shard s0 is not there: INSERT it"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Tag: "x' OR 'x' = 'x"}, "is not there"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Tag: "still"}, "has step 0, which grants nothing: UPDATE it to 1 or more"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".leaf"}, ""}, // the column version may be missing
			{cluster.MySQLStore{Shard: "s0", Table: database + ".leaf", EveryTag: true}, ""},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".short", EveryTag: true}, "short on shard s0 can't be read"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".short"}, "'step'"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".leaf", Value: "max_id"}, ""}, // it has one row
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Value: "max_id", Key: "biz_tag"}, ""},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Value: "max_id", Key: "biz_tag", Tag: "no"}, "row no of " + database + ".alloc on shard s0 is not there"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".alloc", Value: "max_id"}, "has several rows: give `key:`"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".leaf", Value: "current"}, "can't be read"},
			{cluster.MySQLStore{Shard: "s0", Table: database + ".none"}, "make the table with biz_tag, max_id, step, version and update_time"},
		} {
			declared := &cluster.Cluster{Generators: map[string]cluster.Generator{
				"good": {Kind: cluster.SegmentGenerator, Store: &cluster.Store{MySQL: &c.store}}, "etcd": {Kind: cluster.SegmentGenerator},
			}}
			problems := Stores(t.Context(), map[router.ShardName]Querier{"s0": Pooled{pool}}, declared)
			if c.want == "" && len(problems) > 0 || c.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want)) {
				t.Errorf("%+v: %v, want %q", c.store, problems, c.want)
			}
		}
	})
}
