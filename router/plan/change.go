package plan

import (
	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Change is an UPDATE or DELETE of sharded tables: it runs where the genes of its keys are. On several shards it changes each
// one's own rows, where the user may do that.
type Change struct {
	Facts
	Keyed
	// Added is spliced into the text wherever it runs.
	Added []Splice

	// Finding is how its shards are found, where they are not told; nil: they aren't.
	Finding *Finding

	onlyOne  *Refusal // why it may not run on several shards; nil: it may
	unspread string   // what it has that keeps it from that
	agree    []agreement
}

func (*Change) String() string { return "keyed" }

func (p *Change) explain(e *explainer) {
	err := p.Route(e.m, e.v, e.r)
	e.rows(&p.Keyed, err == nil)
	if err != nil {
		e.refusal(err)
		return
	}
	switch {
	case len(e.r.Shards) < 2:
	case e.r.Whole():
		e.say("changes", "rows of both shards of the gene, in one transaction")
	case p.finds(e.v):
		e.say("changes", "rows of the shards that have some, which a locking read by %s tells", p.Finding)
	default:
		e.say("changes", "rows of each shard, in one transaction, where scatter_writes allows the user that")
	}
	e.texts(&p.Keyed, Edits(e.v, p.Added))
}

// Route finds the shards. It is safe for concurrent use with different routes. The error is a *Refusal.
func (p *Change) Route(m *router.Map, v *Values, out *Route) error {
	if err := p.Locate(m, v, out); err != nil {
		return err
	}
	if len(out.Shards) > 1 && !p.finds(v) {
		if err := p.Spreads(); err != nil {
			return p.unlessDivided(m, out, err)
		}
	}
	return p.agreed(m, v, out)
}

// unlessDivided words a refusal of a change that names its owner, whose rows are on two shards only for now.
func (p *Change) unlessDivided(m *router.Map, out *Route, err error) error {
	g, one := out.onlyGene()
	if !one {
		return err
	}
	return refuse(ScatterWrite, "the rows of gene %s are on two shards, by their sequences, and it has %s: name the ID in WHERE, or wait until locus jobs shows the move to be over",
		g.Format(m.Width()), p.unspread)
}

// Spreads tells why it may not run on several shards. The error is a *Refusal.
func (p *Change) Spreads() error {
	if p.onlyOne == nil {
		return nil
	}
	return p.onlyOne
}

// finds tells whether its shards are found.
func (p *Change) finds(v *Values) bool {
	if p.Finding == nil {
		return false
	}
	_, ok := p.Finding.look(v, router.Foreign{}, nil)
	return ok
}

// Finds tells whether the shards of a route are looked at first: which of them have rows is not told, or whether these have the
// gene already that they are given.
func (p *Change) Finds(r *Route) bool {
	_, one := r.onlyGene()
	return p.Finding != nil && (len(r.Shards) > 1 || len(r.Shards) == 1 && len(p.agree) > 0 && !one)
}

// Look is the question to a shard whether it has a row; see [Change.Moves] for its answer. It is not ok where it can't be asked so.
func (p *Change) Look(v *Values, foreign router.Foreign) (text string, ok bool) {
	var given *gene.Gene
	if len(p.agree) > 0 {
		g, err := p.agree[0].key.Stored(v.operand(&p.agree[0].value))
		if err != nil {
			return "", false
		}
		given = &g
	}
	return p.Finding.look(v, foreign, given)
}

// Moves refuses a change that gives a row that was found another gene than it has.
func (p *Change) Moves(v *Values) error {
	a := p.agree[0]
	value := v.operand(&a.value)
	g, _ := a.key.Stored(value)
	return p.moves(a, value, g)
}

func (p *Change) moves(a agreement, value stmt.Value, g gene.Gene) *Refusal {
	return refuse(KeyChange, "setting %s = %s would give rows of %s the gene %s, and they would be on the wrong shard: "+
		"name the same owner in WHERE, or insert the row anew and delete the old one", a.key.Column.Name, value, a.table, g)
}

// rules holds a change to what may be assigned, and completes it.
func (p *Change) rules(s *stmt.Statement, sc *scope) error {
	if reason := p.unspreadable(s, sc); reason != "" {
		p.unspread = reason
		p.onlyOne = refuse(ScatterWrite, "it would change rows on several shards, with %s: name the owner, the ID or the order number in WHERE", reason)
	}
	p.Finding = sc.finding(s, &p.Keyed)
	if s.Kind != stmt.Update {
		return nil
	}
	outer := s.Blocks[0]
	p.Clock = s.Features&stmt.ReadsClock != 0
	for i := range sc.nodes {
		if n := &sc.nodes[i]; n.sharded() {
			p.Clock = p.Clock || n.table.UpdatesClock()
			if err := ignoresUnseen(s, n.table); err != nil {
				return err
			}
		}
	}
	for _, a := range s.Assign {
		if err := p.assigned(sc, outer, a); err != nil {
			return err
		}
	}
	p.raiseVersion(s, sc, outer)
	return nil
}

// Scattered refuses a change on several shards to who may not make one.
func Scattered() *Refusal {
	return refuse(ScatterWrite, "it would change rows on several shards: name the owner, the ID or the order number in WHERE, or allow the user such changes (scatter_writes)")
}

// unspreadable names what keeps a change from running on several shards, each of
// its own rows, with the effect that it would have on one server.
func (p *Change) unspreadable(s *stmt.Statement, sc *scope) string {
	for i := range sc.nodes {
		if !sc.nodes[i].sharded() {
			return "tables that are not sharded"
		}
	}
	switch f := s.Features; {
	case len(s.Blocks) > 1, f&stmt.With != 0:
		return "subqueries"
	case f&stmt.Limited != 0:
		return "LIMIT"
	case f&stmt.Returning != 0:
		return "RETURNING"
	case f&(stmt.SetsUserVariable|stmt.SetsInsertID) != 0:
		return "values that the session keeps"
	case f&(stmt.Volatile|stmt.UnknownFunction|stmt.NamedLock|stmt.ReadsNamedLock) != 0:
		return "a function or variable that each shard may answer differently"
	case len(p.classes) != 1, p.pinned != "", !sc.firm(), s.Blocks[0].Natural, s.Blocks[0].Using:
		return "joins on other columns than the keys"
	}
	return ""
}

// agreement is a key column that an UPDATE assigns: the value's gene must be
// the gene that the row has.
type agreement struct {
	key   *catalog.Key
	value stmt.Operand
	table catalog.TableName
	side  bool // the key tells the residue of the table's rows
}

// ofID tells whether what is set is an ID by which rows are on one side of a divided gene, or that only who gives IDs keeps
// from being there twice.
func (a agreement) ofID() bool { return a.side || a.key.Role == catalog.ID }

func (p *Change) assigned(sc *scope, b *stmt.Block, a stmt.Assignment) error {
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

// anyKey tells whether a sharded table of the block has such a key.
func (sc *scope) anyKey(b *stmt.Block, column string) bool {
	list := sc.of(b)
	for i := range list {
		if list[i].key(column) != nil {
			return true
		}
	}
	return false
}

// agreed checks assigned keys against the genes that the statement is routed by, and of
// divided ones against the shard that it runs on.
func (p *Change) agreed(m *router.Map, v *Values, out *Route) error {
	if len(p.agree) == 0 {
		return nil
	}
	only, one := out.onlyGene()
	found := !one && p.Finds(out) && p.finds(v) && p.Finding.table.Telling() != nil // then the rows are asked for theirs
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
			return p.moves(a, value, g)
		}
		if _, _, divided := m.Sides(g); !divided || !a.ofID() {
			continue
		}
		residue, told := a.key.Residue(value)
		if !told || !a.side || len(out.Shards) != 1 || m.LookupRow(g, residue) != out.Shards[0] {
			return refuse(KeyChange, "setting %s = %s while the rows of gene %s are on two shards, by their sequences, could leave rows of %s on the wrong one: "+
				"insert the row anew and delete the old one", a.key.Column.Name, value, g, a.table)
		}
	}
	return nil
}

// raiseVersion adds version = version + 1 for every changed table that has a
// version column which the statement does not set itself.
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
