package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Insertion describes an INSERT into a sharded table: the meaning of each value of a row, and the columns to add.
type Insertion struct {
	Table *catalog.Table
	// Columns are the columns of the values of a row, by their positions in the table.
	Columns []int
	// These are positions of values in a row, or -1. Root is the position of the value whose gene the row has.
	Root, ID, OrderNumber, Gene, Version int
	// Stamped are the positions of the columns that generators fill.
	Stamped []int
	// Added are the columns to add to the list, in this order.
	Added []Stamp
	// List is where the names of added columns are inserted: before the closing parenthesis of the list, or after the SET of
	// INSERT … SET.
	List stmt.Anchor
	// Set is true for INSERT … SET. Its values are in Values.
	Set    bool
	Values []stmt.Operand
	// keys are the keys of the row whose genes must be equal to the gene of Root.
	keys []rowKey
	// numbered is the position in a row of the AUTO_INCREMENT column's value, or -1. number is the position of that column in the
	// table if the cluster numbers it, or -1.
	numbered, number int
	places           []int // positions in a row by Stamp, or -1
	// unlisted is true if the statement names no columns.
	unlisted bool
	// noDefault are the positions in a row that may not be DEFAULT, because every server would compute another default.
	noDefault []int
	// unseen are the unique keys of which no row may be a duplicate.
	unseen []unseenKey
	// unsided are the unique keys of which no row of a divided gene may be a duplicate, because the other row may be on the other
	// server. They apply to any INSERT: one that replaces rows, skips duplicates, or fails on them.
	unsided  []unseenKey
	replaces bool
	// Indexing describes how the table's look-up indexes are maintained. Nil: it has none.
	Indexing *Indexing
}

// Stamp is the kind of a generated value.
type Stamp uint8

const (
	StampID Stamp = iota
	StampOrderNumber
	StampGene
	StampVersion
	// StampNumber is the number of an AUTO_INCREMENT column.
	StampNumber
	// StampColumn is the first of the columns that generators fill.
	StampColumn
)

// Names reports whether the names of added columns must be added to the statement's list of columns. A statement without a list
// gets one with all columns.
func (in *Insertion) Names() bool { return len(in.Added) > 0 && !in.Set && !in.unlisted }

// Column returns the position in the table of the column that a stamp fills.
func (in *Insertion) Column(s Stamp) int {
	if s >= StampColumn {
		return in.Table.StampedColumns[s-StampColumn].Column
	}
	return [...]int{in.Table.IDColumn, in.Table.OrderNumberColumn, in.Table.GeneColumn, in.Table.VersionColumn, in.number}[s]
}

// Places returns the position in a row of each Stamp's value, or -1.
func (in *Insertion) Places() []int { return in.places }

type rowKey struct {
	key *catalog.Key
	at  int
}

// Stamped is an INSERT into a sharded table. The genes of its rows decide where they are inserted. The rows are completed with
// generated values.
type Stamped struct {
	Facts
	Insert *Insertion
	// Added is inserted into the text on every shard.
	Added []Splice
}

func (*Stamped) String() string { return "stamped" }

func planInsert(s *stmt.Statement, ctx Context) (Plan, error) {
	t, err := ctx.find(s.Insert.Table)
	if err != nil {
		return nil, err
	}
	switch {
	case t == nil && systemSchema(ctx.schemaOf(s.Insert.Table)):
		return nil, refuse(Unsupported, "changing tables of the server's own: connect to the shard for it")
	case t == nil || t.Kind != catalog.Sharded:
		return planPlainInsert(s, t, ctx)
	}
	if s.Features&(stmt.SetsUserVariable|stmt.NamedLock|stmt.ReadsNamedLock) != 0 {
		return nil, refuse(Unsupported, "assigning user variables or asking for named locks in an INSERT into sharded table %s: do it in a statement of its own", t.TableName)
	}
	in, err := planInsertion(s.Insert, t)
	if err != nil {
		return nil, err
	}
	if verb := replacing(s); verb != "" {
		if err := in.checkDuplicates(verb, ctx.unseen(t)); err != nil {
			return nil, err
		}
		in.replaces = true
	}
	in.collectUnsided()
	if in.Indexing, err = ctx.indexInsert(s, in); err != nil {
		return nil, err
	}
	if s.Insert.Partitioned && in.Indexing != nil { // rows of other partitions may be skipped, and their entries would stay
		return nil, refuse(Unsupported, "PARTITION in an INSERT into sharded table %s, which has a look-up index: leave it out", t.TableName)
	}
	facts := Facts{
		Writes: true, Cacheable: true, Clock: s.Features&stmt.ReadsClock != 0 || in.defaultsToClock(),
		ReadsInsertID: s.Features&stmt.ReadsInsertID != 0,
		KeepsInsertID: s.Features&stmt.SetsInsertID != 0,
	}
	if len(s.Blocks) > 0 || s.Insert.FromSelect {
		return planInsertQuery(facts, s, t, in.Columns, ctx)
	}
	p := &Stamped{Facts: facts, Insert: in}
	if !s.Insert.HasList && s.Insert.Set == nil {
		p.Added = append(p.Added, in.listed(s.Insert.ColumnsEnd))
	}
	p.Added = append(p.Added, in.aliased(s.Insert)...)
	version, err := onDuplicate(s, t)
	p.Added = append(p.Added, version...)
	return p, err
}

// listed returns a list of columns for an INSERT without one. The shard then assigns the values to the same columns as the proxy
// did, even if the table has just changed.
func (in *Insertion) listed(at stmt.Anchor) Splice {
	names := make([]string, len(in.Columns))
	for i, column := range in.Columns {
		names[i] = quote(in.Table.Columns[column].Name)
	}
	for _, stamp := range in.Added { // invisible ones
		names = append(names, quote(in.Table.Columns[in.Column(stamp)].Name))
	}
	return Splice{at, "(" + strings.Join(names, ", ") + ") "}
}

// listedCopies returns a list of columns for an INSERT without one into a global table. A column that only some shards have so
// far then gets its default there.
func listedCopies(n *stmt.Insertion, in *Insertion, t *catalog.Table) ([]Splice, error) {
	at := n.ColumnsEnd
	if n.FromSelect {
		at = n.Query
	}
	if n.HasList || n.Set != nil || len(t.Columns) == 0 || n.FromSelect && !n.Placed {
		return nil, nil
	}
	if in == nil {
		var err error
		if in, err = newInsertion(n, t); err != nil {
			return nil, err
		}
	}
	return []Splice{in.listed(at)}, nil
}

// Listing returns a list of columns for an INSERT without one that a shard will prepare. The shard's table may now have other
// columns than the proxy knows.
func Listing(p Plan) []Splice {
	var columns []int
	var t *catalog.Table
	n := p.About().Statement.Insert
	switch p := p.(type) {
	case *Stamped:
		columns, t = p.Insert.Columns, p.Insert.Table
	case *InsertQuery:
		columns, t = p.Columns, p.Into
	case *Global:
		if p.Insert == nil {
			return p.Added
		}
		columns, t = p.Insert.Columns, p.Insert.Table
	default:
		return nil
	}
	if n.HasList || n.Set != nil || n.FromSelect && !n.Placed {
		return nil
	}
	at := n.ColumnsEnd
	if n.FromSelect {
		at = n.Query
	}
	in := Insertion{Table: t, Columns: columns}
	return []Splice{in.listed(at)}
}

func planInsertion(n *stmt.Insertion, t *catalog.Table) (*Insertion, error) {
	in, err := newInsertion(n, t)
	if err == nil {
		err = in.locateNumber()
	}
	if err != nil {
		return nil, err
	}
	in.locate()
	if root := t.Root(); in.Root < 0 && !in.rootNumbered() {
		return nil, refuse(OwnerMissing, "an INSERT into %s must give %s, the %s that decides where the row lives", t.TableName, root.Column.Name, root.Role)
	}
	return in, nil
}

// newInsertion returns an Insertion with the columns that the INSERT assigns, in the order of its values.
func newInsertion(n *stmt.Insertion, t *catalog.Table) (*Insertion, error) {
	in := &Insertion{Table: t, Root: -1, ID: -1, OrderNumber: -1, Gene: -1, Version: -1, numbered: -1, number: -1, List: n.ColumnsEnd}
	names := n.Columns
	switch {
	case n.Set != nil:
		in.Set, in.List = true, n.SetStart
		for _, a := range n.Set {
			names = append(names, a.Column.Name)
			in.Values = append(in.Values, a.Value)
		}
	case n.Empty:
		in.unlisted = true
	case !n.HasList:
		in.unlisted = true
		for i := range t.Columns {
			if !t.Columns[i].Invisible {
				names = append(names, t.Columns[i].Name)
			}
		}
	}
	for _, name := range names {
		i, ok := t.Column(name)
		switch {
		case !ok:
			return nil, refuse(UnknownColumn, "Unknown column '%s' in table %s", name, t.TableName)
		case slices.Contains(in.Columns, i):
			return nil, refuse(RowShape, "Column '%s' specified twice", name)
		}
		in.Columns = append(in.Columns, i)
	}
	return in, nil
}

// locate finds the keys among the values, and the columns to add.
func (in *Insertion) locate() {
	t := in.Table
	for at, column := range in.Columns {
		switch column {
		case t.IDColumn:
			in.ID = at
		case t.OrderNumberColumn:
			in.OrderNumber = at
		case t.VersionColumn:
			in.Version = at
		case t.GeneColumn:
			in.Gene = at
		}
		for k := range t.Keys {
			if t.Keys[k].Column != &t.Columns[column] {
				continue
			}
			if k == 0 {
				in.Root = at
				continue
			}
			in.keys = append(in.keys, rowKey{&t.Keys[k], at})
		}
	}
	in.Stamped = make([]int, len(t.StampedColumns))
	for i, c := range t.StampedColumns {
		in.Stamped[i] = slices.Index(in.Columns, c.Column)
	}
	number := -1
	if in.number >= 0 {
		number = in.numbered
	}
	in.places = append([]int{in.ID, in.OrderNumber, in.Gene, in.Version, number}, in.Stamped...)
	for stamp, at := range in.places {
		if at < 0 && in.Column(Stamp(stamp)) >= 0 {
			in.Added = append(in.Added, Stamp(stamp))
		}
	}
}
