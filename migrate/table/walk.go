package table

import (
	"strconv"

	"locus/migrate/link"
)

// spansPerQuery bounds the spans of one condition.
const spansPerQuery = 100

// Range is a piece of a lane: the keys above Above, up to and including UpTo. nil represents the lane's end.
type Range struct{ Above, UpTo Key }

// Where returns the condition for a lane's rows within the range.
func (l Lane) Where(r Range) string {
	spans := l.spans
	if l.Table.telling.leads {
		if r.UpTo != nil {
			spans = spans[:l.spanOf(r.UpTo)+1]
		}
		if r.Above != nil {
			spans = spans[min(l.spanOf(r.Above), len(spans)):]
		}
	}
	if len(spans) == 0 {
		return "FALSE"
	}
	return string(l.appendWhere(nil, spans, r))
}

func (l Lane) appendWhere(b []byte, spans []span, r Range) []byte {
	b = l.Table.appendSpans(b, spans)
	if l.only != "" {
		b = append(b, " AND "+l.only...)
	}
	if r.Above != nil {
		b = l.Table.appendBeyond(append(b, " AND "...), r.Above, '>')
	}
	if r.UpTo != nil {
		b = l.Table.appendBeyond(append(b, " AND NOT "...), r.UpTo, '>')
	}
	return b
}

// appendBeyond appends the condition that a row's key is beyond k. A row comparison such as (a, b) > (1, 2) would not
// use the index.
func (t *Table) appendBeyond(b []byte, k Key, op byte) []byte {
	b = append(b, '(')
	for i := range k {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = append(b, '(')
		for j := range i {
			b = t.appendCompared(b, j, "=", k[j])
			b = append(b, " AND "...)
		}
		b = t.appendCompared(b, i, string(op), k[i])
		b = append(b, ')')
	}
	return append(b, ')')
}

// Beyond returns a condition for rows whose key is beyond k.
func (t *Table) Beyond(k Key) string { return string(t.appendBeyond(nil, k, '>')) }

func (t *Table) appendCompared(b []byte, i int, op string, v []byte) []byte {
	c := &t.Columns[t.Key.Columns[i]]
	b = append(b, link.Name(c.Name)+op...)
	return c.AppendOperand(b, v)
}

// KeyList returns the columns of the row's key, for ORDER BY and select lists.
func (t *Table) KeyList() string {
	var b []byte
	for i, c := range t.Key.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, link.Name(t.Columns[c].Name)...)
	}
	return string(b)
}

// AppendKeyIn appends the condition that a row's key is one of keys.
func (t *Table) AppendKeyIn(b []byte, keys []Key) []byte {
	b = append(b, "("+t.KeyList()+") IN ("...)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for j, v := range k {
			if j > 0 {
				b = append(b, ',')
			}
			b = t.Columns[t.Key.Columns[j]].AppendOperand(b, v)
		}
		b = append(b, ')')
	}
	return append(b, ')')
}

// Step is one SELECT of a lane's traversal.
type Step struct {
	// Where selects the lane's next rows. With Order and a limit it selects the next piece.
	Where string
	// Last reports that the lane has no rows beyond those that Where selects.
	Last  bool
	spans []span
	above Key
	next  int // index of the first span beyond Where
}

// Within returns Where, up to and including a key; nil means all of it.
func (l Lane) Within(s Step, upTo Key) string {
	if len(s.spans) == 0 {
		return "FALSE"
	}
	return string(l.appendWhere(nil, s.spans, Range{s.above, upTo}))
}

// Walk returns the step above a key, or at the lane's beginning for nil. A lane with very many ranges is divided into
// steps: once a step has no more rows, Beyond returns the next.
func (l Lane) Walk(above Key) Step {
	from := 0
	if above != nil && l.Table.telling.leads {
		from = l.spanOf(above)
	}
	return l.step(from, above)
}

// Beyond returns the step after s, once s has no more rows.
func (l Lane) Beyond(s Step, above Key) Step { return l.step(s.next, above) }

func (l Lane) step(from int, above Key) Step {
	to := len(l.spans)
	if l.Table.telling.leads {
		to = min(to, from+spansPerQuery)
	}
	if from >= to {
		return Step{Where: "FALSE", Last: true, next: from}
	}
	return Step{
		Where: string(l.appendWhere(nil, l.spans[from:to], Range{Above: above})),
		Last:  to == len(l.spans), spans: l.spans[from:to], above: above, next: to,
	}
}

// spanOf finds the span that contains a key of this lane.
func (l Lane) spanOf(k Key) int {
	place, ok := l.Table.telling.place(k[0])
	for i, s := range l.spans {
		if ok && s.Holds(place) {
			return i
		}
	}
	return 0
}

// Order returns the ORDER BY clause of the row's key.
func (t *Table) Order() string { return " ORDER BY " + t.KeyList() }

// Limit returns the LIMIT clause for n rows.
func Limit(n int) string { return " LIMIT " + strconv.Itoa(n) }
