package plan

import (
	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Change is an UPDATE or DELETE of sharded tables. The genes of its keys decide where it runs. On several shards it changes the
// rows that each shard owns, if the user may do that.
type Change struct {
	Facts
	Keyed
	// Added is inserted into the text on every shard.
	Added []Splice
	// Limit is the maximum number of rows that it changes, on all shards together. Nil: there is no limit. Without an order
	// any of the rows may be changed, so each shard in turn changes at most the remaining number.
	Limit *stmt.Limit
	// First describes how the first rows of all shards are found for a change with ORDER BY and LIMIT. Nil: the change has no order, or
	// may not run on several shards.
	First *FirstRows

	// Selection describes how the rows are found if their shards can't find them. Nil: they can't be found.
	Selection *Selection

	// Finding describes how the shards are found if the values don't determine them. Nil means that they can't be found.
	Finding *Finding

	// Indexing describes how the table's look-up indexes are maintained. Nil: the change affects none.
	Indexing *Indexing

	onlyOne  *Refusal // why it may not run on several shards; nil: it may
	obstacle string   // the part of the statement that onlyOne names
	agree    []agreement
}

func (*Change) String() string { return "keyed" }

func (p *Change) explain(e *explainer) {
	err := p.Route(e.m, e.v, e.r)
	if p.Selects(e.r, err) {
		p.explainSelection(e)
		return
	}
	e.rows(&p.Keyed, err == nil)
	if p.Sought != nil {
		p.Sought.explain(e)
	}
	if p.Indexing != nil {
		e.addLine("entries", "of the rows, which a locking read finds first, are changed in %s, in the same transaction", p.Indexing)
	}
	if err != nil {
		e.refusal(err)
		return
	}
	switch {
	case len(e.r.Shards) < 2:
	case e.r.Whole() && p.First != nil:
		e.addLine("changes", "the first rows of both shards of the gene by %s, which locking reads tell, in one transaction", p.First)
	case e.r.Whole():
		e.addLine("changes", "rows of both shards of the gene, in one transaction")
	case p.canFind(e.v):
		e.addLine("changes", "rows of the shards that have some, which a locking read by %s tells", p.Finding)
	case p.First != nil:
		e.addLine("changes", "the first rows of all shards by %s, which locking reads tell, in one transaction, where scatter_writes allows the user that", p.First)
	case p.Limit != nil:
		e.addLine("changes", "rows of one shard after the other, until LIMIT is reached, in one transaction, where scatter_writes allows the user that")
	default:
		e.addLine("changes", "rows of each shard, in one transaction, where scatter_writes allows the user that")
	}
	e.texts(&p.Keyed, Edits(e.v, p.Added))
}

// Route finds the shards. Concurrent calls with different routes are safe. The error is a *Refusal.
func (p *Change) Route(m *router.Map, v *Values, out *Route) error {
	if err := p.Locate(m, v, out); err != nil {
		return err
	}
	return p.Check(m, v, out)
}

// Check checks whether the statement can run on the shards of a route. The error is a *Refusal.
func (p *Change) Check(m *router.Map, v *Values, out *Route) error {
	if len(out.Shards) > 1 && !p.canFind(v) && p.Selection == nil {
		if err := p.SpreadRefusal(); err != nil {
			return p.unlessDivided(m, out, err)
		}
	}
	return p.checkAgreements(m, v, out)
}

// Selects reports whether the Selection finds the rows. err is the error of Route.
func (p *Change) Selects(r *Route, err error) bool {
	return p.Selection != nil && (err != nil || len(r.Shards) > 1)
}

// explainSelection explains how the rows are found by a Selection.
func (p *Change) explainSelection(e *explainer) {
	var args stmt.Args
	args.Reset(p.Selection.Lex(e.v.Lexed), nil)
	inner := &explainer{m: e.m, v: &Values{Args: &args}, r: e.r}
	inner.gathered(p.Selection.Gather)
	e.lines = append(e.lines, inner.lines...)
	allowed := ""
	if n, err := p.Selection.Spread(e.m, inner.v, inner.r); n > 1 || err != nil {
		allowed = ", where scatter_writes allows the user that"
	}
	e.addLine("changes", "rows of each shard by %s, which locking reads of the gathered tables tell, in one transaction%s", p.Selection, allowed)
}

// unlessDivided returns err, or another refusal if the change names its owner. The rows of that owner are on two shards only while
// their gene is divided.
func (p *Change) unlessDivided(m *router.Map, out *Route, err error) error {
	g, one := out.onlyGene()
	if !one {
		return err
	}
	return refuse(ScatterWrite, "the rows of gene %s are on two shards, by their sequences, and it has %s: name the ID in WHERE, or wait until locus jobs shows that the job has ended",
		g.Format(m.Width()), p.obstacle)
}

// SpreadRefusal returns the *Refusal of running on several shards, or nil if the change may do that.
func (p *Change) SpreadRefusal() error {
	if p.onlyOne == nil {
		return nil
	}
	return p.onlyOne
}

// canFind reports whether a locking read can find the shards.
func (p *Change) canFind(v *Values) bool {
	if p.Finding == nil {
		return false
	}
	_, ok := p.Finding.lockingRead(v, router.Foreign{}, nil)
	return ok
}

// Finds reports whether a locking read must first query the shards of a route. It must if the values don't determine which shards
// have rows, or whether the rows already have the gene that the change assigns.
func (p *Change) Finds(r *Route) bool {
	_, one := r.onlyGene()
	return p.Finding != nil && (len(r.Shards) > 1 || len(r.Shards) == 1 && len(p.agree) > 0 && !one)
}

// LookupQuery returns the query that asks a shard whether it has a matching row. If the answer is [Moved],
// [Change.MoveRefusal] must refuse the change. ok is false if the shards can't be asked.
func (p *Change) LookupQuery(v *Values, foreign router.Foreign) (text string, ok bool) {
	var given *gene.Gene
	if len(p.agree) > 0 {
		g, err := p.agree[0].key.Stored(v.operand(&p.agree[0].value))
		if err != nil {
			return "", false
		}
		given = &g
	}
	return p.Finding.lockingRead(v, foreign, given)
}

// MoveRefusal returns the refusal of a change that would change the gene of a row that was found.
func (p *Change) MoveRefusal(v *Values) error {
	a := p.agree[0]
	value := v.operand(&a.value)
	g, _ := a.key.Stored(value)
	return p.refuseKeyChange(a, value, g)
}

func (p *Change) refuseKeyChange(a agreement, value stmt.Value, g gene.Gene) *Refusal {
	return refuse(KeyChange, "setting %s = %s would give rows of %s the gene %s, and they would be on the wrong shard: "+
		"name the same owner in WHERE, or insert the row again and delete the old one", a.key.Column.Name, value, a.table, g)
}

// checkAssignments checks the assignments of a change, and sets the fields that depend on them.
func (p *Change) checkAssignments(s *stmt.Statement, sc *scope) error {
	if s.Features&stmt.Limited != 0 && limitDivides(s) {
		p.Limit = s.Blocks[0].Limit
		p.First = sc.firstRows(s, &p.Keyed)
	}
	if reason := p.spreadObstacle(s, sc); reason != "" {
		p.obstacle = reason
		p.onlyOne = refuse(ScatterWrite, "it would change rows on several shards, with %s: name the owner, the ID or the order number in WHERE", reason)
	}
	p.Finding = sc.finding(s, &p.Keyed)
	if err := p.indexChange(s, sc); err != nil {
		return err
	}
	if s.Kind != stmt.Update {
		return nil
	}
	outer := s.Blocks[0]
	p.Clock = s.Features&stmt.ReadsClock != 0
	for i := range sc.nodes {
		if n := &sc.nodes[i]; n.sharded() {
			p.Clock = p.Clock || n.table.UpdatesClock()
			if err := checkIgnore(s, n.table); err != nil {
				return err
			}
		}
	}
	for _, a := range s.Assign {
		if err := p.addAgreement(sc, outer, a); err != nil {
			return err
		}
	}
	p.raiseVersion(s, sc, outer)
	return nil
}

// Scattered returns the refusal of a change on several shards by a user without the right to make one.
func Scattered() *Refusal {
	return refuse(ScatterWrite, "it would change rows on several shards: name the owner, the ID or the order number in WHERE, or allow the user such changes (scatter_writes)")
}

// spreadObstacle returns why a change would not have the same effect as on one server if each of several shards changes its
// own rows. Empty means that it has the same effect.
func (p *Change) spreadObstacle(s *stmt.Statement, sc *scope) string {
	for i := range sc.nodes {
		if n := &sc.nodes[i]; !n.sharded() && !n.ref.Derived { // a derived table is a subquery
			return "tables that are not sharded"
		}
	}
	switch f := s.Features; {
	case len(s.Blocks) > 1, f&stmt.With != 0:
		return "subqueries"
	case f&stmt.Limited != 0 && len(s.Blocks[0].Order) > 0 && p.First == nil:
		return "ORDER BY and LIMIT"
	case f&stmt.Limited != 0 && !limitDivides(s):
		return "LIMIT"
	case f&stmt.Returning != 0 && f&stmt.Limited != 0:
		return "LIMIT and RETURNING"
	case f&(stmt.SetsUserVariable|stmt.SetsInsertID) != 0:
		return "values that the session keeps"
	case f&(stmt.Volatile|stmt.UnknownFunction|stmt.NamedLock|stmt.ReadsNamedLock) != 0:
		return "a function or variable that each shard may answer differently"
	case len(p.classes) != 1, p.pinned != "", !sc.everyRowSharded(), s.Blocks[0].Natural, s.Blocks[0].Using:
		return "joins on other columns than the keys"
	}
	return ""
}

// limitDivides reports whether the shards may each apply a part of a change's LIMIT. A server does not report how many rows it has
// tried to change with IGNORE.
func limitDivides(s *stmt.Statement) bool {
	b := s.Blocks[0]
	return b.Limit != nil && b.Limit.Divides() && b.Limit.Offset == nil && b.Limit.Count.Slot >= 0 && len(b.Tables) == 1 && !s.IgnoresErrors
}

// LimitEdit returns the edit of the statement's text that sets its LIMIT to n.
func (p *Change) LimitEdit(v *Values, n uint64) stmt.Edit { return literal(v, p.Limit.Count, n) }

// agreement is a key column that an UPDATE assigns. The gene of the value must be the gene of the row.
type agreement struct {
	key   *catalog.Key
	value stmt.Operand
	table catalog.TableName
	side  bool // the residue of this key places the table's rows
}

// ofID reports whether the assigned key is an ID. The ID places a row on one side of a divided gene. If it doesn't, then only the
// generator of IDs prevents the same ID on both sides.
func (a agreement) ofID() bool { return a.side || a.key.Role == catalog.ID }

func (p *Change) addAgreement(sc *scope, b *stmt.Block, a stmt.Assignment) error {
	n, unknown := sc.within(b, a.Column)
	if n == nil && (unknown && sc.anyKey(b, a.Column.Name) || !ascii(a.Column.Name)) {
		return refuse(UnknownColumn, "Unknown or ambiguous column '%s' in SET: write it as table.column", a.Column.Name)
	}
	if n == nil || a.Same {
		return nil
	}
	key := n.key(a.Column.Name)
	if key == nil {
		return nil
	}
	if !a.Value.Known() {
		return refuse(KeyChange, "column %s of %s decides where a row lives, so it can only be set to a value that is known beforehand", a.Column.Name, n.table.TableName)
	}
	p.agree = append(p.agree, agreement{key, a.Value, n.table.TableName, key == n.table.Side()})
	return nil
}

// anyKey reports whether a sharded table of the block has such a key.
func (sc *scope) anyKey(b *stmt.Block, column string) bool {
	list := sc.of(b)
	for i := range list {
		if list[i].key(column) != nil {
			return true
		}
	}
	return false
}

// checkAgreements checks the assigned keys against the gene that the statement is routed by. For a divided gene it also checks them
// against the shard that the statement runs on.
func (p *Change) checkAgreements(m *router.Map, v *Values, out *Route) error {
	if len(p.agree) == 0 {
		return nil
	}
	only, one := out.onlyGene()
	found := !one && p.Finds(out) && p.canFind(v) && p.Finding.table.ComputableKey() != nil // if so, the locking read compares the rows' genes
	for i, a := range p.agree {
		value := v.operand(&a.value)
		g, err := a.key.Stored(value)
		if err != nil {
			return refuse(KeyChange, "setting %s of %s: the value %s %v", a.key.Column.Name, a.table, value, err)
		}
		if found && i == 0 {
			only = g
		}
		if !one && !found || g != only {
			return p.refuseKeyChange(a, value, g)
		}
		if _, _, divided := m.Sides(g); !divided || !a.ofID() {
			continue
		}
		residue, known := a.key.Residue(value)
		if !known || !a.side || len(out.Shards) != 1 || m.LookupRow(g, residue) != out.Shards[0] {
			return refuse(KeyChange, "setting %s = %s while the rows of gene %s are on two shards, by their sequences, could leave rows of %s on the wrong one: "+
				"insert the row again and delete the old one", a.key.Column.Name, value, g, a.table)
		}
	}
	return nil
}

// raiseVersion adds version = version + 1 for every changed table that has a version column and whose version the statement does
// not set.
func (p *Change) raiseVersion(s *stmt.Statement, sc *scope, b *stmt.Block) {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if n.block != b || !n.sharded() || n.table.VersionColumn < 0 || !assigns(s.Assign, sc, b, n) {
			continue
		}
		version := n.table.Columns[n.table.VersionColumn].Name
		if assignsColumn(s.Assign, sc, b, n, version) {
			continue
		}
		column := quote(n.ref.Alias) + "." + quote(version)
		p.Added = append(p.Added, Splice{s.SetClause, ", " + column + " = " + column + " + 1 "})
	}
}

func assigns(list []stmt.Assignment, sc *scope, b *stmt.Block, n *node) bool {
	for _, a := range list {
		if owner, _ := sc.within(b, a.Column); owner == n {
			return true
		}
	}
	return false
}

func assignsColumn(list []stmt.Assignment, sc *scope, b *stmt.Block, n *node, name string) bool {
	want, _ := n.table.Column(name)
	for _, a := range list {
		if owner, _ := sc.within(b, a.Column); owner != n {
			continue
		}
		if i, ok := n.table.Column(a.Column.Name); ok && i == want {
			return true
		}
	}
	return false
}
