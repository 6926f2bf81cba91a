package exec

import (
	"encoding/binary"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/scatter"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Edited gives a text with edits. It is a view of a buffer.
func (e *Environment) Edited(text []byte, edits []stmt.Edit) []byte {
	e.text = stmt.AppendEdited(e.text[:0], text, edits)
	return e.text
}

// Spliced gives the statement's text where it isn't the client's own; nil where
// it is. It is a view of a buffer.
func (e *Environment) Spliced(w *Work, added []plan.Splice) []byte {
	if len(added) == 0 {
		return nil
	}
	text, from := w.Values.Text, 0
	out := e.text[:0]
	for _, splice := range added {
		at := w.Values.Offset(splice.At)
		out = append(append(out, text[from:at]...), splice.Text...)
		from = at
	}
	e.text = append(out, text[from:]...)
	return e.text
}

// ForMerge gives the LIMIT of a read that is merged, and how its text reads for the shards: with the hidden columns, and asking for
// all rows up to the end of the LIMIT. ok is false where a number of that is none.
func ForMerge(v *plan.Values, m *plan.Merge) (limit scatter.Limit, edits []stmt.Edit, ok bool) {
	if m.Hidden > 0 {
		at := v.Offset(m.Columns.At)
		edits = append(edits, stmt.Edit{From: at, To: at, Text: m.Columns.Text})
	}
	if m.Limit == nil {
		return limit, edits, true
	}
	limit.Set = true
	if limit.Count, ok = LimitNumber(v.Operand(&m.Limit.Count)); !ok {
		return limit, nil, false
	}
	wanted := limit.Count
	var offset []stmt.Edit
	if m.Limit.Offset != nil {
		if limit.Offset, ok = LimitNumber(v.Operand(m.Limit.Offset)); !ok {
			return limit, nil, false
		}
		wanted += limit.Offset
		offset = append(offset, number(v, *m.Limit.Offset, 0))
	}
	if wanted < limit.Count {
		wanted = 1<<64 - 1
	}
	if m.Kind == plan.Aggregated {
		wanted = 1
	}
	count := number(v, m.Limit.Count, wanted)
	if len(offset) > 0 && offset[0].From < count.From {
		return limit, append(append(edits, offset...), count), true
	}
	return limit, append(append(edits, count), offset...), true
}

// LimitNumber reads a number of a LIMIT.
func LimitNumber(v stmt.Value) (uint64, bool) {
	n, ok := v.Integer()
	if !ok || (n.Kind == stmt.Int && n.Int < 0) {
		return 0, false
	}
	return n.Bits(), true
}

// number replaces the literal of an operand.
func number(v *plan.Values, o stmt.Operand, n uint64) stmt.Edit {
	literal := v.Literals[v.Slots[o.Slot].First]
	return stmt.Edit{From: int(literal.Start), To: int(literal.End), Text: strconv.FormatUint(n, 10)}
}

// Bind turns numbers in the places of placeholders into parameters. It gives the other edits.
func Bind(l *stmt.Lexed, edits []stmt.Edit, params []wire.Param) []stmt.Edit {
	kept := edits[:0]
	for _, e := range edits {
		if ordinal, ok := placeholder(l, e); ok {
			n, _ := strconv.ParseUint(e.Text, 10, 64)
			params[ordinal] = wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Flags: mysql.PARAM_UNSIGNED, Value: binary.LittleEndian.AppendUint64(nil, n)}
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

func placeholder(l *stmt.Lexed, e stmt.Edit) (int, bool) {
	for _, literal := range l.Literals {
		if int(literal.Start) == e.From && int(literal.End) == e.To && literal.Kind == stmt.ParamLiteral {
			return int(literal.Param), true
		}
	}
	return 0, false
}
