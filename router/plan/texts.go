package plan

import (
	"strconv"

	"locus/router/stmt"
)

// Edits returns insertions as edits of a text.
func Edits(v *Values, splices []Splice) []stmt.Edit {
	edits := make([]stmt.Edit, len(splices))
	for i, s := range splices {
		at := v.Offset(s.At)
		edits[i] = stmt.Edit{From: at, To: at, Text: s.Text}
	}
	return edits
}

// Window is a LIMIT clause with its values: Count rows from Offset on. Set is false without a LIMIT.
type Window struct {
	Offset, Count uint64
	Set           bool
}

// Edits returns the LIMIT of a read that is merged, and the edits of its text for the shards. The edits add the hidden columns,
// and request all rows up to the end of the LIMIT. ok is false if a number of the LIMIT is not a non-negative integer.
func (m *Merge) Edits(v *Values) (w Window, edits []stmt.Edit, ok bool) {
	if m.Hidden > 0 {
		edits = Edits(v, m.Columns)
	}
	if m.Limit == nil {
		return w, edits, true
	}
	w.Set = true
	if w.Count, ok = LimitNumber(v.Operand(&m.Limit.Count)); !ok {
		return w, nil, false
	}
	wanted := w.Count
	var offset []stmt.Edit
	if m.Limit.Offset != nil {
		if w.Offset, ok = LimitNumber(v.Operand(m.Limit.Offset)); !ok {
			return w, nil, false
		}
		wanted += w.Offset
		offset = append(offset, literal(v, *m.Limit.Offset, 0))
	}
	if wanted < w.Count {
		wanted = 1<<64 - 1
	}
	if m.Kind == Aggregated {
		wanted = 1
	}
	edits = append(append(edits, offset...), countEdits(v, m.Limit, wanted)...)
	return w, stmt.SortEdits(edits), true
}

// countEdits returns the edit that sets the count of a LIMIT. There is none if the text has no count and no place for one.
func countEdits(v *Values, l *stmt.Limit, n uint64) []stmt.Edit {
	switch {
	case l.Count.Slot >= 0:
		return []stmt.Edit{literal(v, l.Count, n)}
	case l.CountAt != nil:
		at := v.Offset(*l.CountAt)
		return []stmt.Edit{{From: at, To: at, Text: " " + strconv.FormatUint(n, 10)}}
	}
	return nil
}

// LimitNumber returns a number of a LIMIT. ok is false for other values.
func LimitNumber(v stmt.Value) (n uint64, ok bool) {
	i, ok := v.Integer()
	if !ok || i.Kind == stmt.Int && i.Int < 0 {
		return 0, false
	}
	return i.Bits(), true
}

// literal returns an edit that replaces the literal of an operand.
func literal(v *Values, o stmt.Operand, n uint64) stmt.Edit {
	l := v.Literals[v.Slots[o.Slot].First]
	return stmt.Edit{From: int(l.Start), To: int(l.End), Text: strconv.FormatUint(n, 10)}
}
