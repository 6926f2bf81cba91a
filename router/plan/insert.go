package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Insertion is what an INSERT into a sharded table needs: which value of a row
// is what, and which columns are to be added.
type Insertion struct {
	Table *catalog.Table
	// Columns gives for each value of a row its position among the table's columns.
	Columns []int
	// Where the values stand in a row, or -1: Root is what the gene is read from.
	Root, ID, OrderNumber, Gene, Version int
	// Stamped is the same for the columns that generators fill.
	Stamped []int
	// Added are the columns to be added to the list, in this order.
	Added []Stamp
	// List is where the names of added columns go: before the parenthesis that
	// closes the list, or behind the SET of INSERT … SET.
	List stmt.Anchor
	// Set: the values stand in INSERT … SET, in Values.
	Set    bool
	Values []stmt.Operand
	// Keys of the row that must agree with Root, as positions in a row.
	keys []rowKey
	// numbered is where the value of the AUTO_INCREMENT column stands, or -1. Number is that
	// column, by its position in the table, where the cluster numbers it, or -1.
	numbered, number int
	places           []int // of each Stamp's value in a row, or -1
	// unlisted: the statement names no columns.
	unlisted bool
	// anew are the values that may not be DEFAULT, which each server would make anew.
	anew []int
	// unseen are the unique keys of which no row may be a duplicate.
	unseen []unseenKey
	// unsided are the same for rows of a gene that is divided, of any INSERT: the other row is another server's to see. It
	// replaces rows, or leaves out what there is already, or duplicates are errors.
	unsided  []unseenKey
	replaces bool
}

// Stamp is a generated value.
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

// Names tells whether the names of added columns have a list to go to: without one, all columns
// are named.
func (in *Insertion) Names() bool { return len(in.Added) > 0 && !in.Set && !in.unlisted }

// Column gives the position among the table's columns that a stamp fills.
func (in *Insertion) Column(s Stamp) int {
	if s >= StampColumn {
		return in.Table.StampedColumns[s-StampColumn].Column
	}
	return [...]int{in.Table.IDColumn, in.Table.OrderNumberColumn, in.Table.GeneColumn, in.Table.VersionColumn, in.number}[s]
}

// Places gives where the value of each Stamp stands in a row, or -1.
func (in *Insertion) Places() []int { return in.places }

type rowKey struct {
	key *catalog.Key
	at  int
}

// Stamped is an INSERT into a sharded table: it runs by the genes of its rows, which get their generated values.
type Stamped struct {
	Facts
	Insert *Insertion
	// Added is spliced into the text wherever it runs.
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
	if s.Insert.Partitioned {
		return nil, refuse(Unsupported, "PARTITION in an INSERT into sharded table %s: leave it out", t.TableName)
	}
	in, err := insertion(s.Insert, t)
	if err != nil {
		return nil, err
	}
	if verb := replacing(s); verb != "" {
		if err := in.seesDuplicates(verb); err != nil {
			return nil, err
		}
		in.replaces = true
	}
	in.seesOtherSide()
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
	version, err := onDuplicate(s, t)
	p.Added = append(p.Added, version...)
	return p, err
}

// listed names the columns of an INSERT that names none, so that the shard reads
// the values as they were read here even if somebody has just changed the table.
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

// listedCopies is listed of an INSERT into a global table, so that a column which only some shards have by now is left to its
// default on them.
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
		if in, err = given(n, t); err != nil {
			return nil, err
		}
	}
	return []Splice{in.listed(at)}, nil
}

// Listing names the columns of an INSERT that names none, for a shard that is to prepare it: it may show other columns by now than
// are known.
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
		return p.Added
	default:
		return nil
	}
	if n.HasList || n.Set != nil {
		return nil
	}
	at := n.ColumnsEnd
	if n.FromSelect {
		at = n.Query
	}
	in := Insertion{Table: t, Columns: columns}
	return []Splice{in.listed(at)}
}

func insertion(n *stmt.Insertion, t *catalog.Table) (*Insertion, error) {
	in, err := given(n, t)
	if err == nil {
		err = in.numberedHere()
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

// given reads which columns an INSERT gives.
func given(n *stmt.Insertion, t *catalog.Table) (*Insertion, error) {
	in := &Insertion{Table: t, Root: -1, ID: -1, OrderNumber: -1, Gene: -1, Version: -1, numbered: -1, number: -1, List: n.ColumnsEnd}
	names := n.Columns
	switch {
	case n.Set != nil:
		in.Set, in.List = true, n.SetStart
		for _, a := range n.Set {
			names = append(names, a.Column.Name)
			in.Values = append(in.Values, a.Value)
		}
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

// locate finds the keys among the values and what is to be added.
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
