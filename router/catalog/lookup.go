package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/stmt"
)

// A look-up index finds the rows of a sharded table by a unique column that doesn't determine their gene, such as an e-mail
// address. Its entries are the rows of a separate sharded table, the look-up table. An entry contains a value of the column,
// the value's hash and the gene of the row. The hash is the owner of the entry. So entries with equal values are on one shard,
// whose primary key keeps the values unique, and jobs move, copy and compare entries like the rows of any sharded table. An
// entry doesn't name the row's shard, so it stays valid when the row is moved.

// Names of the columns of a look-up table, in addition to the indexed column.
const (
	LookupHash = "value_hash"
	LookupGene = "row_gene"
)

// LookupOf declares that a table contains the entries of a look-up index.
type LookupOf struct {
	// Table is the indexed table. It is sharded, and in the same database.
	Table string `yaml:"table"`
	// Column is the indexed column. The look-up table has a column of the same name and type.
	Column string `yaml:"column"`
	// Kept: the table has been filled, or is being filled. Every proxy keeps the entries, or refuses to write the rows.
	Kept bool `yaml:"kept,omitempty"`
	// Filled: every row of the indexed table has its entry. Statements use the index only then. It implies Kept.
	Filled bool `yaml:"filled,omitempty"`
	// Undecided: the declaration comes from a file, which doesn't contain Kept and Filled. The current values stay in force.
	Undecided bool `yaml:"-"`
}

// String returns the value of the word that declares it in a comment.
func (l *LookupOf) String() string { return l.Table + "." + l.Column }

// parseLookup parses TABLE.COLUMN.
func parseLookup(text string) (*LookupOf, error) {
	table, column, ok := strings.Cut(text, ".")
	if !ok || table == "" || column == "" || strings.Contains(column, ".") {
		return nil, fmt.Errorf("lookup=%s: name the indexed column of a table of the same database, such as lookup=users.email", text)
	}
	return &LookupOf{Table: table, Column: column}, nil
}

func (d Declaration) validateLookup() error {
	l := d.Lookup
	if l == nil {
		return nil
	}
	switch {
	case l.Table == "" || l.Column == "" || strings.Contains(l.Table+l.Column, "."):
		return errors.New("lookup needs `table:` and `column:`, names without points")
	case !strings.EqualFold(d.Owner, LookupHash):
		return fmt.Errorf("the owner of a look-up table is its column %s", LookupHash)
	case slices.ContainsFunc([]string{LookupHash, LookupGene, OwnGene}, func(own string) bool { return strings.EqualFold(own, l.Column) }):
		return fmt.Errorf("lookup: a column that is called %s can't be indexed, since the look-up table has its own column of that name", l.Column)
	case d.ID != nil || d.Parent != nil || d.OrderNumber != "" || d.GeneText != nil || d.Gene != "" || d.Version != "" || len(d.Stamped) > 0:
		return errors.New("a look-up table has no other declared columns: remove id, parent, order_number, gene_text, gene, version and stamped")
	}
	return nil
}

// Lookup is a look-up index of a table.
type Lookup struct {
	// Entries is the look-up table.
	Entries *Table
	// Indexed is the indexed table. Column is the position of the column in it.
	Indexed *Table
	Column  int
	// Key is the name of the unique key that the column has in the indexed table. Duplicates are reported under this name.
	Key string
	// Filled: every row has its entry.
	Filled bool
}

// Of returns the indexed column.
func (l *Lookup) Of() *Column { return &l.Indexed.Columns[l.Column] }

// Lookups returns the look-up indexes of a table that statements maintain, by their columns. It returns nothing for a table
// that isn't sharded.
func (c *Catalog) Lookups(t *Table) []Lookup {
	if t == nil {
		return nil
	}
	return c.lookups[t.TableName]
}

// LookupsOn returns the names of the look-up tables that are declared for a table, including those that don't fit, sorted.
func (c *Catalog) LookupsOn(name TableName) (names []TableName) {
	for d, l := range c.declaredLookups() {
		if (TableName{d.Schema, l.Table}) == name {
			names = append(names, d)
		}
	}
	slices.SortFunc(names, TableName.Compare)
	return names
}

func (c *Catalog) declaredLookups() map[TableName]*LookupOf {
	all := map[TableName]*LookupOf{}
	for name, t := range c.tables {
		if t.Lookup != nil {
			all[name] = t.Lookup
		}
	}
	for name := range c.broken {
		if m := c.Unfit(name); m != nil && m.Declaration.Lookup != nil {
			all[name] = m.Declaration.Lookup
		}
	}
	return all
}

// UnindexedError reports a write to a table with a look-up index that can't be maintained.
type UnindexedError struct {
	Table, Entries TableName
	Reason         error
}

func (e *UnindexedError) Error() string {
	return fmt.Sprintf("look-up index %s of table %s can't be kept: %v; or DROP TABLE %s", e.Entries, e.Table, e.Reason, e.Entries)
}

func (e *UnindexedError) Unwrap() error { return e.Reason }

// Unindexed returns why the rows of a table can't be changed, or nil. The reason is a look-up index that must be maintained
// and can't be.
func (c *Catalog) Unindexed(name TableName) error {
	if e := c.unindexed[name]; e != nil {
		return e
	}
	return nil
}

// UnfitLookup returns why a look-up table is not maintained, or nil.
func (c *Catalog) UnfitLookup(name TableName) *UnindexedError {
	at := slices.IndexFunc(c.unfitLookups, func(e *UnindexedError) bool { return e.Entries == name })
	if at < 0 {
		return nil
	}
	return c.unfitLookups[at]
}

// linkLookups connects look-up tables with the tables that they index. Statements maintain only indexes that are filled, or
// are being filled. If there are two for one column, it chooses a filled one before one that is being filled, and then the
// first by name.
func (c *Catalog) linkLookups() {
	c.lookups, c.unindexed = map[TableName][]Lookup{}, map[TableName]*UnindexedError{}
	declared := c.declaredLookups()
	progress := func(of *LookupOf) int {
		switch {
		case of.Filled:
			return 0
		case of.Kept:
			return 1
		}
		return 2
	}
	names := slices.SortedFunc(maps.Keys(declared), func(a, b TableName) int {
		return cmp.Or(progress(declared[a])-progress(declared[b]), a.Compare(b))
	})
	for _, name := range names {
		of := declared[name]
		indexed := TableName{name.Schema, of.Table}
		l, err := c.link(name, of, indexed)
		switch {
		case err == nil && (of.Kept || of.Filled):
			c.lookups[indexed] = append(c.lookups[indexed], l)
		case err == nil:
			c.unkept = append(c.unkept, l)
		default:
			c.unfitLookups = append(c.unfitLookups, &UnindexedError{indexed, name, err})
			if of.Kept || of.Filled {
				c.unindexed[indexed] = c.unfitLookups[len(c.unfitLookups)-1]
			}
		}
	}
	for _, list := range c.lookups {
		slices.SortFunc(list, func(a, b Lookup) int { return a.Column - b.Column })
	}
}

// LookupOf returns the look-up index whose entries a table contains, even if statements don't maintain it yet, or nil.
func (c *Catalog) LookupOf(entries *Table) *Lookup {
	indexed := TableName{entries.Schema, entries.Lookup.Table}
	for _, list := range [][]Lookup{c.lookups[indexed], c.unkept} {
		if at := slices.IndexFunc(list, func(l Lookup) bool { return l.Entries == entries }); at >= 0 {
			return &list[at]
		}
	}
	return nil
}

func (c *Catalog) link(name TableName, of *LookupOf, indexed TableName) (l Lookup, err error) {
	entries, err := c.Find(name)
	if err != nil {
		return l, err
	}
	t, err := c.Find(indexed)
	switch {
	case err != nil:
		return l, err
	case t == nil || t.Kind != Sharded:
		return l, fmt.Errorf("table %s is not sharded: declare it first", indexed)
	case t.Lookup != nil:
		return l, fmt.Errorf("table %s is a look-up table itself", indexed)
	}
	at, has := t.Column(of.Column)
	if !has {
		return l, fmt.Errorf("table %s has no column %s", indexed, of.Column)
	}
	l = Lookup{Entries: entries, Indexed: t, Column: at, Filled: of.Filled}
	if err := l.checkColumn(); err != nil {
		return l, err
	}
	only := func(u UniqueKey) bool { return !u.Partial && slices.Equal(u.Columns, []int{at}) }
	key := slices.IndexFunc(t.Unique, only)
	if key < 0 {
		return l, fmt.Errorf("column %s of table %s has no unique key of its own: ALTER TABLE %s ADD UNIQUE KEY (%s)", of.Column, indexed, indexed, quoted(of.Column))
	}
	l.Key = t.Unique[key].Name
	for _, other := range c.lookups[indexed] {
		if other.Column == at {
			return l, fmt.Errorf("column %s of table %s has the look-up table %s already", of.Column, indexed, other.Entries.TableName)
		}
	}
	return l, nil
}

// checkLookups removes the look-up indexes of tables whose rows can change without a statement that names the indexed column:
// by a foreign key, with rows of another table, or by a trigger. It refuses writes to these tables if the index must be
// maintained.
func (c *Catalog) checkLookups(listings map[router.ShardName]*Listing) {
	for indexed, list := range c.lookups {
		c.lookups[indexed] = slices.DeleteFunc(list, func(l Lookup) bool { return !c.keepable(&l, listings) })
		if len(c.lookups[indexed]) == 0 {
			delete(c.lookups, indexed)
		}
	}
	c.unkept = slices.DeleteFunc(c.unkept, func(l Lookup) bool { return !c.keepable(&l, listings) })
}

// keepable reports whether the shards change indexed rows by statements alone. If they don't, it records the reason.
func (c *Catalog) keepable(l *Lookup, listings map[router.ShardName]*Listing) bool {
	for _, shard := range c.Shards {
		if listings[shard] == nil {
			continue
		}
		parent, why := listings[shard].changesIndexed(l)
		if why == nil {
			continue
		}
		e := &UnindexedError{l.Indexed.TableName, l.Entries.TableName, why}
		c.unfitLookups = append(c.unfitLookups, e)
		if l.Filled || l.Entries.Lookup.Kept {
			c.unindexed[l.Indexed.TableName] = e
			if parent != (TableName{}) {
				c.unindexed[parent] = e
			}
		}
		return false
	}
	return true
}

// changesIndexed returns why a shard changes indexed rows by other means than statements that name the column, or nil. If that is a foreign key,
// parent is the table that it refers to.
func (l *Listing) changesIndexed(of *Lookup) (parent TableName, why error) {
	for i := range l.ForeignKeys {
		if f := &l.ForeignKeys[i]; f.TableName == of.Indexed.TableName && f.acts() {
			return f.References, fmt.Errorf("foreign key %s changes or deletes its rows together with rows of %s: make it RESTRICT", f.Name, f.References)
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Type == trigger && p.Schema == of.Indexed.Schema && p.On == of.Indexed.Name && p.reading().words[strings.ToLower(of.Of().Name)] {
			return parent, fmt.Errorf("trigger %s names column %s and may change its values: drop the trigger on each shard, and let the application do what it does", p.Name, of.Of().Name)
		}
	}
	return parent, nil
}

// lookupRemarks returns the remarks about look-up tables that are not used.
func (c *Catalog) lookupRemarks() (texts []string) {
	for _, e := range c.unfitLookups {
		texts = append(texts, e.Error())
	}
	for _, list := range append(slices.Collect(maps.Values(c.lookups)), c.unkept) {
		for i := range list {
			if l := &list[i]; !l.Filled {
				texts = append(texts, fmt.Sprintf("look-up table %s is not filled, so no statement uses it: CALL locus.fill_lookup('%[1]s')", l.Entries.TableName))
			}
		}
	}
	return texts
}

// KeepsUnique reports whether a look-up index keeps a unique key of a table unique over all shards.
func (c *Catalog) KeepsUnique(t *Table, u UniqueKey) bool {
	return slices.ContainsFunc(c.lookups[t.TableName], func(l Lookup) bool { return l.Filled && l.Key == u.Name })
}

// checkColumn returns why a column can't be indexed, or nil.
func (l *Lookup) checkColumn() error {
	of := l.Of()
	if err := of.foldable(); err != nil {
		return fmt.Errorf("column %s of table %s %w", of.Name, l.Indexed.TableName, err)
	}
	at, _ := l.Entries.Column(of.Name)
	own := &l.Entries.Columns[at]
	if own.SQLType() != of.SQLType() || own.Collation != of.Collation || own.Charset != of.Charset {
		return fmt.Errorf("column %s is %s, and in table %s it is %s: make both the same", of.Name, own.Spelled(), l.Indexed.TableName, of.Spelled())
	}
	if _, is := l.Indexed.KeyOf(of.Name); is {
		return fmt.Errorf("column %s decides where a row of %s is, so rows are found by it without an index", of.Name, l.Indexed.TableName)
	}
	return nil
}

// lookupColumns checks the columns of a look-up table.
func (r *resolver) lookupColumns() {
	of := r.t.Lookup
	if of == nil {
		return
	}
	remedy := "create it as CREATE TABLE … (" + quoted(of.Column) + " TYPE NOT NULL, " + LookupHash + " BIGINT UNSIGNED NOT NULL, " + LookupGene + " INT UNSIGNED NOT NULL, PRIMARY KEY (" +
		LookupHash + ", " + quoted(of.Column) + "))"
	for _, c := range r.t.Columns {
		if !slices.ContainsFunc([]string{of.Column, LookupHash, LookupGene, OwnGene}, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			r.refuse(c.Name, "a look-up table has no such column: %s", remedy)
		}
	}
	for _, name := range []string{of.Column, LookupHash, LookupGene} {
		c, _ := r.column(name, "part of a look-up table")
		switch {
		case c == nil:
		case c.Nullable || c.Generated || c.AutoIncrement:
			r.refuse(name, "in a look-up table it is a plain column that is NOT NULL: %s", remedy)
		case name == LookupHash && (c.DataType != "bigint" || !c.Unsigned):
			r.refuse(name, "it is a BIGINT UNSIGNED, this is %s: %s", c.SQLType(), remedy)
		case name == LookupGene && (!c.IsInteger() || !c.holds(stmt.IntValue(int64(r.t.Width.Last())))):
			r.refuse(name, "it can't contain every gene, this is %s: %s", c.SQLType(), remedy)
		}
	}
}

// CheckLookupKey returns why the primary key of a look-up table doesn't keep its values unique, or nil.
func (t *Table) CheckLookupKey() error {
	if t.Lookup == nil {
		return nil
	}
	hash, _ := t.Column(LookupHash)
	value, _ := t.Column(t.Lookup.Column)
	for _, u := range t.Unique {
		if u.Name == "PRIMARY" && !u.Partial && slices.Equal(u.Columns, []int{hash, value}) {
			return nil
		}
	}
	return fmt.Errorf("table %s: the primary key of a look-up table is (%s, %s)", t.TableName, LookupHash, t.Lookup.Column)
}

// Entry is the entry that a row has in a look-up table, or the value that an entry is searched by.
type Entry struct {
	Value stmt.Value
	// Hash is the hash of the value's normal form.
	Hash uint64
	// Row is the gene of the row.
	Row gene.Gene
}

// SetHash sets the hash to that of a normal form.
func (e *Entry) SetHash(normal []byte) { e.Hash = xxhash.Sum64(normal) }

// Shard returns the index of the shard that has the entry. A look-up table has no IDs, so the genes of its rows are not divided.
func (e *Entry) Shard(m *router.Map) int { return m.Lookup(e.Gene(m)) }

// Gene returns the gene of the entry itself.
func (e *Entry) Gene(m *router.Map) gene.Gene { return gene.OfInt(int64(e.Hash), m.Width()) }

// AppendLiteral appends the value as an SQL literal that has the same meaning in every character set and mode.
func (e *Entry) AppendLiteral(dst []byte, of *Column) []byte {
	switch {
	case e.Value.Kind == stmt.Int:
		return strconv.AppendInt(dst, e.Value.Int, 10)
	case e.Value.Kind == stmt.Uint:
		return strconv.AppendUint(dst, e.Value.Uint, 10)
	case !of.IsBinary():
		dst = append(dst, "_utf8mb4 "...)
	}
	return fmt.Appendf(dst, "x'%x'", e.Value.Text)
}

// AppendInsert appends the statement that inserts entries.
func (l *Lookup) AppendInsert(dst []byte, m *router.Map, entries []Entry) []byte {
	of := l.Of()
	dst = fmt.Appendf(dst, "INSERT INTO %s.%s (%s, %s, %s, %s) VALUES ", quoted(l.Entries.Schema), quoted(l.Entries.Name), quoted(of.Name), LookupHash, LookupGene, OwnGene)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = entries[i].AppendLiteral(append(dst, '('), of)
		dst = fmt.Appendf(dst, ", %d, %d, %d)", entries[i].Hash, entries[i].Row, entries[i].Gene(m))
	}
	return dst
}

// AppendDelete appends the statement that deletes the entries of rows. Before the index is filled, the row of another gene may have the value too,
// and its entry stays.
func (l *Lookup) AppendDelete(dst []byte, entries []Entry) []byte {
	dst = fmt.Appendf(dst, "DELETE FROM %s.%s", quoted(l.Entries.Schema), quoted(l.Entries.Name))
	return l.appendCondition(dst, entries, true)
}

// AppendFind appends the query for the genes of the rows that have one of the values.
func (l *Lookup) AppendFind(dst []byte, entries []Entry) []byte {
	dst = fmt.Appendf(dst, "SELECT %s FROM %s.%s", LookupGene, quoted(l.Entries.Schema), quoted(l.Entries.Name))
	return l.appendCondition(dst, entries, false)
}

func (l *Lookup) appendCondition(dst []byte, entries []Entry, ofRows bool) []byte {
	of := l.Of()
	for i := range entries {
		dst = append(dst, [2]string{" OR ", " WHERE "}[min(1, max(0, 1-i))]...)
		dst = fmt.Appendf(dst, "%s = %d AND %s = ", LookupHash, entries[i].Hash, quoted(of.Name))
		dst = entries[i].AppendLiteral(dst, of)
		if ofRows {
			dst = fmt.Appendf(dst, " AND %s = %d", LookupGene, entries[i].Row)
		}
	}
	return dst
}

// NameDuplicate returns a shard's message about a duplicate entry as the message of the indexed table: with the value alone and the name of the
// table's own key. MySQL writes the table in front of the key. Servers shorten long values, so the rest of one is taken from the entries.
func (l *Lookup) NameDuplicate(message string, entries []Entry) string {
	key, own := l.Key, "'PRIMARY'"
	if named := "'" + l.Entries.Name + ".PRIMARY'"; strings.Contains(message, named) {
		key, own = l.Indexed.Name+"."+key, named
	}
	begin, at := strings.IndexByte(message, '\''), strings.LastIndex(message, own)
	if begin < 0 || at <= begin {
		return message
	}
	end := begin + 1
	for message[end] >= '0' && message[end] <= '9' {
		end++
	}
	if message[end] != '-' {
		return message
	}
	most := strings.LastIndexByte(message[:at], '\'') - (begin + 1)
	value := lengthened(message[end+1:begin+1+most], most, entries)
	return message[:begin+1] + value + message[begin+1+most:at] + "'" + key + "'" + message[at+len(own):]
}

// shortTo is the number of bytes to which MySQL shortens values in messages about duplicates. MariaDB ends longer ones by dots.
const shortTo = 64

// lengthened returns a value that a server has shortened, as it shortens the value alone: to a number of bytes.
func lengthened(value string, most int, entries []Entry) string {
	dots := "..."
	begin, short := strings.CutSuffix(value, dots)
	whole := func(e Entry) bool { return string(e.Value.Text) == value }
	if !short && most != shortTo || slices.ContainsFunc(entries, whole) {
		return value
	}
	if !short {
		dots = ""
	}
	for _, e := range entries {
		text := string(e.Value.Text)
		switch {
		case !strings.HasPrefix(text, begin), strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }):
		case len(text) <= most:
			return text
		default:
			return text[:most-len(dots)] + dots
		}
	}
	return value
}

// AppendPresent appends the query for the genes of existing entries, and for the position of each in a list of entries. It locks them.
func (l *Lookup) AppendPresent(dst []byte, entries []Entry) []byte {
	of := l.Of()
	dst = fmt.Appendf(dst, "SELECT %s, CASE %s", LookupGene, quoted(of.Name))
	for i := range entries {
		dst = entries[i].AppendLiteral(append(dst, " WHEN "...), of)
		dst = fmt.Appendf(dst, " THEN %d", i)
	}
	dst = fmt.Appendf(dst, " END FROM %s.%s", quoted(l.Entries.Schema), quoted(l.Entries.Name))
	return append(l.appendCondition(dst, entries, false), " FOR UPDATE"...)
}
