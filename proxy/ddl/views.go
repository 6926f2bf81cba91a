package ddl

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router/catalog"
	"locus/router/plan"
)

// spreadViews creates views on the shards that lack them if they name a view that has just become available on every shard. A dump creates
// its views in the order of their names, over placeholders for later views. A placeholder reads nothing and is on the default shard alone,
// and so are views over it. The view itself was created, so a failure is a warning.
func (d *definition) spreadViews(out Outcome) {
	if !d.makesView() || out.Err != nil || len(out.Done) == 0 || d.Redefined == nil {
		return
	}
	next := []catalog.TableName{d.FullName(d.Facts.Statement.Tables[0])}
	for len(next) > 0 {
		lagging := d.Snapshot().Catalog.Lagging(next[0])
		next = next[1:]
		for _, view := range lagging {
			if err := d.spreadView(view); err != nil {
				d.Diagnostics.Warn("the view is made, and view " + view.String() + ", which reads it, is not on every shard: " + d.Message(err) + "; CREATE OR REPLACE it")
				return
			}
		}
		if lagging != nil {
			d.Reread(catalog.Change{Tables: lagging})
		}
		next = append(next, lagging...)
	}
}

// spreadView creates a view on the shards where it differs from that of the default shard.
func (d *definition) spreadView(view catalog.TableName) error {
	rows, err := d.Conns.Ask(d.catalog.First(), 0, backend.Default, "SHOW CREATE VIEW "+plan.Quote(view.Schema)+"."+plan.Quote(view.Name))
	if err != nil {
		return err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) < 4 || !strings.HasPrefix(string(rows.Rows[0][1]), "CREATE ") {
		return undeclarable("SHOW CREATE VIEW on shard %s returns a text that locus can't read", d.catalog.First())
	}
	row := rows.Rows[0]
	under := backend.Default.WithNames(string(row[2]), string(row[3])) // with these character sets, texts in the view have their original meaning
	for _, shard := range d.catalog.Shards {
		if slices.Contains(d.Snapshot().Catalog.On(view), shard) {
			continue
		}
		if err := d.Conns.Exec(d.Conns.Waits(), shard, under, string(row[1])); err != nil {
			return err
		}
	}
	return nil
}
