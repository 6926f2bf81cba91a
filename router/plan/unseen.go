package plan

import (
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// unseenKey is a unique key whose duplicate may be on another shard. A row has no duplicate if one of the values at these
// positions is NULL, or will be generated.
type unseenKey struct {
	name string
	at   []int
}

// replacing returns the clause by which an INSERT handles a duplicate. It is empty if a duplicate is an error.
func replacing(s *stmt.Statement) string {
	switch {
	case s.Kind == stmt.Replace:
		return "REPLACE INTO"
	case len(s.Insert.Update) > 0:
		return "ON DUPLICATE KEY UPDATE in an INSERT into"
	case s.Insert.Ignore:
		return "INSERT IGNORE INTO"
	}
	return ""
}

// checkDuplicates sets the unique keys that each row must be checked against, because a duplicate may be on another shard than the
// new row. It refuses the statement if no value of such a key can be NULL or generated.
func (in *Insertion) checkDuplicates(verb string, unseen []catalog.UniqueKey) error {
	t := in.Table
	for _, u := range unseen {
		key := unseenKey{name: u.Name}
		alone := false
		for _, c := range u.Columns {
			at := slices.Index(in.Columns, c)
			switch {
			case at >= 0 && (t.IsStamped(c) || c == in.number || t.Columns[c].Nullable):
				key.at = append(key.at, at)
			case at < 0:
				alone = alone || t.IsStamped(c) || c == in.number || t.Columns[c].DefaultsToNull
			}
		}
		switch {
		case alone:
		case key.at == nil:
			return in.refuseUnseen(verb, u.Name)
		default:
			in.unseen = append(in.unseen, key)
		}
	}
	return nil
}

func (in *Insertion) refuseUnseen(verb, key string) *Refusal {
	return refuse(UniqueUnseen, "%s %s, whose unique key %s does not contain the owner or an ID: a duplicate on another shard would not be seen: "+
		"look for the row first and write a plain INSERT or UPDATE, or add %s to the key", verb, in.Table.TableName, key, in.Table.Root().Column.Name)
}

// checkRow refuses a row that may have a duplicate on another shard, and a row that the shard would number.
func (in *Insertion) checkRow(v *Values, row int) error {
	for _, u := range in.unseen {
		alone := func(at int) bool {
			value, c := in.written(v, row, at), in.Columns[at]
			switch {
			case in.Table.IsStamped(c):
				return AsksForValue(value)
			case c == in.number: // 0 may be a number
				return value.Kind == stmt.Null || value.Kind == stmt.Default
			}
			return value.Kind == stmt.Null || value.Kind == stmt.Default && in.Table.Columns[c].DefaultsToNull
		}
		if !slices.ContainsFunc(u.at, alone) {
			return in.refuseUnseen("a row that may be a duplicate, of", u.name)
		}
	}
	return in.checkRowNumber(v, row)
}

// checkIgnore refuses UPDATE IGNORE of a unique key's columns, if a duplicate on another shard would not be seen.
func checkIgnore(s *stmt.Statement, t *catalog.Table) error {
	if u, ok := changedKey(s, t, t.Unseen); ok {
		return refuse(UniqueUnseen, "UPDATE IGNORE of %s, whose unique key %s does not contain the owner or an ID: a duplicate on another shard would not be seen: "+
			"look for it first, and write a plain UPDATE", t.TableName, u.Name)
	}
	return nil
}

// changedKey returns a unique key whose values an UPDATE IGNORE may change.
func changedKey(s *stmt.Statement, t *catalog.Table, keys []catalog.UniqueKey) (catalog.UniqueKey, bool) {
	if !s.IgnoresErrors {
		return catalog.UniqueKey{}, false
	}
	for _, a := range s.Assign {
		column, ok := t.Column(a.Column.Name)
		if !ok {
			continue
		}
		for _, u := range keys {
			if t.Changes(u, column) {
				return u, true
			}
		}
	}
	return catalog.UniqueKey{}, false
}
