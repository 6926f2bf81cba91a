package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Sought describes how a look-up index finds the shards of a statement that contains none of its table's keys. The entries of
// the values contain the genes of the rows that have them. The statement keeps its condition, so an entry that is newer or
// older than the row doesn't change the answer.
type Sought struct {
	Lookup   *catalog.Lookup
	operands []stmt.Operand
}

// mostSought limits the values that are looked up for one statement. A statement with more values asks all shards.
const mostSought = 200

// sought returns how a look-up index finds the rows of a statement, or nil. All tables of the statement must be joined by their keys, so
// that one shard has every row of the answer.
func (sc *scope) sought(s *stmt.Statement, k *Keyed) *Sought {
	if len(k.classes) != 1 || k.arms != nil || k.pinned != "" || len(s.Blocks) != 1 || k.classes[0].cond != nil {
		return nil
	}
	list := sc.of(s.Blocks[0])
	for i := range list {
		n := &list[i]
		if !n.sharded() || n.ref.Nullable {
			continue
		}
		lookups := sc.ctx.Catalog.Lookups(n.table)
		if lookups == nil {
			continue
		}
		var found *Sought
		sc.eachEqual(n, s.Blocks[0].Where, func(column int, operands []stmt.Operand) {
			at := slices.IndexFunc(lookups, func(l catalog.Lookup) bool { return l.Filled && l.Column == column })
			if found == nil && at >= 0 {
				found = &Sought{&lookups[at], operands}
			}
		})
		if found != nil {
			return found
		}
	}
	return nil
}

// Entries returns the values that are looked up, without their hashes. ok is false if there are too many, or if servers may compare one of
// them as another type than the column's.
func (s *Sought) Entries(v *Values) (entries []catalog.Entry, ok bool) {
	of := s.Lookup.Of()
	add := func(value stmt.Value) bool {
		if value.Kind == stmt.Null {
			return true
		}
		sought, ok := of.Sought(value)
		entries = append(entries, catalog.Entry{Value: sought})
		return ok && len(entries) <= mostSought
	}
	for i := range s.operands {
		o := &s.operands[i]
		if o.Slot < 0 || o.Negative {
			if !add(v.operand(o)) {
				return nil, false
			}
			continue
		}
		slot := v.Slots[o.Slot]
		for at := slot.First; at < slot.First+slot.Count; at++ {
			if !add(v.Value(at)) {
				return nil, false
			}
		}
	}
	return entries, true
}

func (s *Sought) explain(e *explainer) {
	if _, ok := s.Entries(e.v); ok && len(e.r.Shards) > 1 {
		e.addLine("looks up", "%s in %s; of these shards, only those that its entries name are asked", s.Lookup.Of().Name, s.Lookup.Entries.TableName)
	}
}

// Narrow restricts the route to shards, of which each may have rows, in ascending order. If there are none, one shard returns the empty answer.
func (r *Route) Narrow(shards []int) {
	all := r.Shards
	narrowed := intersect(all, shards)
	if len(narrowed) == 0 {
		narrowed = all[:1]
	}
	r.Shards = append(r.Shards[:0], narrowed...)
}

// Indexing describes how a statement maintains the look-up indexes of its table.
type Indexing struct {
	// Lookups are the indexes whose entries the statement may change.
	Lookups []catalog.Lookup
	// Duplicates describes how an INSERT handles conflicting rows. Nil: they are errors.
	Duplicates *Duplicates

	at  []int          // the positions of their columns in a row of an INSERT, or -1: every row has NULL
	set []stmt.Operand // the values that an UPDATE assigns; nil: the statement is a DELETE

	table  *catalog.Table
	alias  string
	filter stmt.Filter
	owners *Owned
	reads  *Read
}

// refuseLookupTable refuses to change a look-up table other than through the table that it indexes.
func (c Context) refuseLookupTable(t *catalog.Table) error {
	if t == nil || t.Lookup == nil {
		return nil
	}
	return refuse(Indexed, "table %s contains the entries of a look-up index, which are written with the rows of %s.%s: change those rows", t.TableName, t.Schema, t.Lookup.Table)
}

// indexInsert plans how an INSERT maintains the look-up indexes of its table. It returns nil if the table has none.
func (c Context) indexInsert(s *stmt.Statement, in *Insertion) (*Indexing, error) {
	t := in.Table
	if err := c.refuseLookupTable(t); err != nil {
		return nil, err
	}
	lookups := c.Catalog.Lookups(t)
	if lookups == nil {
		return nil, nil
	}
	x := &Indexing{Lookups: lookups, table: t}
	if replacing(s) != "" {
		var err error
		if x.Duplicates, err = c.duplicates(s, in, lookups); err != nil {
			return nil, err
		}
	}
	for i := range lookups {
		at := slices.Index(in.Columns, lookups[i].Column)
		if of := lookups[i].Of(); at < 0 && !of.DefaultsToNull && of.HasDefault {
			return nil, refuse(Indexed, "an INSERT into %s must give %s, by which rows are looked up in %s", t.TableName, of.Name, lookups[i].Entries.TableName)
		}
		x.at = append(x.at, at)
	}
	return x, nil
}

// RowEntry returns the entry that a row of an INSERT has in the n-th index, without its hash and gene. has is false for NULL. The error is a
// *Refusal. The server that has the row may have an error of its own about the value, which clients expect.
func (x *Indexing) RowEntry(in *Insertion, v *Values, row, n int) (entry catalog.Entry, has bool, err error) {
	if x.at[n] < 0 {
		of := x.Lookups[n].Of()
		if !of.DefaultsToNull { // servers refuse the row in strict mode
			err = refuse(Indexed, "an INSERT into %s must give %s, by which rows are looked up in %s", x.table.TableName, of.Name, x.Lookups[n].Entries.TableName)
		}
		return entry, false, err
	}
	value := in.Value(v, row, x.at[n])
	of := x.Lookups[n].Of()
	if value.Kind == stmt.Default && of.DefaultsToNull {
		return entry, false, nil
	}
	return x.entry(n, value, fmt.Sprintf("row %d: ", row+1))
}

func (x *Indexing) entry(n int, value stmt.Value, where string) (entry catalog.Entry, has bool, err error) {
	l := &x.Lookups[n]
	stored, err := l.Of().Indexable(value)
	if err != nil {
		return entry, false, refuse(Indexed, "%s%s, by which rows of %s are looked up in %s, %v", where, l.Of().Name, x.table.TableName, l.Entries.TableName, err)
	}
	return catalog.Entry{Value: stored}, stored.Kind != stmt.Null, nil
}

// indexChange plans how an UPDATE or DELETE maintains look-up indexes. It sets Indexing, or refuses the statement.
func (p *Change) indexChange(s *stmt.Statement, sc *scope) error {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if n.ref.Derived || !sc.changes(s, n) {
			continue
		}
		if err := sc.ctx.refuseLookupTable(n.table); err != nil {
			return err
		}
		lookups := sc.ctx.Catalog.Lookups(n.table)
		if lookups == nil {
			continue
		}
		x := &Indexing{table: n.table, alias: n.ref.Alias, owners: p.Owned}
		for at := range lookups {
			if s.Kind == stmt.Delete {
				x.Lookups = append(x.Lookups, lookups[at])
				continue
			}
			for _, a := range s.Assign {
				target, unknown := sc.within(n.block, a.Column)
				column, is := n.table.Column(a.Column.Name)
				if target != n && !unknown || !is || column != lookups[at].Column || a.Same {
					continue
				}
				if !a.Value.Known() {
					return refuse(Indexed, "column %s of %s, by which rows are looked up in %s, can only be set to a value that is known beforehand", a.Column.Name, n.table.TableName, lookups[at].Entries.TableName)
				}
				if k := len(x.Lookups); k > 0 && x.Lookups[k-1].Column == column {
					return refuse(Indexed, "column %s of %s, by which rows are looked up in %s, is set twice: set it once", a.Column.Name, n.table.TableName, lookups[at].Entries.TableName)
				}
				x.Lookups, x.set = append(x.Lookups, lookups[at]), append(x.set, a.Value)
			}
		}
		if x.Lookups == nil {
			continue
		}
		if why := sc.unkept(s, n); why != "" {
			return refuse(Indexed, "%s of %s, which has the look-up index %s, with %s: read the keys of the rows, then change them by their keys", s.Verb, n.table.TableName, x.Lookups[0].Entries.TableName, why)
		}
		x.filter = s.Blocks[0].Filter
		x.reads = &Read{Facts: Facts{Statement: &stmt.Statement{Kind: stmt.Select, Blocks: s.Blocks}, Leaves: LeavesNothing}}
		p.Indexing = x
	}
	return nil
}

// unkept returns why a locking read can't find the rows that a change of a table with a look-up index changes, or "".
func (sc *scope) unkept(s *stmt.Statement, n *node) string {
	b := s.Blocks[0]
	switch f := s.Features; {
	case len(sc.nodes) != 1:
		return "other tables"
	case len(s.Blocks) > 1, f&stmt.With != 0:
		return "subqueries"
	case f&stmt.Limited != 0:
		return "ORDER BY or LIMIT"
	case f&stmt.Returning != 0:
		return "RETURNING"
	case s.IgnoresErrors:
		return "IGNORE"
	case f&(stmt.SetsUserVariable|stmt.SetsInsertID|stmt.NamedLock|stmt.ReadsNamedLock|stmt.UnknownFunction|stmt.Volatile) != 0:
		return "functions or variables that may have another value when the rows are read"
	case !b.HasFilter, n.ref.Partitioned, !ascii(n.table.Schema + n.table.Name + n.ref.Alias):
		return "such a list of tables"
	}
	return ""
}

// Deletes reports whether the rows lose their entries because they are deleted.
func (x *Indexing) Deletes() bool { return x.set == nil }

// NewEntry returns the entry that an UPDATE gives a row in the n-th index, without its hash and gene. has is false for NULL.
func (x *Indexing) NewEntry(v *Values, n int) (entry catalog.Entry, has bool, err error) {
	return x.entry(n, v.operand(&x.set[n]), "")
}

// Filter returns where the condition of the statement is. ok is false if it has none.
func (x *Indexing) Filter(v *Values) (from, to int, ok bool) {
	return v.Offset(x.filter.Open), v.Offset(x.filter.Close), x.filter.There
}

// Reads returns the plan of the locking read, for its facts.
func (x *Indexing) Reads() Plan { return x.reads }

// GeneKey returns the key from which the gene of a row is read.
func (x *Indexing) GeneKey() *catalog.Key { return x.table.ComputableKey() }

// LockingRead returns the query for the rows that a shard changes, without the foreign ones. It selects the values of the
// indexed columns, and after them the gene's key. Its answer contains integers unchanged, bytes in hexadecimal, and texts as
// the hexadecimal bytes of utf8mb4. condition is the text of the statement's condition, or nil.
func (x *Indexing) LockingRead(condition []byte, foreign router.Foreign, limit int) []byte {
	from := quote(x.table.Schema) + "." + quote(x.table.Name) + " AS " + quote(x.alias)
	text := selecting(fieldsOf(x.alias, x.Lookups, x.GeneKey()), from, condition, x.owners, foreign)
	return append(text, " LIMIT "+strconv.Itoa(limit)+" FOR UPDATE"...)
}

// fieldsOf returns the fields of a query for the values of indexed columns, and for the gene's key.
func fieldsOf(alias string, lookups []catalog.Lookup, key *catalog.Key) string {
	fields := make([]string, 0, len(lookups)+1)
	for i := range lookups {
		fields = append(fields, plainly(alias, lookups[i].Of()))
	}
	return strings.Join(append(fields, plainly(alias, key.Column)), ", ")
}

// plainly returns a field whose ASCII text contains a column's value whatever the character set of the connection is.
func plainly(alias string, c *catalog.Column) string {
	column := quote(alias) + "." + quote(c.Name)
	switch {
	case c.IsInteger():
		return column
	case c.IsBinary():
		return "HEX(" + column + ")"
	}
	return "HEX(CONVERT(" + column + " USING utf8mb4))"
}

// EntryWrite returns a plan with the facts of a statement that writes entries of a look-up index.
func EntryWrite(kind stmt.Kind) Plan {
	return &Change{Facts: Facts{Statement: &stmt.Statement{Kind: kind, Insert: &stmt.Insertion{}}, Writes: true, Leaves: LeavesNothing}}
}

// String names the look-up tables.
func (x *Indexing) String() string {
	names := make([]string, len(x.Lookups))
	for i := range x.Lookups {
		names[i] = x.Lookups[i].Entries.String()
	}
	return strings.Join(names, ", ")
}

// checkIndexedTables refuses a definition after which look-up indexes could not be maintained.
func (c Context) checkIndexedTables(s *stmt.Statement) error {
	if s.Kind != stmt.DDL || s.Features&(stmt.TemporaryTable|stmt.MakesTable) != 0 {
		return nil
	}
	for _, k := range s.ForeignKeys {
		f := catalog.ForeignKey{OnDelete: cmp.Or(k.OnDelete, "RESTRICT"), OnUpdate: cmp.Or(k.OnUpdate, "RESTRICT")}
		if lookups := c.Catalog.LookupsOn(c.fullName(s.Tables[0])); lookups != nil && f.Acts() {
			return refuse(Indexed, "a foreign key of table %s, which has the look-up index %s, that changes or deletes its rows with those of %s: make it RESTRICT", c.fullName(s.Tables[0]), lookups[0], c.fullName(k.References))
		}
	}
	renamed := len(s.Renames) > 0
	for _, name := range s.Tables {
		full := c.fullName(name)
		if c.isTemporary(full) {
			continue
		}
		lookups := slices.DeleteFunc(c.Catalog.LookupsOn(full), func(l catalog.TableName) bool { // the look-up tables that are dropped in the same statement
			return slices.ContainsFunc(s.Dropped, func(dropped stmt.TableName) bool { return c.fullName(dropped) == l })
		})
		d, _ := c.Catalog.Declared(full)
		switch gone := s.Verb == "TRUNCATE" || slices.Contains(s.Dropped, name); {
		case len(lookups) > 0 && (gone || renamed):
			return refuse(Indexed, "%s of table %s, which has the look-up index %s: DROP TABLE %s first, and create and fill it again", s.Verb, full, lookups[0], lookups[0])
		case d.Lookup != nil && (renamed || s.Features&stmt.Redefines != 0 && len(s.Dropped) == 0):
			verb := s.Verb
			if verb == "CREATE" || verb == "DROP" {
				verb += " INDEX"
			}
			return refuse(Indexed, "%s of table %s, which contains the entries of a look-up index: DROP TABLE %s, and create and fill it again", verb, full, full)
		default:
			for _, l := range lookups {
				if err := c.checkIndexedColumn(s, full, l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkIndexedColumn refuses to drop, rename or retype the column of a look-up index, and to drop its unique key.
func (c Context) checkIndexedColumn(s *stmt.Statement, table, entries catalog.TableName) error {
	d, _ := c.Catalog.Declared(entries)
	if key, is := c.dropsKeyOf(s, table, d.Lookup); is && (d.Lookup.Kept || d.Lookup.Filled) {
		return refuse(ColumnKept, "key %s of table %s belongs to column %s, which has the look-up index %s: add another unique key on the column before, or DROP TABLE %[4]s first", key, table, d.Lookup.Column, entries)
	}
	a := s.Altering
	if a == nil {
		return nil
	}
	if a.Rows != "" {
		return refuse(Indexed, "%s in an ALTER TABLE of %s, which has the look-up index %s, would leave rows and entries that don't agree: change the rows by INSERT and DELETE, or DROP TABLE %s first, and create and fill it again", a.Rows, table, entries, entries)
	}
	if a.Engine != "" && a.Engine != "innodb" {
		return refuse(Indexed, "table %s, which has the look-up index %s, with ENGINE=%s could not roll back its rows together with their entries: leave it InnoDB, or DROP TABLE %[2]s first", table, entries, a.Engine)
	}
	for _, column := range a.Columns {
		if strings.EqualFold(column.Name, d.Lookup.Column) {
			return refuse(ColumnKept, "column %s of table %s has the look-up index %s: DROP TABLE %s first, and create and fill it again", column.Name, table, entries, entries)
		}
	}
	if a.Converts != nil {
		return refuse(ColumnKept, "column %s of table %s has the look-up index %s, and would get another character set: convert the other columns one by one, or DROP TABLE %s first", d.Lookup.Column, table, entries, entries)
	}
	return nil
}

// dropsKeyOf returns the key that a definition drops, if an indexed column then has no unique key of its own any more.
func (c Context) dropsKeyOf(s *stmt.Statement, table catalog.TableName, of *catalog.LookupOf) (key string, is bool) {
	t, err := c.Catalog.Find(table)
	if err != nil || t == nil {
		return "", false
	}
	at, _ := t.Column(of.Column)
	for _, u := range t.Unique {
		switch {
		case u.Partial || !slices.Equal(u.Columns, []int{at}):
		case slices.ContainsFunc(s.DroppedKeys, func(name string) bool { return strings.EqualFold(name, u.Name) }):
			key = u.Name
		default:
			return "", false
		}
	}
	return key, key != ""
}

// fillAlias is the name of the indexed table in the query of [FillRead].
const fillAlias = "locus_rows"

// FillRead returns the query for the next rows of an indexed table on one shard, in the order of the indexed column, without the foreign ones.
// after is the entry of the last row before them, or nil. The rows stay locked, so their entries can't change.
func FillRead(l *catalog.Lookup, foreign router.Foreign, after *catalog.Entry, limit int) (text string, ok bool) {
	of := l.Of()
	column := quote(fillAlias) + "." + quote(of.Name)
	text = "SELECT " + fieldsOf(fillAlias, []catalog.Lookup{*l}, l.Indexed.ComputableKey()) + " FROM " + quote(l.Indexed.Schema) + "." + quote(l.Indexed.Name) + " AS " + quote(fillAlias)
	if after == nil {
		text += " WHERE " + column + " IS NOT NULL"
	} else {
		text += " WHERE " + column + " > " + string(after.AppendLiteral(nil, of))
	}
	if !foreign.Empty() {
		none := l.Indexed.NoneOf(fillAlias, foreign)
		if none == "" {
			return "", false
		}
		text += " AND " + none
	}
	return text + " ORDER BY " + column + " LIMIT " + strconv.Itoa(limit) + " LOCK IN SHARE MODE", true
}
