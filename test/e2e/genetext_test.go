package e2e

import (
	"database/sql"
	"maps"
	"strings"
	"testing"
	"time"

	"locus/control/fitting"
	"locus/control/generators"
	"locus/proxy"
	"locus/router/catalog"
	"locus/test/shop"
)

// A text with the time in front shows the gene of its row, so its row is found on one shard. No text is on two shards, and a text
// that shows another gene is refused.
func TestTextsThatShowTheGene(t *testing.T) {
	options := shop.Options{
		Tables: []string{
			"CREATE TABLE {schema}.ticket (ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, code VARCHAR(20), seat INT, UNIQUE KEY (code)) DEFAULT CHARSET utf8mb4",
			"CREATE TABLE {schema}.bad (ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, code VARCHAR(20) NOT NULL) DEFAULT CHARSET utf8mb4",
		},
		Declarations: `  {schema}.ticket:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {code: ticket}
    gene_text: {column: code, at: 7}
  {schema}.bad:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {code: ticket}
    gene_text: {column: code, at: 6}
generators:
  ticket: {kind: format, template: "{time:yyMMdd}{gene:4}{seq:6,per=yyMMdd}"}
`,
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
			t.Cleanup(func() { _ = set.Close() })
			o.Generators = set
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		conn, _ := connect(t, db)
		exec(t, db, "INSERT INTO ticket (holder) VALUES (?), (?), (?), (?)", 42, 10001, 1, 42)
		exec(t, db, "INSERT INTO ticket (holder, seat) VALUES (1, 5)")
		rows, err := db.Query("SELECT code, holder FROM ticket")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		genes, codes := map[int64]string{42: "3eab", 10001: "c3fe", 1: "5ddf"}, map[string]int64{}
		for rows.Next() {
			var code string
			var holder int64
			if err := rows.Scan(&code, &holder); err != nil {
				t.Fatal(err)
			}
			if code[6:10] != genes[holder] {
				t.Errorf("%s is of holder %d", code, holder)
			}
			codes[code] = holder
		}
		if len(codes) != 5 || rows.Err() != nil {
			t.Fatalf("%v, %v", codes, rows.Err())
		}
		for code, holder := range codes {
			if n := number(t, db, "SELECT holder FROM ticket WHERE code = '"+strings.ToUpper(code)+"'"); n != holder {
				t.Errorf("%s is of %d", code, n)
			}
			if plan := strings.Join(texts(t, conn, "EXPLAIN SELECT * FROM ticket WHERE code = '"+code+"'"), "\n"); !strings.Contains(plan, "the text with the gene") || strings.Contains(plan, "s0, s1") {
				t.Errorf("%s is looked for elsewhere:\n%s", code, plan)
			}
		}
		if n := number(t, db, "SELECT COUNT(DISTINCT RIGHT(code, 6)) FROM ticket"); n != 5 {
			t.Errorf("%d sequences", n)
		}
		if _, err := db.Exec("INSERT INTO ticket (holder, code) VALUES (42, '2603015ddf000001')"); err == nil || !strings.Contains(err.Error(), "has gene 0x5ddf") {
			t.Errorf("a text of another gene: %v", err)
		}
		exec(t, db, "INSERT INTO ticket (holder, code, seat) VALUES (42, '2003013eab000001', 1) ON DUPLICATE KEY UPDATE seat = 2")
		exec(t, db, "INSERT INTO ticket (holder, code, seat) VALUES (42, '2003013eab000001', 1) ON DUPLICATE KEY UPDATE seat = 2")
		if n := number(t, db, "SELECT seat FROM ticket WHERE code = '2003013eab000001'"); n != 2 {
			t.Errorf("seat %d", n)
		}
		checkStranded(t, s)
		if err := db.QueryRow("SELECT NEXT VALUE FOR ticket").Scan(new(string)); err == nil || !strings.Contains(err.Error(), "there is no owner to take the gene of: its texts are for stamped columns") {
			t.Errorf("without a row: %v", err)
		}
		if _, err := db.Exec("INSERT INTO bad (holder) VALUES (1)"); err == nil || !strings.Contains(err.Error(), "generator ticket shows the gene at position 7: write at: 7") {
			t.Errorf("at another position: %v", err)
		}
	})
}

// checkStranded declares the texts of a table with rows: a row whose text lacks its gene would not be found.
func checkStranded(t *testing.T, s *shop.Shop) {
	t.Helper()
	table := catalog.TableName{Schema: s.Schema, Name: "ticket"}
	before := *s.Cluster
	before.Tables = maps.Clone(before.Tables)
	d := before.Tables[table]
	d.GeneText = nil
	before.Tables[table] = d
	shards, err := fitting.Open(func(string) (string, error) { return s.Servers[0].Password, nil }, time.Second, nil, s.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer shards.Close(t.Context())
	change := fitting.Change{Old: &before, Next: s.Cluster, Shards: shards}
	stranded := func() string {
		t.Helper()
		loaded, err := change.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := change.Stranded(t.Context(), loaded)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(rows, "\n")
	}
	exec(t, s.Shard(t, 0), "INSERT INTO ticket (ticket_id, holder) SELECT ticket_id + 100000, holder FROM ticket WHERE holder = 42 LIMIT 1") // NULL, which = never finds
	if got := stranded(); got != "" {
		t.Errorf("all rows show their genes: %s", got)
	}
	exec(t, s.Shard(t, 0), "UPDATE ticket SET code = REPLACE(code, '3eab', '5ddf') WHERE holder = 42 AND code IS NOT NULL ORDER BY ticket_id LIMIT 1")
	if got := stranded(); !strings.Contains(got, "gene 0x3eab, and code of 0x5ddf") {
		t.Errorf("a row that shows another gene: %s", got)
	}
	exec(t, s.Shard(t, 0), "UPDATE ticket SET code = REPLACE(code, '5ddf', '3eab') WHERE holder = 42")
}
