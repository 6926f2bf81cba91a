//go:build servers

package audit_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
	"locus/migrate/audit"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
)

func TestMain(m *testing.M) { servers.Main(m) }

var tables = map[string]catalog.Declaration{
	"orders":  {Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}, OrderNumber: "no"},
	"items":   {Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "id", Layout: "int64"}},
	"members": {Kind: catalog.Sharded, Owner: "who", Gene: "gene"},
	"files":   {Kind: catalog.Sharded, Owner: "path", ID: &catalog.IDColumn{Column: "id", Layout: "bytes16"}},
	"many":    {Kind: catalog.Sharded, Owner: "owner", Gene: "gene"},
}

var definitions = []string{
	"CREATE TABLE orders (id BIGINT PRIMARY KEY, no BIGINT, owner BIGINT UNSIGNED)",
	"CREATE TABLE items (n INT PRIMARY KEY, id BIGINT NOT NULL)",
	"CREATE TABLE members (who CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, n INT, gene INT NOT NULL, PRIMARY KEY (who, n))",
	"CREATE TABLE files (id BINARY(16) PRIMARY KEY, path VARBINARY(40) NOT NULL)",
	"CREATE TABLE many (n INT PRIMARY KEY, owner INT NOT NULL, gene INT NOT NULL)",
	"CREATE TABLE nobodys (n INT PRIMARY KEY)",
}

func number(n int64) gene.Gene  { return gene.OfInt(n, gene.W16) }
func text(s string) gene.Gene   { return gene.OfBytes([]byte(s), gene.W16) }
func id(g gene.Gene) uint64     { return uint64(g)<<47 | 7 }
func home(g gene.Gene) (at int) { return int(g >> 15) } // of two shards

// wide returns an ID of 16 bytes with a gene.
func wide(g gene.Gene) string {
	l, err := orderid.ByName("bytes16")
	if err != nil {
		panic(err)
	}
	first, _ := l.GeneRange(g, g)
	return string(l.AppendHexSQL(nil, first))
}

// TestRows plants rows of each kind that are not as they should be, or not where, and has each
// found, and no others.
func TestRows(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := newStand(t, engine)
		s.fill()
		if got := s.findings(); got != "" {
			t.Fatalf("of rows that are as they should be:\n%s", got)
		}
		here, there := owners(0), owners(1)
		for _, p := range []struct {
			shard int
			sql   string
			want  string // the expected finding; empty for none
		}{
			{0, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, %d)", id(number(here[5])), here[5]), ""},
			{0, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, %d)", id(number(there[5])), there[5]), "orders s0 1: 1 rows of genes that are not s0's, such as "},
			{1, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, %d)", id(number(here[5])), here[5]), "orders s1 1: 1 rows of genes that are not s1's, such as "},
			{0, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, %d)", id(number(here[6])), here[5]), "orders s0 1: 1 rows whose keys are of different genes, such as "},
			{1, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, %d)", id(number(here[6])), there[5]), "orders s1 1: 1 rows whose keys are of different genes"},
			{0, fmt.Sprintf("INSERT INTO orders VALUES (%d, %d, %d)", id(number(here[5])), id(number(here[6])), here[5]), "orders s0 1: 1 rows whose keys are of different genes"},
			{0, fmt.Sprintf("INSERT INTO orders VALUES (%d, NULL, NULL)", id(number(here[5]))), "orders s0 1: 1 rows of no gene, such as "},
			{0, fmt.Sprintf("INSERT INTO orders VALUES (-5, NULL, %d)", here[5]), "orders s0 1: 1 rows of no gene"},
			{0, "INSERT INTO orders VALUES (1, NULL, 1), (2, NULL, 2), (3, NULL, 3)", "orders s0 3: 3 rows whose keys are of different genes"},
			{0, fmt.Sprintf("INSERT INTO items VALUES (1000, %d)", id(number(there[5]))), "items s0 1: 1 rows of genes that are not s0's"},
			{1, "INSERT INTO items VALUES (1000, -1)", "items s1 1: 1 rows of no gene"},
			{home(text("ä")), fmt.Sprintf("INSERT INTO members VALUES ('ä   ', 1, %d)", text("ä")), ""},
			{home(text("ä")), fmt.Sprintf("INSERT INTO members VALUES ('ä', 1, %d)", text("ä")^1), "members s? 1: 1 rows whose keys are of different genes"},
			{1 - home(text("ä")), fmt.Sprintf("INSERT INTO members VALUES ('ä', 1, %d)", text("ä")), "members s? 1: 1 rows of genes that are not"},
			{home(text("A")), fmt.Sprintf("INSERT INTO members VALUES ('A', 1, %d)", text("a")), "members s? 1: 1 rows whose keys are of different genes"},
			{0, "INSERT INTO members VALUES ('x', 1, 70000)", "members s0 1: 1 rows of no gene"},
			{home(text("a ")), fmt.Sprintf("INSERT INTO files VALUES (%s, 'a ')", wide(text("a "))), ""},
			{home(text("a")), fmt.Sprintf("INSERT INTO files VALUES (%s, 'a ')", wide(text("a"))), "files s? 1: 1 rows whose keys are of different genes"},
			{1 - home(text("a")), fmt.Sprintf("INSERT INTO files VALUES (%s, 'a')", wide(text("a"))), "files s? 1: 1 rows of genes that are not"},
			{0, "INSERT INTO nobodys VALUES (1)", "nobodys s0 1: the table is not declared, and several shards have it"},
			{1, "INSERT INTO nobodys VALUES (1), (2)", "nobodys s1 2: the table is not declared"},
		} {
			s.at(p.shard, p.sql)
			got := s.findings(strings.Fields(p.sql)[2])
			want := strings.ReplaceAll(p.want, "s?", fmt.Sprintf("s%d", p.shard))
			if !strings.HasPrefix(got, want) || strings.Count(got, "\n") > 1 || (got == "") != (want == "") {
				t.Errorf("%s: on s%d %s:\nfound %s\nwant  %s", engine, p.shard, p.sql, got, want)
			}
			s.refill(strings.Fields(p.sql)[2])
		}
	})
}

// TestManyRows finds a row beyond the first chunk, in the order of the key.
func TestManyRows(t *testing.T) {
	s := newStand(t, servers.MariaDB)
	owner := owners(0)[0]
	s.at(0, fmt.Sprintf("INSERT INTO many SELECT a.n * 200 + b.n, %d, %d FROM (SELECT 0 n UNION SELECT seq FROM seq_1_to_124) a, (SELECT 0 n UNION SELECT seq FROM seq_1_to_199) b", owner, number(owner)))
	if got := s.findings(); got != "" {
		t.Errorf("of rows that are as they should be:\n%s", got)
	}
	s.at(0, "UPDATE many SET gene = gene + 1 WHERE n IN (0, 9999, 10000, 19999, 24999)")
	if got := s.findings(); !strings.HasPrefix(got, `many s0 5: 5 rows whose keys are of different genes, such as "0" (`) {
		t.Errorf("found %s", got)
	}
}

// If a gene moves while rows are read, the new map determines its shard.
func TestMapThatChanges(t *testing.T) {
	s := newStand(t, servers.MariaDB)
	s.fill()
	s.routes = routesOf(t, 0x3fff)
	if got := s.findings(); !strings.Contains(got, "genes that are not s0's") {
		t.Errorf("by another map: %s", got)
	}
	s.reload = func(context.Context) (*router.Map, error) { return routesOf(t, 0x7fff), nil }
	if got := s.findings(); got != "" {
		t.Errorf("by a map that is the right one meanwhile: %s", got)
	}
}

// owners returns owners whose genes belong to a shard.
func owners(shard int) (list []int64) {
	for n := int64(1); len(list) < 10; n++ {
		if home(number(n)) == shard {
			list = append(list, n)
		}
	}
	return list
}

type stand struct {
	t        *testing.T
	servers  []*servers.Server
	database string
	dbs      []*sql.DB
	routes   *router.Map
	reload   func(context.Context) (*router.Map, error)
}

func routesOf(t *testing.T, bound gene.Gene) *router.Map {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: bound, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newStand(t *testing.T, engine servers.Engine) *stand {
	s := &stand{t: t, servers: servers.Shared(t, engine, 2), routes: routesOf(t, 0x7fff)}
	s.database = servers.Database(t, s.servers...)
	for i, server := range s.servers {
		s.dbs = append(s.dbs, server.DB(t, s.database))
		s.at(i, definitions...)
	}
	return s
}

func (s *stand) at(shard int, statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		if _, err := s.dbs[shard].Exec(sql); err != nil {
			s.t.Fatalf("%s: %v", sql, err)
		}
	}
}

// fill inserts correct rows into each table.
func (s *stand) fill() {
	s.t.Helper()
	for name := range tables {
		s.refill(name)
	}
}

func (s *stand) refill(name string) {
	s.t.Helper()
	for shard := range s.servers {
		s.at(shard, "DELETE FROM "+name)
		var rows []string
		for i, owner := range owners(shard)[:5] {
			switch name {
			case "orders":
				rows = append(rows, fmt.Sprintf("(%d, %d, %d)", id(number(owner)), id(number(owner)), owner))
			case "items":
				rows = append(rows, fmt.Sprintf("(%d, %d)", i, id(number(owner))))
			}
		}
		for _, who := range []string{"anna", "bob", "Bob", "ü", "x y", ""} {
			switch {
			case home(text(who)) != shard:
			case name == "members":
				rows = append(rows, fmt.Sprintf("('%s', 1, %d)", who, text(who)))
			case name == "files":
				rows = append(rows, fmt.Sprintf("(%s, '%s')", wide(text(who)), who))
			}
		}
		if rows != nil {
			s.at(shard, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
		}
	}
}

// findings returns the problems of all tables or of one, each on a line.
func (s *stand) findings(only ...string) string {
	s.t.Helper()
	declared := map[catalog.TableName]catalog.Declaration{}
	for name, d := range tables {
		if only != nil && only[0] != name {
			d.Kind = catalog.Single // the audit ignores such tables
		}
		declared[catalog.TableName{Schema: s.database, Name: name}] = d
	}
	found, err := audit.Run(s.t.Context(), audit.Config{
		Map: s.routes, Shards: []router.ShardName{"s0", "s1"}, Tables: declared, Reload: s.reload,
		Server: func(_ context.Context, name router.ShardName) (link.Server, error) {
			at := s.servers[name[1]-'0']
			return link.Server{Addr: at.Addr(), User: at.User, Password: at.Password}, nil
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range found {
		if f.Wrong > 0 && f.Table.Schema == s.database {
			fmt.Fprintf(&b, "%s %s %d: %s\n", f.Table.Name, f.Shard, f.Wrong, f.What)
		}
	}
	return b.String()
}
