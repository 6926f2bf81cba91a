package plan

import (
	"strings"

	"locus/router"
	"locus/router/stmt"
)

// planQuery plans SELECT, UPDATE and DELETE.
func planQuery(s *stmt.Statement, ctx Context) (Plan, error) {
	sc, err := newScope(s, ctx)
	if err != nil {
		return nil, err
	}
	p, err := sc.choosePlan(s, queryFacts(s))
	if err != nil {
		return nil, err
	}
	if s.Features&(stmt.NamedLock|stmt.ReadsNamedLock) != 0 {
		return planLocked(p, s, ctx)
	}
	switch p := p.(type) {
	case *Change:
		return p, p.checkAssignments(s, sc)
	case *Read:
		p.merge(s, sc)
	}
	return p, nil
}

// queryFacts returns the facts of a SELECT, UPDATE or DELETE.
func queryFacts(s *stmt.Statement) Facts {
	writes := s.Kind != stmt.Select
	return Facts{
		Writes:        writes,
		ReadsInsertID: s.Features&stmt.ReadsInsertID != 0,
		KeepsInsertID: s.Features&stmt.SetsInsertID != 0,
		Cacheable:     true,
		Unfiltered:    writes && s.Blocks[0].Where == nil && len(s.Blocks[0].Joins) == 0 && s.Features&stmt.Limited == 0,
	}
}

// tally contains the numbers of a statement's tables by location.
type tally struct {
	sharded, global, system int
	written                 int              // global tables that are changed
	systemWritten           bool             // whether the server's own tables are changed
	single                  router.ShardName // of the single tables
	severalShards           bool             // single tables of several shards
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
			t.severalShards = t.severalShards || t.single != "" && t.single != shard
			t.single = shard
		}
	}
	return t
}

// changes reports whether the statement changes rows of a table. An UPDATE changes the tables that it assigns to, and those that
// it may assign to.
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

// choosePlan returns the plan that the kinds of the tables require.
func (sc *scope) choosePlan(s *stmt.Statement, f Facts) (Plan, error) {
	t, first := sc.tally(s), sc.ctx.Catalog.First()
	switch {
	case t.severalShards:
		return sc.planWithoutShard(s, f, refuse(CrossShard, "it joins single tables that live on different shards: read them in two statements"))
	case t.sharded > 0 && t.system > 0:
		return sc.planWithoutShard(s, f, refuse(CrossShard, "it joins a sharded table with a table of the server's own: read them in two statements"))
	case t.written > 0 && (t.sharded > 0 || t.single != "" || t.system > 0):
		return nil, refuse(Unsupported, "changing a global table in a statement that names tables which are not global: read the values first")
	case t.systemWritten:
		return nil, refuse(Unsupported, "changing tables of the server's own: connect to the shard for it")
	case t.sharded > 0:
		k := Keyed{Owned: sc.owned(s), classes: sc.classes(), sided: sc.sided(), pinned: t.single}
		k.Sought = sc.sought(s, &k)
		if f.Writes {
			return &Change{Facts: f, Keyed: k}, nil
		}
		if t.single == "" {
			sc.splitArms(s, &k)
		}
		return &Read{Facts: f, Keyed: k}, nil
	case t.written > 0:
		p := &Global{Facts: f}
		return p, p.checkCopies(s, sc)
	case t.single != "":
		f.KeepsInsertID = f.KeepsInsertID || f.Writes
		return &OneShard{Facts: f, Shard: t.single}, nil
	case t.system > 0:
		f.Metadata = true
		if sc.builtIn() && t.global == 0 && s.Features&stmt.UnknownFunction == 0 {
			return &AnyShard{Facts: f}, nil
		}
		alike := t.global == 0 && s.Features&stmt.UnknownFunction == 0 && sc.aboutTables() && sc.ctx.Catalog.Uniform()
		return &OneShard{Facts: f, Shard: first, Alike: alike}, nil
	case t.global > 0 && s.Features&stmt.Locking != 0, s.Features&stmt.UnknownFunction != 0:
		// All sessions that lock the row must lock it on the same shard. An undeclared function is on the first shard, like
		// undeclared tables.
		return &OneShard{Facts: f, Shard: first}, nil
	}
	return &AnyShard{Facts: f}, nil
}

// builtIn lists the server's own tables whose rows are the same on all servers of one version, or describe the
// server independently of its shard.
var builtIn = map[string]bool{
	"character_sets": true, "collations": true, "collation_character_set_applicability": true, "engines": true, "keywords": true,
	"plugins": true, "global_status": true, "global_variables": true, "session_status": true, "session_variables": true, "system_variables": true,
}

// builtIn reports whether the statement reads no other tables of the server's own.
func (sc *scope) builtIn() bool {
	return sc.eachSystem(func(_, table string) bool { return builtIn[table] })
}

// aboutTables reports whether all system tables that the statement reads describe tables and other objects of databases. Shards
// with equal schemas return equal answers.
func (sc *scope) aboutTables() bool {
	return sc.eachSystem(func(schema, table string) bool {
		_, is := described[table]
		return schema == "information_schema" && is && table != "schemata"
	})
}

// eachSystem reports whether holds is true for all of the server's own tables. It passes names in lower case.
func (sc *scope) eachSystem(holds func(schema, table string) bool) bool {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		schema := strings.ToLower(sc.schemaOf(n))
		if !n.ref.Derived && systemSchema(schema) && !holds(schema, strings.ToLower(n.ref.Name)) {
			return false
		}
	}
	return true
}

// planWithoutShard plans a statement if no single shard has all of its tables. A read may gather them.
func (sc *scope) planWithoutShard(s *stmt.Statement, f Facts, reason *Refusal) (Plan, error) {
	if s.Kind != stmt.Select {
		return nil, reason
	}
	return &Read{Facts: f, Keyed: Keyed{classes: sc.classes(), noShard: reason}}, nil
}
