package e2e

import (
	"database/sql"
	"maps"
	"testing"

	"locus/router/catalog"
	"locus/test/shop"
)

// The start of a table's sequences, and their segments, are declared. If they are declared again while IDs are
// generated, no ID repeats.
func TestSegmentsOfATable(t *testing.T) {
	options := shop.Options{
		Tables: []string{"CREATE TABLE {schema}.parcel (parcel_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL) DEFAULT CHARSET utf8mb4"},
		Declarations: `  {schema}.parcel:
    kind: sharded
    owner: sender
    id: {column: parcel_id, layout: int64, segments: {start: 1000000, min_step: 10, max_step: 50}}
`,
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		const sequence = "parcel_id & ((1 << 42) - 1)"
		insert := func(rounds int) {
			t.Helper()
			for range rounds { // a number that came twice would be a duplicate key
				exec(t, db, "INSERT INTO parcel (sender) VALUES (42), (7), (42)")
			}
		}
		insert(40)
		if n := number(t, db, "SELECT MIN("+sequence+") FROM parcel WHERE sender = 42"); n != 1_000_000 {
			t.Errorf("the first sequence is %d", n)
		}
		name := catalog.TableName{Schema: s.Schema, Name: "parcel"}
		for _, next := range []struct {
			catalog.Segments
			above int64 // until a sequence is, the proxy has not followed
		}{
			{catalog.Segments{Start: 5_000_000, MaxStep: 100_000, Sizing: "leaf"}, 5_000_000},
			{catalog.Segments{Start: 10, MinStep: 5, MaxStep: 5, Buffer: "1ms"}, 5_001_000}, // behind the segment that was held
			{catalog.Segments{Ordered: true, Start: 6_000_000}, 6_000_000},
			{catalog.Segments{}, 6_000_000},
		} {
			c := *s.Cluster
			c.Tables = maps.Clone(c.Tables)
			d := c.Tables[name]
			d.ID = &catalog.IDColumn{Column: "parcel_id", Layout: "int64", Segments: next.Segments}
			c.Tables[name] = d
			s.Apply(&c)
			until(t, "the proxy has followed", func() bool {
				insert(1)
				return number(t, db, "SELECT MAX("+sequence+") FROM parcel WHERE sender = 42") >= next.above
			})
			insert(40)
		}
		if n := number(t, db, "SELECT COUNT(*) FROM parcel WHERE sender = 42 AND "+sequence+" < 1000000"); n != 0 {
			t.Errorf("%d sequences are below the start", n)
		}
	})
}
