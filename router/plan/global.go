package plan

import (
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Global changes global tables in the same way on every shard, in one transaction.
type Global struct {
	Facts
	// Insert describes the rows of an INSERT that must be checked before it runs. Nil means that none must be.
	Insert *Insertion
	// Added is inserted into the text of an INSERT that names no columns.
	Added []Splice
}

func (*Global) String() string { return "everywhere" }

func (p *Global) explain(e *explainer) {
	if err := p.Alike(e.v); err != nil {
		e.refusal(err)
		return
	}
	e.everywhere()
	if c := p.Insert.Numbered(); c != nil {
		e.addLine("numbers", "%s, by the cluster: the same on all of them", c.Name)
	}
	if p.Clock {
		e.addLine("time", "the proxy's, the same on all of them")
	}
}

// checkAlike refuses a change of a global table whose effect would differ between shards. It sets Clock if the change reads the clock:
// the session then sets the same time on all shards.
func (p *Global) checkAlike(s *stmt.Statement, t *catalog.Table) error {
	what := ""
	switch {
	case s.Features&stmt.Returning != 0:
		return refuse(Unsupported, "RETURNING of a change of a global table, which every shard would answer: read the rows in a statement of their own")
	case s.Features&stmt.SetsUserVariable != 0:
		what = "assigning user variables, which each shard would do by itself: give their values"
	case s.Features&(stmt.Volatile|stmt.UnknownFunction) != 0:
		what = "a function or variable that each shard may answer differently: give its value"
	case s.Features&stmt.Limited != 0:
		what = "LIMIT, by which each shard may choose other rows: name the rows in WHERE"
	}
	if what != "" {
		return refuse(Unsupported, "changing a global table by %s", what)
	}
	p.Clock = p.Clock || s.Features&stmt.ReadsClock != 0
	p.Clock = p.Clock || t.ReadsClock()
	return checkDefaults(s, t)
}

// checkCopies refuses an UPDATE or DELETE of global tables whose effect would differ between shards.
func (p *Global) checkCopies(s *stmt.Statement, sc *scope) error {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if !n.global() || !n.ref.Written {
			continue
		}
		if err := p.checkAlike(s, n.table); err != nil {
			return err
		}
		if err := checkJoined(s, n.table); err != nil {
			return err
		}
	}
	return nil
}

// checkDefaults refuses DEFAULT of a column for which each shard would compute another value.
func checkDefaults(s *stmt.Statement, t *catalog.Table) error {
	assigned := s.Assign
	if s.Insert != nil {
		assigned = s.Insert.Update
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Default != catalog.Anew {
			continue
		}
		if s.ReadsDefault {
			return refuseDefault(t, c)
		}
		for _, a := range assigned {
			if at, ok := t.Column(a.Column.Name); ok && at == i && a.Value.Const.Kind == stmt.Default {
				return refuseDefault(t, c)
			}
		}
	}
	return nil
}

// defaultsToClock reports whether rows may get the statement's time by the default of a column. The column may be left out, or
// DEFAULT in a row.
func (in *Insertion) defaultsToClock() bool { return in.Table.ReadsClock() }

func refuseDefault(t *catalog.Table, c *catalog.Column) *Refusal {
	return refuse(CopiesDiffer, "the default of column %s of global table %s would be another one on each shard: give the value", c.Name, t.TableName)
}

// checkJoined refuses a change of a global table by the rows of another table. If several rows match, each shard may use another
// one.
func checkJoined(s *stmt.Statement, t *catalog.Table) error {
	if u, ok := changedKey(s, t, t.Unique); ok {
		return refuse(CopiesDiffer, "UPDATE IGNORE of global table %s and its unique key %s: which of two rows keeps its values depends on the order in which a shard finds them: write a plain UPDATE", t.TableName, u.Name)
	}
	if len(s.Blocks) == 0 || len(s.Blocks[0].Tables) < 2 {
		return nil
	}
	for _, a := range s.Assign {
		if !a.Same && !a.Value.Known() {
			return refuse(CopiesDiffer, "changing a global table by the rows of another one, of which each shard may take a different one where several match: read the values first, or write SET %s = (SELECT MIN(…) …)", a.Column.Name)
		}
	}
	return nil
}

// planCopies returns the Insertion of an INSERT into a global table whose rows must be checked. It returns nil if any rows would be
// the same on all shards.
func planCopies(n *stmt.Insertion, t *catalog.Table) (*Insertion, error) {
	anew := func(c catalog.Column) bool { return c.Default == catalog.Anew && !c.Generated }
	if t.Numbered() < 0 && !slices.ContainsFunc(t.Columns, anew) {
		return nil, nil
	}
	in, err := newInsertion(n, t)
	if err == nil {
		err = in.locateNumber()
	}
	if err != nil {
		return nil, err
	}
	for i := range t.Columns {
		if !anew(t.Columns[i]) {
			continue
		}
		at := slices.Index(in.Columns, i)
		if at < 0 {
			return nil, refuseDefault(t, &t.Columns[i])
		}
		in.noDefault = append(in.noDefault, at)
	}
	in.locate()
	return in, nil
}

// Alike refuses rows of a global table that each shard would complete differently.
func (p *Global) Alike(v *Values) error {
	in := p.Insert
	if in == nil {
		return nil
	}
	rows := in.Rows(v.Args)
	if rows == 0 && p.Statement.Insert != nil && !p.Statement.Insert.FromSelect {
		return refuse(Unreadable, "the rows of an INSERT into %s could not be read: write VALUES (…), (…)", in.Table.TableName)
	}
	for row := range rows {
		if !in.Set && int(v.Args.Rows[row].Count) != len(in.Columns) {
			return refuse(RowShape, "Column count doesn't match value count at row %d", row+1)
		}
		if err := in.checkRowNumber(v, row); err != nil {
			return err
		}
		for _, at := range in.noDefault {
			if in.Value(v, row, at).Kind == stmt.Default {
				return refuseDefault(in.Table, &in.Table.Columns[in.Columns[at]])
			}
		}
	}
	return nil
}
