package plan

import (
	"errors"
	"fmt"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/gene"
	"locus/router/stmt"
)

// Line is one thing to know of a plan.
type Line struct{ Part, Detail string }

// Explain says where a statement would run with these values, why, and how
// several answers would become one; a refusal is a line too.
func Explain(p *Plan, m *router.Map, v *Values, r *Route) []Line {
	e := &explainer{p: p, m: m, v: v, r: r}
	switch p.Place {
	case Session:
		e.say("place", "answered by the proxy itself")
	case Fixed:
		e.say("shards", "%s", p.Shard)
	case Any:
		e.say("shards", "any one: all of them would answer alike")
	case Everywhere:
		e.say("shards", "all registered ones")
	case Keyed:
		e.keyed()
	case Stamped:
		e.stamped()
	}
	return e.lines
}

type explainer struct {
	p     *Plan
	m     *router.Map
	v     *Values
	r     *Route
	lines []Line
}

func (e *explainer) say(part, format string, args ...any) {
	e.lines = append(e.lines, Line{part, fmt.Sprintf(format, args...)})
}

func (e *explainer) keyed() {
	err := e.p.Route(e.m, e.v, e.r)
	e.say("shards", "%s", e.shards(e.r.Shards))
	e.say("genes", "%s", e.genes())
	for i := range e.p.classes {
		e.why(&e.p.classes[i])
	}
	if text := e.spliced(); text != "" {
		e.say("text", "%s", text)
	}
	if err != nil {
		e.refusal(err)
		return
	}
	if len(e.r.Shards) > 1 {
		e.say("merge", "%s", e.p.Merge)
		if e.p.Merge.Hidden > 0 {
			e.say("hidden columns", "%s", strings.Trim(e.p.Merge.Columns.Text, ", "))
		}
	}
}

func (e *explainer) refusal(err error) {
	var r *Refusal
	if errors.As(err, &r) {
		code, state := r.MySQL()
		e.say("refused", "%d (%s): %s", code, state, r.Error())
		return
	}
	e.say("refused", "%v", err)
}

func (e *explainer) shards(list []int) string {
	if len(list) == 0 {
		return "any one: no row can match"
	}
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(e.m.Shards()[s])
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
	for _, g := range e.r.Genes {
		parts = append(parts, g.Format(e.m.Width()))
	}
	for _, g := range e.r.ranges {
		parts = append(parts, g.String())
	}
	return strings.Join(parts, ", ")
}

// why names the columns that the route was found in.
func (e *explainer) why(c *class) {
	if c.cond == nil {
		e.say("why", "%s is not narrowed by its owner or an ID", c.table.TableName)
		return
	}
	e.condition(c.table, c.cond)
}

func (e *explainer) condition(t *catalog.Table, c *condition) {
	for _, arg := range c.args {
		e.condition(t, arg)
	}
	if c.key == nil {
		return
	}
	if c.kind == stmt.Between {
		e.say("why", "a range of %s, the %s of %s, is a range of genes", c.key.Column.Name, c.key.Role, t.TableName)
		return
	}
	for _, value := range e.values(c.operands) {
		g, match := c.key.Of(value)
		switch match {
		case catalog.Here:
			e.say("why", "%s = %s, the %s of %s: gene %s on %s", c.key.Column.Name, value, c.key.Role, t.TableName,
				g.Format(e.m.Width()), e.m.Shards()[e.m.Lookup(g)])
		case catalog.Nowhere:
			e.say("why", "%s = %s, the %s of %s: holds for no row", c.key.Column.Name, value, c.key.Role, t.TableName)
		case catalog.Anywhere:
			e.say("why", "%s = %s, the %s of %s: may hold for any gene", c.key.Column.Name, value, c.key.Role, t.TableName)
		}
	}
}

func (e *explainer) values(operands []stmt.Operand) []stmt.Value {
	var out []stmt.Value
	for _, o := range operands {
		if o.Slot < 0 || o.Negative {
			out = append(out, e.v.operand(o))
			continue
		}
		slot := e.v.Slots[o.Slot]
		for i := slot.First; i < slot.First+slot.Count; i++ {
			out = append(out, e.v.Value(i))
		}
	}
	return out
}

func (e *explainer) spliced() string {
	if len(e.p.Added) == 0 {
		return ""
	}
	var out strings.Builder
	from := 0
	for _, s := range e.p.Added {
		at := e.v.Offset(s.At)
		out.Write(e.v.Text[from:at])
		out.WriteString(s.Text)
		from = at
	}
	out.Write(e.v.Text[from:])
	return out.String()
}

// stamped says which row goes where; IDs are generated when it runs.
func (e *explainer) stamped() {
	in := e.p.Insert
	genes, err := in.Genes(e.v, nil)
	if err != nil {
		e.refusal(err)
		return
	}
	var shards []int
	for _, g := range genes {
		shards = insert(shards, e.m.Lookup(g))
	}
	e.say("shards", "%s", e.shards(shards))
	for row, g := range genes {
		e.say("why", "row %d: %s = %s, the %s of %s: gene %s on %s", row+1, in.Table.Root().Column.Name, in.Value(e.v, row, in.Root),
			in.Table.Root().Role, in.Table.TableName, gene.Gene(g).Format(e.m.Width()), e.m.Shards()[e.m.Lookup(g)])
	}
	var added []string
	for _, s := range in.Added {
		added = append(added, in.Table.Columns[in.Column(s)].Name)
	}
	if len(added) > 0 {
		e.say("stamped", "%s", strings.Join(added, ", "))
	}
}
