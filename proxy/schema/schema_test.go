//go:build servers

package schema

import (
	"context"
	"database/sql"
	"testing"

	"go.uber.org/goleak"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(servers.Runner{M: m}, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"))
}

// asked is a Querier that uses the standard library's client.
type asked struct{ db *sql.DB }

func (a asked) Query(ctx context.Context, text string) ([][][]byte, error) {
	rows, err := a.db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][][]byte
	for rows.Next() {
		row := make([][]byte, len(columns))
		places := make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// shop is a cluster of shards s0, s1 … with tables of one database.
type shop struct {
	*cluster.Cluster
	database string
	servers  []*servers.Server
	queriers map[router.ShardName]Querier
}

func open(t *testing.T, shards ...*servers.Server) *shop {
	t.Helper()
	s := &shop{
		Cluster: &cluster.Cluster{
			Settings: cluster.Settings{GeneBits: gene.W16, Hash: cluster.Hash, CounterGroups: 256, DefaultShard: "s0"},
			Tables:   map[catalog.TableName]catalog.Declaration{},
			Shards:   map[router.ShardName]cluster.Shard{},
		},
		database: servers.Database(t, shards...),
		servers:  shards,
		queriers: map[router.ShardName]Querier{},
	}
	for i, server := range shards {
		name := router.ShardName([]string{"s0", "s1", "s2"}[i])
		s.Shards[name] = cluster.Shard{}
		s.queriers[name] = asked{server.DB(t, s.database)}
	}
	return s
}

// on runs statements on one shard. everywhere runs them on all.
func (s *shop) on(t *testing.T, shard int, statements ...string) {
	t.Helper()
	s.servers[shard].Exec(t, append([]string{"USE " + s.database}, statements...)...)
}

func (s *shop) everywhere(t *testing.T, statements ...string) {
	t.Helper()
	for i := range s.servers {
		s.on(t, i, statements...)
	}
}

func (s *shop) name(table string) catalog.TableName {
	return catalog.TableName{Schema: s.database, Name: table}
}

func (s *shop) load(t *testing.T) *Loaded {
	t.Helper()
	l, err := Load(t.Context(), s.queriers, s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// table returns a table that must fit.
func (s *shop) table(t *testing.T, name string) *catalog.Table {
	t.Helper()
	found, err := s.load(t).Catalog.Find(s.name(name))
	if err != nil || found == nil {
		t.Fatalf("table %s is %v, %v", name, found, err)
	}
	return found
}
