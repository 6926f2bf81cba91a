package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Line is one fact about a plan.
type Line struct{ Part, Detail string }

// Explain describes where a statement would run with these values, and why. It includes the text for the shards if that differs
// from the client's, and how several answers would be combined. A refusal is a line too. Explain overwrites r, and changes
// nothing else.
func Explain(p Plan, m *router.Map, v *Values, r *Route) []Line {
	e := &explainer{m: m, v: v, r: r}
	p.explain(e)
	return e.lines
}

// ExplainError describes a statement that can't be planned.
func ExplainError(err error) []Line {
	e := &explainer{}
	e.refusal(err)
	return e.lines
}

type explainer struct {
	m     *router.Map
	v     *Values
	r     *Route
	lines []Line
}

func (e *explainer) addLine(part, format string, args ...any) {
	e.lines = append(e.lines, Line{part, fmt.Sprintf(format, args...)})
}

func (e *explainer) everywhere() { e.addLine("shards", "all registered ones") }

// rows adds where the rows are, whether or not the statement can run there.
func (e *explainer) rows(k *Keyed, can bool) {
	if can {
		e.addLine("shards", "%s", e.shards(e.r.Shards))
	}
	e.addLine("genes", "%s", e.genes())
	for i := range k.classes {
		e.why(&k.classes[i])
	}
	if k.pinned != "" {
		e.addLine("why", "a table that is on shard %s alone", k.pinned)
	}
}

// text adds the text for the shards if it differs from the client's.
func (e *explainer) text(splices []Splice) {
	if len(splices) > 0 {
		e.addLine("text", "%s", e.spliced(splices))
	}
}

// texts adds the text for the shards of the route if it differs from the client's. It adds the text once if it is the same for
// all, and for each shard if some shard must leave out rows of others.
func (e *explainer) texts(k *Keyed, edits []stmt.Edit) {
	own := make([][]Splice, len(e.r.Shards))
	narrowed := false
	for i, shard := range e.r.Shards {
		var err error
		if own[i], err = k.AppendOwned(e.m, e.r, shard, nil); err != nil {
			e.refusal(err)
			return
		}
		narrowed = narrowed || own[i] != nil
	}
	if !narrowed {
		if text := stmt.AppendEdited(nil, e.v.Text, edits); !bytes.Equal(text, e.v.Text) {
			e.addLine("text", "%s", text)
		}
		return
	}
	for i, shard := range e.r.Shards {
		all := stmt.SortEdits(slices.Concat(edits, Edits(e.v, own[i])))
		e.addLine("text", "%s: %s", e.m.Shard(shard), stmt.AppendEdited(nil, e.v.Text, all))
	}
}

// inPlace reports whether the statement reads a table where it runs.
func (g *Gathering) inPlace(t *Gathered) bool {
	return t.System || t.Here && !t.Source && !g.Locks
}

// gathered adds which rows are read, and the text that is run over them.
func (e *explainer) gathered(g *Gathering) {
	where := "any one shard"
	if g.Shard != "" {
		where = "shard " + string(g.Shard)
	}
	if groups := g.Groups(e.m); groups != nil {
		e.summedUp(groups, where)
		return
	}
	for _, i := range g.Order {
		t := &g.Tables[i]
		if g.inPlace(t) {
			continue
		}
		columns := "all columns"
		if !t.All {
			columns = "the columns that are named"
		}
		name := t.Alias
		if t.Hints.Text != "" {
			name += " " + t.Hints.Text
		}
		text := fmt.Sprintf("%s as %s: %s", t.TableName, name, columns)
		for n, f := range t.Filters {
			text += []string{" where ", " and "}[min(n, 1)] + string(e.v.Text[e.v.Offset(f.Start):e.v.Offset(f.End)])
		}
		if by := t.ByKey; by != nil {
			text += fmt.Sprintf(", where %s is one of the values of %s in %s, if they are few", by.Column, by.Of, g.Tables[by.Table].Alias)
		}
		e.addLine("gather", "%s", text)
	}
	w := writer{text: e.v.Text}
	for i := range g.Tables {
		t := &g.Tables[i]
		if g.inPlace(t) {
			continue
		}
		w.upTo(e.v.Offset(t.Start))
		w.WriteString(strings.TrimSpace(t.Replacement(i)))
		w.from = e.v.Offset(t.End)
		if t.Hints.Text != "" {
			w.upTo(e.v.Offset(t.Hints.Start))
			w.from = e.v.Offset(t.Hints.End)
		}
	}
	e.addLine("answered by", "%s, over the gathered rows", where)
	e.addLine("text", "%s", w.rest())
	e.carried(g)
}

// carried adds when the statement runs without temporary tables.
func (e *explainer) carried(g *Gathering) {
	if g.Carry == nil || !e.m.Moving().Empty() || !e.m.Divided().Empty() {
		return
	}
	names := make([]string, len(g.Carry.Tables))
	for i, c := range g.Carry.Tables {
		names[i] = g.Tables[c.Table].Alias
	}
	e.addLine("instead", "if at most %d rows of %s are read, and the rows of %s are then on one shard: that shard, with the rows of %[2]s in the text",
		MostCarried, strings.Join(names, ", "), g.Tables[g.Carry.Last].Alias)
}

// summedUp adds which groups are read, and the text that is run over them.
func (e *explainer) summedUp(p *Partial, where string) {
	var fields, keys []string
	for _, s := range p.Sums {
		fields = append(fields, s.Function+"("+e.piece(s.Start, s.End)+")")
	}
	for _, k := range p.Keys {
		fields, keys = append(fields, k.Column), append(keys, k.Column)
	}
	text := "select " + strings.Join(fields, ", ") + " " + strings.TrimSpace(e.piece(p.Start, p.End))
	if keys != nil {
		text += " group by " + strings.Join(keys, ", ")
	}
	e.addLine("gather", "groups of each shard: %s", text)
	e.addLine("answered by", "%s, over the gathered groups", where)
	edits := append([]Edit{{p.Start, p.End, p.Replacement()}}, p.Edits...)
	slices.SortFunc(edits, func(a, b Edit) int { return e.v.Offset(a.Start) - e.v.Offset(b.Start) })
	w := writer{text: e.v.Text}
	for _, edit := range edits {
		w.upTo(e.v.Offset(edit.Start))
		w.WriteString(edit.Text)
		w.from = e.v.Offset(edit.End)
	}
	e.addLine("text", "%s", w.rest())
}

func (e *explainer) piece(start, end stmt.Anchor) string {
	return string(e.v.Text[e.v.Offset(start):e.v.Offset(end)])
}

func (e *explainer) refusal(err error) {
	var r *Refusal
	if errors.As(err, &r) {
		code, state := r.MySQL()
		e.addLine("refused", "%d (%s): %s", code, state, r.Error())
		return
	}
	e.addLine("refused", "%v", err)
}

func (e *explainer) shards(list []int) string {
	if len(list) == 0 {
		return "any one: no row can match"
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(e.m.Shard(s))
	}
	return strings.Join(names, ", ")
}

func (e *explainer) genes() string {
	switch {
	case e.r.All:
		return "all"
	case len(e.r.Genes) == 0 && len(e.r.ranges) == 0:
		return "none"
	}
	var parts []string
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			parts = append(parts, s)
		}
		seen[s] = true
	}
	for _, g := range e.r.Genes {
		add(g.Format(e.m.Width()))
	}
	for _, g := range e.r.ranges {
		if g.Len() > 0 {
			add(g.String())
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// why adds the columns that determined the route.
func (e *explainer) why(c *class) {
	if c.cond == nil {
		e.addLine("why", "%s is not narrowed by its owner or an ID", c.table.TableName)
		return
	}
	e.condition(c.cond)
}

func (e *explainer) condition(c *condition) {
	for _, arg := range c.args {
		e.condition(arg)
	}
	if c.key == nil {
		return
	}
	if c.kind == stmt.Between {
		e.bounds(c)
		return
	}
	how := c.manner(e.v)
	for _, value := range e.values(c.operands) {
		g, match := c.geneOf(value, how)
		switch match {
		case catalog.Here:
			e.addLine("why", "%s = %s, the %s of %s: gene %s on %s", c.key.Column.Name, value, c.key.Role, c.table,
				g.Format(e.m.Width()), e.on(c, g, value, how))
		case catalog.Nowhere:
			e.addLine("why", "%s = %s, the %s of %s: holds for no row", c.key.Column.Name, value, c.key.Role, c.table)
		case catalog.Anywhere:
			e.addLine("why", "%s = %s, the %s of %s: may hold for any gene", c.key.Column.Name, value, c.key.Role, c.table)
		}
	}
}

// on returns the shards of a gene's rows. For a divided gene that is both shards, or the shard that the value's residue
// determines.
func (e *explainer) on(c *condition, g gene.Gene, v stmt.Value, how manner) string {
	low, high, divided := e.m.Sides(g)
	if !divided {
		return string(e.m.Shard(e.m.Lookup(g)))
	}
	if residue, known := c.residue(v, how); known {
		return fmt.Sprintf("%s, by its sequence mod %d = %d", e.m.Shard(e.m.LookupRow(g, residue)), orderid.Modulus, residue)
	}
	return fmt.Sprintf("%s and %s, by sequence", e.m.Shard(low), e.m.Shard(high))
}

func (e *explainer) bounds(c *condition) {
	low, high := e.v.bounds(c)
	genes, ok := c.key.Between(low, high)
	switch {
	case !ok:
		e.addLine("why", "a range of %s, the %s of %s: may hold for any gene", c.key.Column.Name, c.key.Role, c.table)
	case genes.Len() == 0:
		e.addLine("why", "a range of %s, the %s of %s: holds for no row", c.key.Column.Name, c.key.Role, c.table)
	default:
		e.addLine("why", "a range of %s, the %s of %s: genes %s", c.key.Column.Name, c.key.Role, c.table, genes)
	}
}

func (e *explainer) values(operands []stmt.Operand) []stmt.Value {
	var out []stmt.Value
	for _, o := range operands {
		if o.Slot < 0 || o.Negative {
			out = append(out, e.v.operand(&o))
			continue
		}
		slot := e.v.Slots[o.Slot]
		for i := slot.First; i < slot.First+slot.Count; i++ {
			out = append(out, e.v.Value(i))
		}
	}
	return out
}

func (e *explainer) spliced(splices []Splice) string {
	w := writer{text: e.v.Text}
	for _, s := range splices {
		w.upTo(e.v.Offset(s.At))
		w.WriteString(s.Text)
	}
	return w.rest()
}

// writer copies a text with changes.
type writer struct {
	strings.Builder
	text []byte
	from int
}

func (w *writer) upTo(at int) {
	if at > w.from {
		w.Write(w.text[w.from:at])
		w.from = at
	}
}

func (w *writer) rest() string {
	w.upTo(len(w.text))
	return w.String()
}
