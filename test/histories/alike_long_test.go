//go:build long

package histories

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/control/ops"
	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/catalog"
	harness "locus/test/cluster"
)

func (at login) open(t *testing.T, schema string) *sql.DB {
	t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName = "tcp", at.addr, at.user, at.password, schema
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// alike waits until the server that first had the tables has the same rows as the shards that own them.
func (s *stage) alike(t *testing.T) {
	t.Helper()
	tables, err := ops.Declarations(ops.SplitTables(s.app.imported()))
	if err != nil {
		t.Fatal(err)
	}
	_, m := s.routes(t)
	for name, d := range tables {
		columns := s.columns(t, name)
		harness.Until(t, name.String()+" is the same on both sides", func() (bool, error) {
			there, err := summed(t, s.source, name, columns, "TRUE")
			var here sum
			for i, server := range s.Shards {
				owned, failed := summed(t, server.Server, name, columns, within(m.GenesOf(router.ShardName(fmt.Sprintf("s%d", i))), d))
				here, err = here.plus(owned), errors.Join(err, failed)
			}
			return err == nil && here == there, fmt.Errorf("%v there, %v here; %w", there, here, err)
		})
	}
}

// sum is the number of rows and the sum of their digests.
type sum struct{ rows, digests int64 }

func (s sum) plus(o sum) sum { return sum{s.rows + o.rows, s.digests + o.digests} }

func summed(t *testing.T, server *servers.Server, table catalog.TableName, columns, where string) (s sum, err error) {
	t.Helper()
	db := server.DB(t, table.Schema)
	defer db.Close()
	err = db.QueryRow("SELECT COUNT(*), COALESCE(SUM(CAST(CONV(LEFT(SHA2(CONCAT_WS(',', "+columns+"), 256), 8), 16, 10) AS UNSIGNED)), 0) FROM "+
		table.Name+" WHERE "+where).Scan(&s.rows, &s.digests)
	return s, err
}

// columns returns all columns except the one that locus creates, each as a text that distinguishes NULL.
func (s *stage) columns(t *testing.T, table catalog.TableName) string {
	t.Helper()
	rows, err := s.source.DB(t, table.Schema).Query(
		"SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COLUMN_NAME <> ?", table.Schema, table.Name, catalog.OwnGene)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, "QUOTE(`"+name+"`)")
	}
	if err := rows.Err(); err != nil || len(columns) == 0 {
		t.Fatalf("columns of %s: %v, %v", table, columns, err)
	}
	return strings.Join(columns, ", ")
}

// within returns the condition for rows with one of the genes.
func within(genes gene.Set, d catalog.Declaration) string {
	const below = 47 // bits of an ID of layout int64 that are not the gene's
	column := catalog.OwnGene
	switch {
	case d.Parent != nil:
		column = fmt.Sprintf("(%s >> %d)", d.Parent.Column, below)
	case d.ID != nil:
		column = fmt.Sprintf("(%s >> %d)", d.ID.Column, below)
	}
	conditions := []string{"FALSE"}
	for _, r := range genes.Ranges() {
		conditions = append(conditions, fmt.Sprintf("%s BETWEEN %d AND %d", column, r.First, r.Last))
	}
	return strings.Join(conditions, " OR ")
}

// spread holds each row to the shard that owns it, once the import is finished.
func (s *stage) spread(t *testing.T) {
	t.Helper()
	tables, err := ops.Declarations(ops.SplitTables(s.app.imported()))
	if err != nil {
		t.Fatal(err)
	}
	_, m := s.routes(t)
	for name, d := range tables {
		var each []int64
		for i, server := range s.Shards {
			columns := s.columns(t, name)
			all, err := summed(t, server.Server, name, columns, "TRUE")
			owned, failed := summed(t, server.Server, name, columns, within(m.GenesOf(router.ShardName(fmt.Sprintf("s%d", i))), d))
			if err := errors.Join(err, failed); err != nil || all != owned {
				t.Errorf("%s: of %v on s%d that has the genes of %v; %v", name, all, i, owned, err)
			}
			each = append(each, all.rows)
		}
		t.Logf("%s: the shards have %v rows", name, each)
	}
}
