package preflight

import (
	"fmt"
	"slices"
	"strings"

	"locus/migrate/table"
	"locus/router/catalog"
)

// sequences refuses tables whose rows can't be divided: tables with rows that have no sequence, and tables with
// a unique key whose equal values could be in rows on both servers. Neither server would detect such a
// duplicate.
func (i *inspection) sequences() error {
	if !i.config.BySequence {
		return nil
	}
	for _, n := range i.names() {
		t := i.source.tables[n]
		if t == nil {
			continue
		}
		side := t.Declared.Side()
		if side == nil {
			i.problem("declare an ID, or the parent's, that is NOT NULL, or move the genes whole: leave --by sequence out",
				"the rows of table %s have no sequences: neither an ID nor a parent's ID determines on which server a row is", n)
			continue
		}
		for _, u := range append([]table.Index{t.Key}, t.Unique...) {
			if !dividable(t, side, u) {
				i.problem("add "+side.Column.Name+" to its columns, or make it no unique key, or move the genes whole: leave --by sequence out",
					"unique key %s of table %s does not contain %s: equal values could be in rows on both servers", u.Name, n, side.Column.Name)
			}
		}
	}
	return i.dividedKeys()
}

// dividedKeys refuses foreign keys between rows that may be on different servers while they are divided.
func (i *inspection) dividedKeys() error {
	keys, err := table.ForeignKeys(i.ctx, i.source)
	if err != nil {
		return err
	}
	for k := range keys {
		key := &keys[k]
		child, parent := i.source.tables[key.TableName], i.source.tables[key.References]
		if child == nil || parent == nil || child.Declared.Side() == nil || parent.Declared.Side() == nil {
			continue
		}
		from, to := child.Declared.Side().Column.Name, parent.Declared.Side().Column.Name
		at := slices.IndexFunc(key.Columns, func(c string) bool { return strings.EqualFold(c, from) })
		if at < 0 || !strings.EqualFold(key.Referred[at], to) {
			i.problem(fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s, or move the genes whole: leave --by sequence out", key.TableName, key.Name),
				"foreign key %s ties rows of %s to rows of %s, which may be on the other server", key.Name, key.TableName, key.References)
		}
	}
	return nil
}

// dividable reports whether an index stays unique while rows are divided. That is so if rows with equal values
// are always on one server. It is also so if the proxies never give a value twice: for the rows' own IDs, and
// for the cluster's numbers.
func dividable(t *table.Table, side *catalog.Key, u table.Index) bool {
	return t.Numbered(u) || slices.ContainsFunc(u.Columns, func(c int) bool {
		return c >= 0 && (c == t.Declared.IDColumn || t.Declared.DeterminesSide(side, c))
	})
}
