package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
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

// planPlainInsert takes tables that are not sharded.
func planPlainInsert(s *stmt.Statement, t *catalog.Table, ctx Context) (Plan, error) {
	facts := Facts{
		Writes: true, KeepsInsertID: true, Cacheable: true,
		ReadsInsertID: s.Features&(stmt.ReadsInsertID|stmt.Returning) != 0, // rows don't say what was generated
	}
	one := &OneShard{Facts: facts, Shard: ctx.Catalog.First()}
	if t != nil && t.Kind == catalog.Single {
		one.Shard = t.Shard
	}
	p, all := Plan(one), (*Global)(nil)
	if t != nil && t.Kind == catalog.Global {
		all = &Global{Facts: facts}
		all.KeepsInsertID = false
		if err := all.alike(s, t); err != nil {
			return nil, err
		}
		in, err := copied(s.Insert, t)
		if err != nil {
			return nil, err
		}
		p, all.Insert = all, in
		if all.Added, err = listedCopies(s.Insert, in, t); err != nil {
			return nil, err
		}
	}
	if len(s.Blocks) == 0 {
		return p, nil
	}
	err := insertSelect(s, ctx, one.Shard, all)
	if elsewhere(err) && t != nil && len(t.Columns) > 0 && s.Insert.FromSelect && len(s.Insert.Update) == 0 {
		columns, err := columnsOf(s.Insert, t)
		if err != nil {
			return nil, err
		}
		return planInsertQuery(*p.About(), s, t, columns, ctx)
	}
	return p, err
}

// elsewhere tells the refusal of a query whose rows are not where they go.
func elsewhere(err error) bool {
	r, ok := err.(*Refusal) //nolint:errorlint // it is never wrapped
	return ok && r.Code == CrossShard
}

// insertSelect allows a query beside the insert where both are on one shard, or on all of them.
func insertSelect(s *stmt.Statement, ctx Context, shard router.ShardName, all *Global) error {
	if all != nil && s.Insert.FromSelect && (s.Insert.Ignore || s.Kind == stmt.Replace || len(s.Insert.Update) > 0) {
		return refuse(Unsupported, "rows of a query that replace each other in a global table, in whichever order a shard finds them: read the rows, then insert them")
	}
	sc, err := newScope(s, ctx)
	if err != nil {
		return err
	}
	if all != nil && all.Insert.Numbered() != nil && s.Insert.FromSelect {
		return refuse(CrossShard, "INSERT from a query into global table %s, whose column %s is AUTO_INCREMENT: read the rows, then insert them", all.Insert.Table.TableName, all.Insert.Numbered().Name)
	}
	for i := range sc.nodes {
		n := &sc.nodes[i]
		switch {
		case n.ref.Derived:
		case n.sharded():
			return refuse(CrossShard, "INSERT from a query on sharded table %s: read the rows, then insert them", n.table.TableName)
		case n.global():
		case all != nil:
			return refuse(CrossShard, "INSERT into a global table from a table that is not on every shard: read the rows, then insert them")
		case sc.shardOf(n) != shard:
			return refuse(CrossShard, "INSERT into a table of shard %s from a table of shard %s: read the rows, then insert them", shard, sc.shardOf(n))
		}
	}
	return nil
}

// shardOf gives the shard of a table that is neither sharded nor global.
func (sc *scope) shardOf(n *node) router.ShardName {
	if n.table != nil {
		return n.table.Shard
	}
	return sc.ctx.Catalog.First()
}

// onDuplicate checks ON DUPLICATE KEY UPDATE, and gives what completes it.
func onDuplicate(s *stmt.Statement, t *catalog.Table) ([]Splice, error) {
	if len(s.Insert.Update) == 0 {
		return nil, nil
	}
	versioned := false
	for _, a := range s.Insert.Update {
		i, ok := t.Column(a.Column.Name)
		if !ok {
			return nil, refuse(UnknownColumn, "Unknown column '%s' in table %s", a.Column.Name, t.TableName)
		}
		if _, isKey := t.KeyOf(a.Column.Name); isKey && !a.Same {
			return nil, refuse(KeyChange, "ON DUPLICATE KEY UPDATE of column %s, which decides where a row of %s lives: leave it out", a.Column.Name, t.TableName)
		}
		versioned = versioned || i == t.VersionColumn
	}
	if t.VersionColumn < 0 || versioned {
		return nil, nil
	}
	column := quote(t.Columns[t.VersionColumn].Name)
	return []Splice{{s.Insert.End, ", " + column + " = " + column + " + 1"}}, nil
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

// Rows counts the rows of one execution.
func (in *Insertion) Rows(a *stmt.Args) int {
	if in.Set {
		return 1
	}
	return len(a.Rows)
}

// Value reads one value of a row: the number that it was given, where it was given one.
func (in *Insertion) Value(v *Values, row, at int) stmt.Value {
	if at == in.numbered && v.Numbers != nil && v.Numbers[row] != 0 {
		return numberValue(v.Numbers[row])
	}
	return in.written(v, row, at)
}

// written is the value that stands in the statement.
func (in *Insertion) written(v *Values, row, at int) stmt.Value {
	if in.Set {
		return v.operand(&in.Values[at])
	}
	cell := v.Cells[int(v.Args.Rows[row].First)+at]
	value := v.Cell(cell)
	if value.Kind == stmt.Unknown && cell.Literal < 0 {
		return v.computed(cell)
	}
	return value
}

// Asked tells whether a value in a stamped column asks for a generated one.
func Asked(v stmt.Value) bool {
	n, ok := v.Integer() // '0' is 0 to a column of numbers
	return v.Kind == stmt.Null || v.Kind == stmt.Default || ok && n.IsZero()
}

// LayoutGene reads a row's gene as wide as the ID layout has it, which may be
// wider than the map's.
func (in *Insertion) LayoutGene(v *Values, row int) (gene.Gene, error) {
	return in.Table.Root().StoredAs(in.root(v, row), in.Table.GeneWidth())
}

// Genes reads the gene of every row and refuses rows whose keys disagree.
func (in *Insertion) Genes(v *Values, dst []gene.Gene) ([]gene.Gene, error) {
	rows := in.Rows(v.Args)
	if rows == 0 {
		return nil, refuse(Unreadable, "the rows of an INSERT into %s could not be read: write VALUES (…), (…)", in.Table.TableName)
	}
	for row := range rows {
		g, err := in.rowGene(v, row)
		if err != nil {
			return nil, err
		}
		dst = append(dst, g)
	}
	return dst, nil
}

// Find is a query of whether there is a row of an ID, or of a number.
func (in *Insertion) Find(l orderid.Layout, id orderid.ID) string {
	t := in.Table
	if t.IDColumn < 0 {
		return "SELECT 1 FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + quote(t.Columns[in.number].Name) + " = " + strconv.FormatUint(id.Lo, 10)
	}
	column := &t.Columns[t.IDColumn]
	text := []byte("SELECT 1 FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + quote(column.Name) + " = ")
	return string(column.AppendID(text, l, id))
}

// Returned refuses RETURNING, and LAST_INSERT_ID(expression), of rows that several
// shards would answer with.
func (p *Stamped) Returned(shards int) error {
	switch f := p.Statement.Features; {
	case shards < 2:
		return nil
	case f&stmt.SetsInsertID != 0:
		return refuse(ScatterShape, "LAST_INSERT_ID(…) in an INSERT of rows that live on %d shards, of which the last one would count: write one INSERT for each owner", shards)
	case f&stmt.Returning == 0:
		return nil
	}
	return refuse(ScatterShape, "RETURNING of rows that live on %d shards: write one INSERT for each owner", shards)
}

func (in *Insertion) rowGene(v *Values, row int) (gene.Gene, error) {
	if !in.Set && int(v.Args.Rows[row].Count) != len(in.Columns) {
		return 0, refuse(RowShape, "Column count doesn't match value count at row %d", row+1)
	}
	root := in.Table.Root()
	if in.rootNumbered() && v.Numbers == nil && in.asks(v, row) {
		return 0, refuse(OwnerUnusable, "row %d: %s, the %s of %s, is numbered when the statement runs", row+1, root.Column.Name, root.Role, in.Table.TableName)
	}
	value := in.root(v, row)
	g, err := root.Stored(value)
	if err != nil {
		return 0, refuse(OwnerUnusable, "row %d: %s, the %s of %s, %v", row+1, root.Column.Name, root.Role, in.Table.TableName, err)
	}
	if err := in.rowAlone(v, row); err != nil {
		return 0, err
	}
	for _, k := range in.keys {
		given := in.Value(v, row, k.at)
		if Asked(given) {
			continue
		}
		other, err := k.key.Stored(given)
		if err != nil {
			return 0, refuse(GeneMismatch, "row %d: %s, the %s of %s, %v", row+1, k.key.Column.Name, k.key.Role, in.Table.TableName, err)
		}
		if other != g {
			return 0, refuse(GeneMismatch, "row %d: %s = %s has gene %s, but %s = %s has gene %s: leave %s out and it is generated",
				row+1, k.key.Column.Name, given, other, root.Column.Name, value, g, k.key.Column.Name)
		}
	}
	return g, nil
}
