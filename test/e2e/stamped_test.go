package e2e

import (
	"database/sql"
	"maps"
	"strings"
	"testing"
	"time"

	"locus/control/generators"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// Declared generators fill columns with numbers and texts, over several shards, in addition to the ID; values that a
// row gives are kept. A column that can't hold its generator's values is refused with the remedy, and its table is
// not served.
func TestStampedColumns(t *testing.T) {
	var set *generators.Set
	options := shop.Options{
		Tables: []string{
			`CREATE TABLE {schema}.ticket (
				ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, serial BIGINT NOT NULL, moment VARCHAR(19) NOT NULL,
				label VARCHAR(20) NOT NULL, note VARCHAR(20), KEY (label)
			) DEFAULT CHARSET utf8mb4`,
			"CREATE TABLE {schema}.narrow (id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, serial INT NOT NULL, label VARCHAR(5) NOT NULL) DEFAULT CHARSET utf8mb4",
		},
		Declarations: `  {schema}.ticket:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {serial: seq, moment: flake, label: invoice}
  {schema}.narrow:
    kind: sharded
    owner: holder
    id: {column: id, layout: int64}
    stamped: {serial: seq, label: invoice}
generators:
  seq: {kind: segment}
  flake: {kind: snowflake}
  invoice: {kind: format, template: "QJ{seq:6}"}
`,
		Options: func(o *proxy.Options) {
			set = generators.New(generators.Options{KV: shop.Segments(), Name: "test", DataDir: t.TempDir()})
			o.Generators = set
			t.Cleanup(func() { _ = set.Close() })
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "INSERT INTO ticket (holder, note) VALUES (?, 'a'), (?, 'b'), (?, 'c'), (?, 'd')", 42, 10001, 42, 7)
		exec(t, db, "INSERT INTO ticket (holder, serial, label, note) VALUES (42, 1000000, NULL, 'e')")
		exec(t, db, "INSERT INTO ticket SET holder = 7, note = 'f', serial = DEFAULT, label = 'mine'")
		for question, want := range map[string]int64{
			"SELECT COUNT(*) FROM ticket":                                                                6,
			"SELECT COUNT(DISTINCT serial) FROM ticket WHERE serial BETWEEN 1 AND 5":                     5,
			"SELECT COUNT(*) FROM ticket WHERE serial = 1000000 AND note = 'e'":                          1,
			"SELECT COUNT(DISTINCT moment) FROM ticket WHERE moment > 0":                                 6,
			"SELECT COUNT(DISTINCT label) FROM ticket WHERE label BETWEEN 'QJ000001' AND 'QJ000005'":     5,
			"SELECT COUNT(*) FROM ticket WHERE label = 'mine' AND note = 'f' AND serial BETWEEN 1 AND 5": 1,
		} {
			if n := number(t, db, question); n != want {
				t.Errorf("%s: %d, want %d", question, n, want)
			}
		}
		_, err := db.Exec("INSERT INTO narrow (holder) VALUES (1)")
		for _, want := range []string{"generator seq makes numbers up to 2^63-1, and this is INT", "generator invoice makes texts of up to 8 bytes, and this is VARCHAR(5)"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a table whose columns are too narrow: %v, want %q", err, want)
			}
		}
	})
}

// If its generator is unavailable, the statement fails, and no row is inserted.
func TestStampedColumnWithoutItsGenerator(t *testing.T) {
	var set *generators.Set
	options := shop.Options{
		Tables: []string{"CREATE TABLE {schema}.ticket (ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, serial BIGINT NOT NULL) DEFAULT CHARSET utf8mb4"},
		Declarations: `  {schema}.ticket:
    kind: sharded
    owner: holder
    id: {column: ticket_id, layout: int64}
    stamped: {serial: cached}
generators:
  cached: {kind: memcached, server: "127.0.0.1:1"}
`,
		Options: func(o *proxy.Options) {
			set = generators.New(generators.Options{KV: shop.Segments(), Name: "test", DataDir: t.TempDir()})
			o.Generators = set
			t.Cleanup(func() { _ = set.Close() })
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		_, err := db.Exec("INSERT INTO ticket (holder) VALUES (42)")
		if err == nil || !strings.Contains(err.Error(), "column serial: generator cached") {
			t.Errorf("its generator is away: %v", err)
		}
		if n := number(t, db, "SELECT COUNT(*) FROM ticket WHERE holder = 42"); n != 0 {
			t.Errorf("%d rows are there", n)
		}
		// A changed declaration takes effect without a restart.
		next := *s.Cluster
		next.Generators = maps.Clone(next.Generators)
		next.Generators["cached"] = cluster.Generator{Kind: cluster.SegmentGenerator}
		s.Apply(&next)
		deadline := time.Now().Add(time.Minute)
		for _, err = db.Exec("INSERT INTO ticket (holder) VALUES (42)"); err != nil; _, err = db.Exec("INSERT INTO ticket (holder) VALUES (42)") {
			if time.Now().After(deadline) {
				t.Fatalf("declared anew: %v", err)
			}
		}
	})
}
