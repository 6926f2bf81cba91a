package plan

import "locus/router/stmt"

// DividedRefusal returns why a statement that runs today would be refused for a divided gene, whose rows are on two shards by their
// sequences. Nil means that it would not be refused. It examines the form of the statement: the effect of its values is not
// known.
func DividedRefusal(p Plan) *Refusal {
	switch p := p.(type) {
	case *Read:
		return p.whenDivided()
	case *Change:
		return p.whenDivided()
	case *Stamped:
		return p.Insert.whenDivided()
	}
	return nil
}

func (p *Read) whenDivided() *Refusal {
	switch {
	case p.noShard != nil || p.Gather != nil:
	case !p.sided:
		return unsided
	case !p.halves():
	case p.Merge == nil:
		return p.NoMerge
	case p.Merge.DisjointGroups:
		return refuse(ScatterShape, "GROUP BY over rows of several shards: %s", narrowIt)
	}
	return nil
}

func (p *Change) whenDivided() *Refusal {
	switch {
	case !p.sided:
		return unsided
	case p.onlyOne != nil && p.Selection == nil && p.halves():
		return refuse(ScatterWrite, "it has %s, and names no ID", p.obstacle)
	}
	for _, a := range p.agree {
		if a.ofID() {
			return refuse(KeyChange, "it sets %s, which may bring the row to the other shard", a.key.Column.Name)
		}
	}
	return nil
}

func (in *Insertion) whenDivided() *Refusal {
	if len(in.unsided) == 0 {
		return nil
	}
	u := in.unsided[0]
	if len(u.at) == 0 {
		return refuse(UniqueUnseen, "its unique key %s does not contain the ID", u.name)
	}
	return refuse(UniqueUnseen, "it gives values of unique key %s, which does not contain the ID that tells the side", u.name)
}

var unsided = refuse(CrossShard, "it does not join rows on the ID or the parent's ID")

// halves reports whether the keys determine one shard for every gene that is not divided, and two for a divided one: they name
// owners, or other keys without a residue.
func (p *Keyed) halves() bool {
	for i := range p.classes {
		if named, sided := p.classes[i].cond.names(); named && !sided {
			return true
		}
	}
	return false
}

// names reports whether a condition narrows rows to single genes, and whether it also narrows them to residues.
func (c *condition) names() (gene, residue bool) {
	if c == nil {
		return false, false
	}
	switch c.kind {
	case stmt.Equal:
		return true, c.side
	case stmt.And:
		for _, arg := range c.args {
			g, r := arg.names()
			gene, residue = gene || g, residue || r
		}
	case stmt.Or:
		gene, residue = len(c.args) > 0, len(c.args) > 0
		for _, arg := range c.args {
			g, r := arg.names()
			gene, residue = gene && g, residue && r
		}
	case stmt.Between, stmt.Opaque, stmt.Join, stmt.Within:
	}
	return gene, residue
}
