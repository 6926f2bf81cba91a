package e2e

import (
	"database/sql"
	"strings"
	"testing"

	"locus/control/generators"
	"locus/proxy"
	"locus/test/shop"
)

// Values for {context:…} are those of the session's locus_context: for NEXT VALUE FOR, as text and prepared, and for
// stamped columns. An unreadable value is refused, and changes nothing.
func TestContextOfASession(t *testing.T) {
	options := shop.Options{
		Tables: []string{
			"CREATE TABLE {schema}.ticket (ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, label VARCHAR(20) NOT NULL) DEFAULT CHARSET utf8mb4",
		},
		Declarations: `  {schema}.ticket:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {label: parcel}
generators:
  own: {kind: segment, per: "context:branch"}
  parcel: {kind: format, template: "{context:area:3}-{context:branch:4}-{seq:5}"}
`,
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
			t.Cleanup(func() { _ = set.Close() })
			o.Generators = set
		},
	}
	each(t, options, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		conn, _ := connect(t, db)
		text := func(query string) string {
			t.Helper()
			var got string
			if err := conn.QueryRow(query).Scan(&got); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			return got
		}
		_, err := conn.Exec("INSERT INTO ticket (holder) VALUES (42)")
		if err == nil || !strings.Contains(err.Error(), `no value for "area": give one`) {
			t.Errorf("without values: %v", err)
		}
		exec(t, conn, "SET locus_context = 'area=010&branch=6541'")
		if got := text("SELECT @@locus_context"); got != "area=010&branch=6541" {
			t.Errorf("locus_context is %s", got)
		}
		if got := text("SELECT NEXT VALUE FOR parcel"); !strings.HasPrefix(got, "010-6541-0000") {
			t.Errorf("NEXT VALUE FOR gives %s", got)
		}
		for _, of := range []struct{ branch, want string }{{"7", "1"}, {"8", "1"}, {"7", "2"}} {
			exec(t, conn, "SET locus_context = 'area=010&branch="+of.branch+"'")
			if got := text("SELECT NEXT VALUE FOR own"); got != of.want {
				t.Errorf("NEXT VALUE FOR own of %s gives %s, want %s", of.branch, got, of.want)
			}
		}
		exec(t, conn, "SET locus_context = 'area=010&branch=6541'")
		prepared, err := conn.PrepareContext(t.Context(), "INSERT INTO ticket (holder) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		for _, branch := range []string{"1", "2"} {
			exec(t, conn, "SET SESSION locus_context = CONCAT('area=b%26c&branch=', ?)", branch)
			if _, err := prepared.ExecContext(t.Context(), 42); err != nil {
				t.Fatal(err)
			}
		}
		exec(t, conn, "INSERT INTO ticket (holder) VALUES (7), (42)")
		for question, want := range map[string]int64{
			"SELECT COUNT(*) FROM ticket WHERE label LIKE 'b&c-1-%'":     1,
			"SELECT COUNT(*) FROM ticket WHERE label LIKE 'b&c-2-%'":     3,
			"SELECT COUNT(DISTINCT label) FROM ticket WHERE holder >= 0": 4,
		} {
			if n := number(t, db, question); n != want {
				t.Errorf("%s: %d, want %d", question, n, want)
			}
		}
		before := text("SELECT @@locus_context")
		for _, value := range []string{
			"7", "NULL", "'area=%zz'", "'area=1&area=2'", "'=1'", "'a;b'", "'area=" + strings.Repeat("x", 1024) + "'", `_binary X'ff'`,
		} {
			_, err := conn.Exec("SET locus_context = " + value)
			refused(t, err, 1231, "locus_context")
		}
		if got := text("SELECT @@locus_context"); got != before {
			t.Errorf("after what was refused: %s, want %s", got, before)
		}
		exec(t, conn, "SET locus_context = 'area=0101&branch=1'")
		if _, err := conn.Exec("INSERT INTO ticket (holder) VALUES (42)"); err == nil || !strings.Contains(err.Error(), "at most 3 fit") {
			t.Errorf("a value that is too long: %v", err)
		}
		exec(t, conn, "SET locus_context = DEFAULT")
		if got := text("SELECT CONCAT('is ', @@locus_context)"); got != "is " {
			t.Errorf("by default it %s", got)
		}
		if _, err := conn.Exec("INSERT INTO ticket (holder) VALUES (42)"); err == nil {
			t.Error("values are gone, and a row was inserted")
		}
	})
}
