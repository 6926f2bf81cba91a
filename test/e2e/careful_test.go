package e2e

import (
	"database/sql"
	"os"
	"regexp"
	"strings"
	"testing"

	"locus/control/generators"
	"locus/proxy"
	"locus/test/shop"
)

// firstExample is the first example of docs/reference/generators.md, with its tables in the test's schema.
func firstExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/generators.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```\n")
	tables, is := strings.CutPrefix(example, "tables:\n")
	if !is || !strings.Contains(tables, "stamped: {bill_no: bill}") || !strings.Contains(tables, "\ngenerators:\n") {
		t.Fatalf("the first example of docs/reference/generators.md is\n%s", example)
	}
	return strings.ReplaceAll(tables, "shop.parcel", "{schema}.parcel")
}

// A generator for careful shops, as documented: rows get bills' numbers, also while etcd is down and while the
// shard's table is unavailable, in turn.
func TestWhatACarefulShopTakes(t *testing.T) {
	var kv *leaving
	var set *generators.Set
	options := shop.Options{
		Tables:       []string{"CREATE TABLE {schema}.parcel (parcel_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL, bill_no VARCHAR(15) NOT NULL UNIQUE) DEFAULT CHARSET utf8mb4"},
		Declarations: firstExample(t),
		Options: func(o *proxy.Options) {
			kv = &leaving{KV: shop.Segments()}
			set = generators.New(generators.Options{KV: kv, Name: "test", Secrets: o.Secrets})
			t.Cleanup(func() { _ = set.Close() })
			o.Segments, o.Generators = kv, set
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		form, seen := regexp.MustCompile(`^B[0-9]{14}$`), map[string]bool{}
		goesOn := func(why string) {
			t.Helper()
			// More numbers than a process has in memory of either member.
			for range 3 {
				texts, err := set.Next(t.Context(), generators.Request{Declared: s.Cluster, Name: "bill", Count: 5000})
				if err != nil {
					t.Fatalf("%s: %v", why, err)
				}
				for _, text := range texts {
					if seen[text] || !form.MatchString(text) {
						t.Fatalf("%s: %s, seen before: %v", why, text, seen[text])
					}
					seen[text] = true
				}
			}
			exec(t, db, "INSERT INTO parcel (sender) VALUES (42), (7), (42)")
		}
		goesOn("all is well")
		kv.away.Store(true)
		goesOn("etcd is away")
		kv.away.Store(false)
		goesOn("etcd is back")
		table := s.Shard(t, 0)
		exec(t, table, "RENAME TABLE locus.number TO locus.number_away")
		goesOn("the shard's table is away")
		exec(t, table, "RENAME TABLE locus.number_away TO locus.number")
		goesOn("all is back")
		if n := number(t, db, "SELECT COUNT(*) FROM parcel WHERE bill_no REGEXP '^B[0-9]{14}$'"); n != 15 {
			t.Errorf("%d of 15 rows have a bill's number", n)
		}
	})
}
