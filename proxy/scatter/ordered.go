package scatter

import (
	"bytes"

	"locus/router/plan"
)

// sortKey is an ORDER BY item as a column of the rows.
type sortKey struct {
	column int
	kind   kind
	desc   bool
	// zeroIsNull reports whether a zero date sorts like NULL.
	zeroIsNull bool
	pad        []byte // see [plan.SortKey]
}

// compare compares two keys.
func (s *sortKey) compare(a, b key) int {
	if s.pad == nil || a.null || b.null {
		return s.kind.compare(a, b)
	}
	return comparePadded(a.b, b.b, s.pad)
}

// comparePadded compares two strings of bytes, the shorter of which is extended by repetitions of pad.
func comparePadded(a, b, pad []byte) int {
	common := min(len(a), len(b))
	if c := bytes.Compare(a[:common], b[:common]); c != 0 {
		return c
	}
	for rest := a[common:]; len(rest) > 0; rest = rest[min(len(rest), len(pad)):] {
		if c := bytes.Compare(rest[:min(len(rest), len(pad))], pad); c != 0 {
			return c
		}
	}
	for rest := b[common:]; len(rest) > 0; rest = rest[min(len(rest), len(pad)):] {
		if c := bytes.Compare(pad, rest[:min(len(rest), len(pad))]); c != 0 {
			return c
		}
	}
	return 0
}

// ordered merges sorted streams. A heap orders the answers by their current rows.
func (g *merger) ordered() error {
	if err := g.resolveKeys(); err != nil {
		return err
	}
	for i := range g.answers {
		if a := &g.answers[i]; !a.ended {
			if err := g.load(a); err != nil {
				return err
			}
			g.queue = append(g.queue, i)
		}
	}
	for i := len(g.queue)/2 - 1; i >= 0; i-- {
		g.sink(i)
	}
	for len(g.queue) > 0 && !g.window.over() {
		if err := g.takeFirst(); err != nil {
			return err
		}
	}
	return nil
}

// takeFirst sends the first row in order and advances its shard's answer.
func (g *merger) takeFirst() error {
	a := &g.answers[g.queue[0]]
	if g.window.admit() {
		if err := g.emit(a); err != nil {
			return err
		}
	}
	if err := a.next(); err != nil {
		return err
	}
	if a.ended {
		last := len(g.queue) - 1
		g.queue[0] = g.queue[last]
		g.queue = g.queue[:last]
	} else if err := g.load(a); err != nil {
		return err
	}
	g.sink(0)
	return nil
}

// load reads the sort keys of an answer's current row.
func (g *merger) load(a *answer) error {
	if err := a.split(g.format, g.types, g.visible); err != nil {
		return err
	}
	a.keys = a.keys[:0]
	for _, s := range g.sortKeys {
		k, err := s.kind.read(a.values[s.column])
		if err != nil {
			return a.fail(err)
		}
		if s.zeroIsNull && s.kind.isZeroDate(k) {
			k = key{null: true}
		}
		a.keys = append(a.keys, k)
	}
	return nil
}

// sink restores the heap below i.
func (g *merger) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(g.queue) {
			return
		}
		if right := child + 1; right < len(g.queue) && g.before(g.queue[right], g.queue[child]) {
			child = right
		}
		if !g.before(g.queue[child], g.queue[i]) {
			return
		}
		g.queue[i], g.queue[child] = g.queue[child], g.queue[i]
		i = child
	}
}

// before reports whether the row of answer i sorts before the row of answer j. Equal rows are in shard order.
func (g *merger) before(i, j int) bool {
	a, b := g.answers[i].keys, g.answers[j].keys
	for n, s := range g.sortKeys {
		c := s.compare(a[n], b[n])
		if c == 0 {
			continue
		}
		return c < 0 != s.desc
	}
	return i < j
}

// resolveKeys finds the sort columns and their kinds.
func (g *merger) resolveKeys() error {
	for _, k := range g.plan.Keys {
		at, ok := g.keyColumn(k)
		if !ok {
			return refuse("ORDER BY column %d: the answer has %d columns", k.Column, g.visible)
		}
		kind, ok := g.kindOf(at, k.Weighted)
		if !ok || kind == textFloat {
			return refuse("ORDER BY column %d of the answer, whose type can't be compared outside of the server: order by another column, or name one owner, ID or order number in WHERE", at+1)
		}
		g.sortKeys = append(g.sortKeys, sortKey{at, kind, k.Desc, k.Computed && g.zeroIsNull(g.columns[at].typ), k.Pad})
	}
	return nil
}

func (g *merger) keyColumn(k plan.SortKey) (at int, ok bool) {
	switch {
	case k.Hidden:
		at = g.visible + k.Column
		return at, k.Column >= 0 && at < len(g.columns)
	case k.Column < 0:
		at = g.visible + k.Column
	default:
		at = k.Column
	}
	return at, at >= 0 && at < g.visible
}
