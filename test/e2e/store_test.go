package e2e

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"locus/control/generators"
	"locus/idgen/segment"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// documented are the examples of segments in a table of MySQL, as docs/reference/generators.md has them.
func documented(t *testing.T) (declarations, statements string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/generators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## In a table of MySQL\n")
	_, declarations, _ = strings.Cut(section, "```yaml\n")
	declarations, section, _ = strings.Cut(declarations, "```\n")
	_, statements, _ = strings.Cut(section, "```sql\n")
	statements, _, ended := strings.Cut(statements, "```\n")
	if !found || !ended {
		t.Fatal("docs/reference/generators.md has no such examples")
	}
	return declarations, statements
}

// Numbers that a table of MySQL grants: in statements, in a stamped column, over HTTP, and from a Redis in front,
// while another program uses the table too. If the database is restored to an older state, a process notices it that
// has not seen the table before.
func TestNumbersOfAStoreInMySQL(t *testing.T) {
	declarations, statements := documented(t)
	var set *generators.Set
	var kv segment.KV
	options := shop.Options{
		Tables: []string{"CREATE TABLE {schema}.letter (letter_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL, number BIGINT NOT NULL) DEFAULT CHARSET utf8mb4"},
		Declarations: `  {schema}.letter:
    kind: sharded
    owner: sender
    id: {column: letter_id, layout: int64}
    stamped: {number: letters}
` + declarations + "  pooled: {kind: segment, server: '" + servers.Redis(t).Addr + "', store: {mysql: {shard: s0}}}\n",
		Options: func(o *proxy.Options) {
			kv = shop.Segments()
			set = generators.New(generators.Options{KV: kv, Name: "test", Secrets: o.Secrets})
			o.Generators = set
			t.Cleanup(func() { _ = set.Close() })
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		table := s.Shard(t, 1)
		exec(t, table, "DROP SCHEMA IF EXISTS billing")
		exec(t, table, "CREATE SCHEMA billing")
		for statement := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(statements), ";"), ";\n") {
			exec(t, table, statement)
		}
		if n := number(t, db, "SELECT NEXT VALUE FOR letters"); n != 41001 {
			t.Errorf("the first number above 41000 is %d", n)
		}
		exec(t, db, "INSERT INTO letter (sender) VALUES (42), (10001), (?)", 7)
		if n := number(t, db, "SELECT COUNT(*) FROM letter WHERE number IN (41002, 41003, 41004)"); n != 3 {
			t.Errorf("%d of 3 rows have the numbers behind it", n)
		}
		if n := overHTTP(t, s, set, "/api/segment/get/letters"); n != 41005 {
			t.Errorf("the number behind theirs is %d over HTTP", n)
		}
		for _, name := range []string{"bill", "pooled"} {
			first := number(t, db, "SELECT NEXTVAL("+name+")")
			if second := number(t, db, "SELECT NEXTVAL("+name+")"); second <= first {
				t.Errorf("%s gives %d after %d", name, second, first)
			}
		}
		if n := number(t, table, "SELECT max_id FROM billing.alloc WHERE biz_tag = 'letter' AND version >= 1"); n < 42000 {
			t.Errorf("max_id is %d", n)
		}
		exec(t, table, "UPDATE billing.alloc SET max_id = 1, version = 0")
		other := generators.New(generators.Options{KV: kv, Name: "other", Secrets: func(string) (string, error) { return s.Servers[0].Password, nil }})
		defer func() { _ = other.Close() }()
		ask := generators.Request{Declared: s.Cluster, Name: "letters", Count: 1}
		if texts, err := other.Next(t.Context(), ask); err == nil || !strings.Contains(err.Error(), "row letter of billing.alloc on shard s1") || !strings.Contains(err.Error(), "the counter went back") {
			t.Errorf("the database was restored: %v, %v", texts, err)
		}
		exec(t, table, "UPDATE billing.alloc SET max_id = 1000000")
		if texts, err := other.Next(t.Context(), ask); err != nil || texts[0] != "1000001" {
			t.Errorf("raised: %v, %v", texts, err)
		}
	})
}

func overHTTP(t *testing.T, s *shop.Shop, set *generators.Set, path string) int64 {
	t.Helper()
	server := httptest.NewServer(generators.Handler(set, func() *cluster.Cluster { return s.Cluster }))
	defer server.Close()
	response, err := http.Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil {
		t.Errorf("%s: %d %q", path, response.StatusCode, body)
	}
	return n
}
