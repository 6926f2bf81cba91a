package plan

import (
	"slices"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planQuery plans SELECT, UPDATE and DELETE.
func planQuery(s *stmt.Statement, ctx Context) (*Plan, error) {
	sc, err := newScope(s, ctx)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Writes:        s.Kind != stmt.Select,
		ReadsInsertID: s.Features&stmt.ReadsInsertID != 0,
		KeepsInsertID: s.Features&stmt.SetsInsertID != 0,
		Cacheable:     true,
	}
	if err := p.place(s, sc); err != nil {
		return nil, err
	}
	p.Unfiltered = p.Writes && s.Blocks[0].Where == nil && len(s.Blocks[0].Joins) == 0 && s.Features&stmt.Limited == 0
	if s.Features&(stmt.NamedLock|stmt.ReadsNamedLock) != 0 {
		if err := p.planLocked(s, ctx); err != nil {
			return nil, err
		}
	}
	if p.Place != Keyed {
		return p, nil
	}
	if p.Writes {
		return p, p.writeRules(s, sc)
	}
	switch {
	case p.apart != nil:
	case s.Features&stmt.SetsUserVariable != 0:
		p.NoMerge = refuse(ScatterShape, "user variables are assigned in a read of several shards: name one owner, ID or order number in WHERE")
	case s.Features&stmt.CalcFoundRows != 0:
		p.NoMerge = refuse(ScatterShape, "SQL_CALC_FOUND_ROWS in a read of several shards: run SELECT COUNT(*) beside it")
	default:
		p.Merge, p.NoMerge = planMerge(s, sc)
	}
	return p, nil
}

// tally counts the tables of a statement by where they are.
type tally struct {
	sharded, global, system int
	written                 int              // global tables that are changed
	systemWritten           bool             // and whether the server's own are
	single                  router.ShardName // of the single tables
	elsewhere               bool             // single tables of several shards
}

func (sc *scope) tally(s *stmt.Statement) tally {
	var t tally
	for i := range sc.nodes {
		n := &sc.nodes[i]
		written := sc.changes(s, n)
		switch {
		case n.ref.Derived:
		case n.sharded():
			t.sharded++
		case n.global():
			t.global++
			if written {
				t.written++
			}
		case systemSchema(sc.schemaOf(n)):
			t.system++
			t.systemWritten = t.systemWritten || written
		default:
			shard := sc.ctx.Catalog.First()
			if n.table != nil {
				shard = n.table.Shard
			}
			t.elsewhere = t.elsewhere || t.single != "" && t.single != shard
			t.single = shard
		}
	}
	return t
}

// changes tells whether the statement changes rows of a table: an UPDATE those
// that it assigns to, and any that it may assign to.
func (sc *scope) changes(s *stmt.Statement, n *node) bool {
	if s.Kind != stmt.Update || !n.ref.Written {
		return n.ref.Written
	}
	for _, a := range s.Assign {
		if target, _ := sc.within(n.block, a.Column); target == nil || target == n {
			return true
		}
	}
	return false
}

// place decides by the kinds of the tables.
func (p *Plan) place(s *stmt.Statement, sc *scope) error {
	t := sc.tally(s)
	switch {
	case t.elsewhere:
		return p.spread(s, sc, refuse(CrossShard, "it joins single tables that live on different shards: read them in two statements"))
	case t.sharded > 0 && t.system > 0:
		return p.spread(s, sc, refuse(CrossShard, "it joins a sharded table with a table of the server's own: read them in two statements"))
	case t.written > 0 && (t.sharded > 0 || t.single != "" || t.system > 0):
		return refuse(Unsupported, "changing a global table in a statement that names tables which are not global: read the values first")
	case t.systemWritten:
		return refuse(Unsupported, "changing tables of the server's own: connect to the shard for it")
	case t.sharded > 0:
		p.Place, p.classes, p.pinned = Keyed, sc.classes(), t.single
		p.Owned = sc.owned(s)
	case t.written > 0:
		p.Place = Everywhere
		return p.copiesAlike(s, sc)
	case t.single != "":
		p.Place, p.Shard = Fixed, t.single
		p.KeepsInsertID = p.KeepsInsertID || p.Writes
	case t.system > 0:
		p.Place, p.Shard, p.Metadata = Fixed, sc.ctx.Catalog.First(), true
	case t.global > 0 && s.Features&stmt.Locking != 0, s.Features&stmt.UnknownFunction != 0:
		// Where all who lock the row meet; and where functions are that nobody
		// declared, as such tables are.
		p.Place, p.Shard = Fixed, sc.ctx.Catalog.First()
	default:
		p.Place = Any
	}
	return nil
}

// spread is the place of a statement whose tables no shard has all of: a read may
// gather them.
func (p *Plan) spread(s *stmt.Statement, sc *scope, reason *Refusal) error {
	if s.Kind != stmt.Select {
		return reason
	}
	p.Place, p.classes, p.apart = Keyed, sc.classes(), reason
	return nil
}

// copiesAlike refuses an UPDATE or DELETE of global tables that would come out
// differently on each shard.
func (p *Plan) copiesAlike(s *stmt.Statement, sc *scope) error {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if !n.global() || !n.ref.Written {
			continue
		}
		if err := p.alike(s, n.table); err != nil {
			return err
		}
		if err := joinedAlike(s, n.table); err != nil {
			return err
		}
	}
	return nil
}

// writeRules holds for UPDATE and DELETE of sharded tables.
func (p *Plan) writeRules(s *stmt.Statement, sc *scope) error {
	p.NoMerge = Scattered()
	if reason := p.unspreadable(s, sc); reason != "" {
		p.NoMerge = refuse(ScatterWrite, "it would change rows on several shards, with %s: name the owner, the ID or the order number in WHERE", reason)
	} else {
		p.Spreads = true
	}
	if s.Kind != stmt.Update {
		return nil
	}
	outer := s.Blocks[0]
	p.Clock = s.Features&stmt.ReadsClock != 0
	for i := range sc.nodes {
		if n := &sc.nodes[i]; n.sharded() {
			p.Clock = p.Clock || slices.ContainsFunc(n.table.Columns, func(c catalog.Column) bool { return c.OnUpdate })
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
func (p *Plan) unspreadable(s *stmt.Statement, sc *scope) string {
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
}

func (p *Plan) assigned(sc *scope, b *stmt.Block, a stmt.Assignment) error {
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
	p.agree = append(p.agree, agreement{key, a.Value, n.table.TableName})
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

// agreed checks assigned keys against the genes that the statement is routed by.
func (p *Plan) agreed(v *Values, out *Route) error {
	if len(p.agree) == 0 {
		return nil
	}
	only, one := out.onlyGene()
	for _, a := range p.agree {
		value := v.operand(a.value)
		g, err := a.key.Stored(value)
		if err != nil {
			return refuse(KeyChange, "setting %s of %s: the value %s %v", a.key.Column.Name, a.table, value, err)
		}
		if !one || g != only {
			return refuse(KeyChange, "setting %s = %s would give rows of %s the gene %s, and they would be on the wrong shard: "+
				"name the same owner in WHERE, or insert the row anew and delete the old one", a.key.Column.Name, value, a.table, g)
		}
	}
	return nil
}

// onlyGene gives the gene that all rows have which the statement may concern, if that
// is known.
func (r *Route) onlyGene() (only gene.Gene, one bool) {
	if r.All || len(r.Genes) == 0 || len(r.ranges) > 0 {
		return 0, false
	}
	for _, g := range r.Genes {
		if g != r.Genes[0] {
			return 0, false
		}
	}
	return r.Genes[0], true
}

// raiseVersion adds version = version + 1 for every changed table that has a
// version column which the statement does not set itself.
func (p *Plan) raiseVersion(s *stmt.Statement, sc *scope, b *stmt.Block) {
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
