package differential

import "strings"

// node is a piece of a statement. Shrinking drops pieces of lists.
type node struct {
	text string
	arg  *value
	kids []*node
	// A list has head before its kids, and separator between them. Each kid may be dropped. An empty list
	// writes nothing.
	list            bool
	head, separator string
	dropped         bool
	kept            bool // never dropped: without it the answer is not fixed
	plain           bool // written for the plain server alone
}

// word, list and all create nodes from strings, values and nodes.
func list(head, separator string, of ...any) *node {
	n := all(of...)
	n.list, n.head, n.separator = true, head, separator
	return n
}

func all(of ...any) *node {
	n := &node{}
	for _, o := range of {
		n.add(o)
	}
	return n
}

func (n *node) add(o any) {
	switch o := o.(type) {
	case string:
		n.kids = append(n.kids, &node{text: o})
	case value:
		n.kids = append(n.kids, &node{arg: &o})
	case *node:
		if o != nil {
			n.kids = append(n.kids, o)
		}
	}
}

// Text for the plain server only is between these two bytes, so that the rest is dressed equally for both
// sides.
const asideBegins, asideEnds = '\x01', '\x02'

var withoutAsides = strings.NewReplacer(string(asideBegins), "", string(asideEnds), "")

// render builds the text, and the parameters of a prepared statement.
type render struct {
	prepared, plain bool
	b               strings.Builder
	args            []any
}

func (r *render) node(n *node) {
	if n.dropped || n.plain && !r.plain {
		return
	}
	r.b.WriteString(n.text)
	if n.arg != nil {
		r.value(*n.arg)
	}
	written := 0
	for _, kid := range n.kids {
		if kid.dropped || kid.plain && !r.plain {
			continue
		}
		if kid.plain {
			r.b.WriteByte(asideBegins)
		}
		if n.list {
			r.b.WriteString([]string{n.head, n.separator}[min(written, 1)])
		}
		written++
		r.node(kid)
		if kid.plain {
			r.b.WriteByte(asideEnds)
		}
	}
}

func (r *render) value(v value) {
	if r.prepared && v.bound {
		r.b.WriteByte('?')
		r.args = append(r.args, v.param)
		return
	}
	r.b.WriteString(v.text)
}

// droppable appends every piece without which the statement may still be valid, the largest first.
func (n *node) droppable(out []*node) []*node {
	for _, kid := range n.kids {
		if n.list && !kid.dropped && !kid.kept && !kid.plain {
			out = append(out, kid)
		}
	}
	for _, kid := range n.kids {
		if !kid.dropped {
			out = kid.droppable(out)
		}
	}
	return out
}
