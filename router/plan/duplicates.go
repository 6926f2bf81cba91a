package plan

import (
	"fmt"
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Duplicates describes how an INSERT into a table with look-up indexes handles conflicting rows: rows that have the values of
// a new row in a unique key. They may be on other shards than the new row. So each row is inserted separately, after its
// conflicting rows were locked.
type Duplicates struct {
	Effect Effect

	others []otherKey // unique keys that one shard keeps
	sets   []setEntry // for each look-up index, how ON DUPLICATE KEY UPDATE sets its column
}

// Effect is how an INSERT handles rows that conflict with a new one.
type Effect uint8

const (
	// Skips leaves the new row out: INSERT IGNORE.
	Skips Effect = iota
	// Replaces deletes the conflicting rows: REPLACE.
	Replaces
	// Updates changes the row that conflicts by the first key: ON DUPLICATE KEY UPDATE.
	Updates
)

// otherKey is a unique key without a look-up index. at contains the positions of its columns in a row.
type otherKey struct {
	primary bool
	at      []int
}

// setEntry is the assignment to an indexed column. The value comes from a column of the new row or from an operand, or is
// NULL.
type setEntry struct {
	assigned bool
	isNull   bool
	at       int // position in the new row, or -1
	value    stmt.Operand
}

// duplicates plans how an INSERT handles conflicting rows.
func (c Context) duplicates(s *stmt.Statement, in *Insertion, lookups []catalog.Lookup) (*Duplicates, error) {
	t, d := in.Table, &Duplicates{sets: make([]setEntry, len(lookups))}
	verb := replacing(s)
	why := ""
	switch unfilled := slices.IndexFunc(lookups, func(l catalog.Lookup) bool { return !l.Filled }); {
	case unfilled >= 0:
		return nil, refuse(Indexed, "%s %s, whose look-up index %s is not filled: CALL locus.fill_lookup('%[3]s') first, or write a plain INSERT or UPDATE", verb, t.TableName, lookups[unfilled].Entries.TableName)
	case s.Features&stmt.Returning != 0:
		why = "RETURNING"
	case s.Insert.Ignore && len(s.Insert.Update) > 0:
		why = "IGNORE"
	}
	if why != "" {
		return nil, refuse(Indexed, "%s %s, which has the look-up index %s, with %s: leave %[4]s out", verb, t.TableName, lookups[0].Entries.TableName, why)
	}
	switch {
	case s.Kind == stmt.Replace:
		d.Effect = Replaces
	case len(s.Insert.Update) > 0:
		d.Effect = Updates
	}
	for _, u := range t.Unique {
		if slices.ContainsFunc(lookups, func(l catalog.Lookup) bool { return l.Key == u.Name }) {
			continue
		}
		key, distinct, err := in.otherKey(verb, u)
		if err != nil {
			return nil, err
		}
		if !distinct {
			d.others = append(d.others, key)
		}
	}
	return d, d.planSets(s, in, lookups)
}

// otherKey returns a unique key that one shard keeps. distinct means that no new row conflicts by it, because it contains a value that is
// generated, or NULL.
func (in *Insertion) otherKey(verb string, u catalog.UniqueKey) (key otherKey, distinct bool, err error) {
	t := in.Table
	if u.Partial {
		return key, false, refuse(Indexed, "%s %s, whose unique key %s contains a prefix or an expression, so that the conflicting rows aren't known: look for the row first and write a plain INSERT or UPDATE", verb, t.TableName, u.Name)
	}
	key.primary = u.Name == "PRIMARY"
	for _, c := range u.Columns {
		at := slices.Index(in.Columns, c)
		switch {
		case at >= 0:
			key.at = append(key.at, at)
		case in.isNew(c) || t.Columns[c].DefaultsToNull:
			distinct = true
		default:
			return key, false, refuse(Indexed, "%s %s must give %s, which is part of unique key %s", verb, t.TableName, t.Columns[c].Name, u.Name)
		}
	}
	return key, distinct, nil
}

// isNew reports whether a generator fills a column with a value that no other row has.
func (in *Insertion) isNew(column int) bool {
	t := in.Table
	return column == t.IDColumn || column == t.OrderNumberColumn || t.IsStamped(column) || column == in.number
}

// planSets plans the assignments of indexed columns.
func (d *Duplicates) planSets(s *stmt.Statement, in *Insertion, lookups []catalog.Lookup) error {
	for _, a := range s.Insert.Update {
		column, _ := in.Table.Column(a.Column.Name)
		n := slices.IndexFunc(lookups, func(l catalog.Lookup) bool { return l.Column == column })
		if n < 0 || a.Same {
			continue
		}
		set := setEntry{assigned: true, at: -1, value: a.Value}
		switch from, is := in.Table.Column(a.FromRow); {
		case d.sets[n].assigned:
			return refuse(Indexed, "column %s of %s, by which rows are looked up in %s, is set twice: set it once", a.Column.Name, in.Table.TableName, lookups[n].Entries.TableName)
		case is && in.givesAs(from, column):
			set.at = slices.Index(in.Columns, from)
			set.isNull = set.at < 0
		case is || !a.Value.Known():
			return refuse(Indexed, "column %s of %s, by which rows are looked up in %s, can only be set to a value that is known beforehand", a.Column.Name, in.Table.TableName, lookups[n].Entries.TableName)
		}
		d.sets[n] = set
	}
	return nil
}

// givesAs reports whether the value of a column is known for a new row, and an indexed column would store it unchanged. A
// column of another type could change it.
func (in *Insertion) givesAs(from, indexed int) bool {
	t := in.Table
	a, b := &t.Columns[from], &t.Columns[indexed]
	alike := a.SQLType() == b.SQLType() && a.Charset == b.Charset && a.Collation == b.Collation && !a.Generated && !in.isNew(from)
	return alike && (a.DefaultsToNull || slices.Contains(in.Columns, from))
}

// NeedsRows reports whether the conflicting rows on the new row's own shard must be read before the statement changes them, because their
// entries change.
func (d *Duplicates) NeedsRows() bool {
	return d.Effect == Replaces || slices.ContainsFunc(d.sets, func(s setEntry) bool { return s.assigned })
}

// SetEntry returns the entry that an updated row gets in the n-th index, without its hash and gene. set is false if its value stays. has is
// false for NULL.
func (x *Indexing) SetEntry(in *Insertion, v *Values, row, n int) (entry catalog.Entry, set, has bool, err error) {
	s := &x.Duplicates.sets[n]
	if !s.assigned {
		return entry, false, false, nil
	}
	value, of := stmt.Value{Kind: stmt.Null}, x.Lookups[n].Of()
	switch {
	case s.isNull:
	case s.at >= 0:
		value, of = in.Value(v, row, s.at), &in.Table.Columns[in.Columns[s.at]]
	default:
		value = v.operand(&s.value)
	}
	if value.Kind == stmt.Default && of.DefaultsToNull {
		value.Kind = stmt.Null
	}
	if value.Kind == stmt.Null && !of.Nullable { // servers may store another value
		value.Kind = stmt.Default
	}
	entry, has, err = x.entry(n, value, "ON DUPLICATE KEY UPDATE: ")
	return entry, true, has, err
}

// Condition finds the rows that conflict with a new row by one unique key.
type Condition struct {
	Text    string
	Primary bool // the key is the primary key
}

// OtherConditions returns the conditions for the keys without a look-up index.
func (x *Indexing) OtherConditions(in *Insertion, v *Values, row int) (list []Condition, err error) {
	for _, key := range x.Duplicates.others {
		c := Condition{Primary: key.primary}
		for i, at := range key.at {
			column := &in.Table.Columns[in.Columns[at]]
			value := in.Value(v, row, at)
			if value.Kind == stmt.Null || value.Kind == stmt.Default && column.DefaultsToNull || in.isNew(in.Columns[at]) && AsksForValue(value) {
				c.Text = ""
				break
			}
			literal, err := keyLiteral(column, value)
			if err != nil {
				return nil, refuse(Indexed, "row %d: %s, which is part of a unique key of %s, %v", row+1, column.Name, in.Table.TableName, err)
			}
			c.Text += [2]string{" AND ", ""}[min(1, max(0, 1-i))] + quote(column.Name) + " = " + literal
		}
		if c.Text != "" {
			list = append(list, c)
		}
	}
	return list, nil
}

func keyLiteral(column *catalog.Column, value stmt.Value) (string, error) {
	if !column.IsInteger() && !column.IsText() && !column.IsBinary() {
		return "", fmt.Errorf("is %s, so that the conflicting rows aren't known: look for the row first and write a plain INSERT or UPDATE", column.SQLType())
	}
	stored, err := column.Indexable(value)
	if err != nil {
		return "", err
	}
	if column.DataType == "binary" && len(stored.Text) < column.Length {
		return "", fmt.Errorf("is shorter than the column's %d bytes: give them all", column.Length)
	}
	e := catalog.Entry{Value: stored}
	return string(e.AppendLiteral(nil, column)), nil
}

// EntryCondition returns the condition for the rows that have the value of an entry in the n-th index.
func (x *Indexing) EntryCondition(n int, e *catalog.Entry) Condition {
	of := x.Lookups[n].Of()
	return Condition{quote(of.Name) + " = " + string(e.AppendLiteral(nil, of)), x.Lookups[n].Key == "PRIMARY"}
}

// EntriesCondition returns the condition for the rows that have the value of one of some entries in the n-th index.
func (x *Indexing) EntriesCondition(n int, entries []catalog.Entry) Condition {
	of := x.Lookups[n].Of()
	text := quote(of.Name) + " IN ("
	for i := range entries {
		if i > 0 {
			text += ", "
		}
		text += string(entries[i].AppendLiteral(nil, of))
	}
	return Condition{text + ")", x.Lookups[n].Key == "PRIMARY"}
}

// ConflictRead returns the query that locks the rows that satisfy a condition, without the foreign ones. Its fields are the
// fields of LockingRead, and then the columns of all unique keys. No two rows of a shard have equal fields. The table has its
// own name, because LOCK TABLES locks only that name.
func (x *Indexing) ConflictRead(c Condition, foreign router.Foreign) (text []byte, ok bool) {
	t := x.table
	fields := fieldsOf(t.Name, x.Lookups, x.GeneKey())
	for _, u := range t.Unique {
		for _, column := range u.Columns {
			fields += ", " + plainly(t.Name, &t.Columns[column])
		}
	}
	owned, ok := x.owned(t.Name, foreign)
	return []byte("SELECT " + fields + " FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + c.Text + owned + " FOR UPDATE"), ok
}

// CommittedRead returns the query whether a row satisfies a condition, without the foreign ones. It is for a connection outside of the transaction.
func (x *Indexing) CommittedRead(c Condition, foreign router.Foreign) (text []byte, ok bool) {
	t := x.table
	owned, ok := x.owned(t.Name, foreign)
	return []byte("SELECT 1 FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + c.Text + owned + " LIMIT 1"), ok
}

// ConflictDelete returns the statement that deletes the rows that satisfy a condition, without the foreign ones.
func (x *Indexing) ConflictDelete(c Condition, foreign router.Foreign) (text []byte, ok bool) {
	t := x.table
	owned, ok := x.owned(t.Name, foreign)
	return []byte("DELETE FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + c.Text + owned), ok
}

// owned returns the end of a condition that leaves out foreign rows. ok is false if SQL can't compute that.
func (x *Indexing) owned(qualifier string, foreign router.Foreign) (text string, ok bool) {
	if foreign.Empty() {
		return "", true
	}
	none := x.table.NoneOf(qualifier, foreign)
	return " AND " + none, none != ""
}

// TwoConflicts refuses a row with several conflicting rows, of which the servers' order of the keys decides which one is updated.
func (x *Indexing) TwoConflicts(row int) error {
	return refuse(Indexed, "row %d conflicts with several rows of %s, and by the primary key with none: look for the rows first and write an UPDATE", row+1, x.table.TableName)
}

// UncheckedParent refuses a row whose conflicting row is on another shard, where the parent of the new row isn't.
func (x *Indexing) UncheckedParent(row int) error {
	return refuse(Indexed, "row %d conflicts with a row of %s on another shard, where its foreign keys can't be checked: look for the row first and write an UPDATE", row+1, x.table.TableName)
}

// String returns the effect on a conflicting row, or on the new one.
func (d *Duplicates) String() string {
	return [...]string{"the row is left out", "the other row is deleted", "the other row is updated"}[d.Effect]
}

// unseen returns the unique keys of a table whose duplicates may be on other shards, without those that a look-up index keeps unique.
func (c Context) unseen(t *catalog.Table) []catalog.UniqueKey {
	return slices.DeleteFunc(slices.Clone(t.Unseen), func(u catalog.UniqueKey) bool {
		return slices.ContainsFunc(c.Catalog.Lookups(t), func(l catalog.Lookup) bool { return l.Key == u.Name })
	})
}
