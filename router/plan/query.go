package plan

import (
	"locus/router"
	"locus/router/catalog"
	"locus/router/gene"
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
	if err := p.place(sc); err != nil {
		return nil, err
	}
	if p.Place != Keyed {
		return p, nil
	}
	if p.Writes {
		return p, p.writeRules(s, sc)
	}
	p.Merge, p.NoMerge = planMerge(s, sc)
	return p, nil
}

// place looks at the kinds of the tables.
func (p *Plan) place(sc *scope) error {
	var sharded, global, system, elsewhere int
	single := router.ShardName("")
	for i := range sc.nodes {
		n := &sc.nodes[i]
		switch {
		case n.ref.Derived:
		case n.sharded():
			sharded++
		case n.table != nil && n.table.Kind == catalog.Global:
			global++
		case systemSchema(sc.schemaOf(n)):
			system++
		default:
			shard := sc.ctx.Catalog.First()
			if n.table != nil {
				shard = n.table.Shard
			}
			if single != "" && single != shard {
				elsewhere++
			}
			single = shard
		}
	}
	if elsewhere > 0 {
		return refuse(CrossShard, "it joins single tables that live on different shards: read them in two statements")
	}
	switch {
	case sharded > 0 && system > 0:
		return refuse(CrossShard, "it joins a sharded table with a table of the server's own: read them in two statements")
	case sharded > 0:
		p.Place, p.classes, p.pinned = Keyed, sc.classes(), single
	case p.Writes && global > 0 && (single != "" || global > 1):
		return refuse(Unsupported, "changing a global table in a statement that names other tables: read the values first")
	case p.Writes && global > 0:
		p.Place = Everywhere
	case single != "":
		p.Place, p.Shard = Fixed, single
		p.KeepsInsertID = p.KeepsInsertID || p.Writes
	case system > 0:
		p.Place, p.Shard, p.Metadata = Fixed, sc.ctx.Catalog.First(), true
	default:
		p.Place = Any
	}
	return nil
}

// writeRules holds for UPDATE and DELETE of sharded tables.
func (p *Plan) writeRules(s *stmt.Statement, sc *scope) error {
	p.NoMerge = refuse(ScatterWrite, "it would change rows on several shards: name the owner, the ID or the order number in WHERE")
	outer := s.Blocks[0]
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if n.block == outer && !n.sharded() && n.table != nil && n.table.Kind == catalog.Global {
			return refuse(Unsupported, "changing a sharded table in a statement that joins global table %s: read its values first", n.table.TableName)
		}
	}
	if s.Kind != stmt.Update {
		return nil
	}
	for _, a := range s.Assign {
		if err := p.assigned(sc, outer, a); err != nil {
			return err
		}
	}
	p.raiseVersion(s, sc, outer)
	return nil
}

// agreement is a key column that an UPDATE assigns: the value's gene must be
// the gene that the row has.
type agreement struct {
	key   *catalog.Key
	value stmt.Operand
	table catalog.TableName
}

func (p *Plan) assigned(sc *scope, b *stmt.Block, a stmt.Assignment) error {
	n, key := sc.resolve(b, a.Column)
	if key == nil {
		return nil
	}
	if !a.Value.Known() {
		return refuse(KeyChange, "column %s of %s decides where a row lives, so it can only be set to a value that is known beforehand", a.Column.Name, n.table.TableName)
	}
	p.agree = append(p.agree, agreement{key, a.Value, n.table.TableName})
	return nil
}

// agreed checks assigned keys against the genes that the statement is routed by.
func (p *Plan) agreed(v *Values, out *Route) error {
	for _, a := range p.agree {
		value := v.operand(a.value)
		g, err := a.key.Stored(value)
		if err != nil {
			return refuse(KeyChange, "%s = %s of %s %v", a.key.Column.Name, value, a.table, err)
		}
		if !onlyGene(out, g) {
			return refuse(KeyChange, "setting %s = %s would give rows of %s the gene %s, and they would be on the wrong shard: "+
				"name the same owner in WHERE, or insert the row anew and delete the old one", a.key.Column.Name, value, a.table, g)
		}
	}
	return nil
}

func onlyGene(r *Route, g gene.Gene) bool {
	if r.All || len(r.Genes) == 0 || len(r.ranges) > 0 {
		return false
	}
	for _, have := range r.Genes {
		if have != g {
			return false
		}
	}
	return true
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
		if owner, _ := sc.resolve(b, a.Column); owner == n {
			return true
		}
	}
	return false
}

func assignsColumn(list []stmt.Assignment, sc *scope, b *stmt.Block, n *node, name string) bool {
	want, _ := n.table.Column(name)
	for _, a := range list {
		if owner, _ := sc.resolve(b, a.Column); owner != n {
			continue
		}
		if i, ok := n.table.Column(a.Column.Name); ok && i == want {
			return true
		}
	}
	return false
}
