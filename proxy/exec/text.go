package exec

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Edited returns a text with edits. The result is a view of a buffer.
func (e *Engine) Edited(text []byte, edits []stmt.Edit) []byte {
	e.text = stmt.AppendEdited(e.text[:0], text, edits)
	return e.text
}

// Spliced returns the statement's text with the added pieces, or nil if there are none. The result is a view of a buffer.
func (x *Execution) Spliced(added []plan.Splice) []byte {
	if len(added) == 0 {
		return nil
	}
	text, from := x.Values.Text, 0
	out := x.text[:0]
	for _, splice := range added {
		at := x.Values.Offset(splice.At)
		out = append(append(out, text[from:at]...), splice.Text...)
		from = at
	}
	x.text = append(out, text[from:]...)
	return x.text
}

// bindNumbers converts edits that write numbers in place of placeholders into values of the parameters. It returns the other edits.
func bindNumbers(l *stmt.Lexed, edits []stmt.Edit, params []wire.Param) []stmt.Edit {
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

// WithValues returns a statement's text with the values of its placeholders and with splices.
func (x *Execution) WithValues(splices ...plan.Splice) ([]byte, error) {
	var edits []stmt.Edit
	for _, splice := range splices {
		at := x.Values.Offset(splice.At)
		edits = append(edits, stmt.Edit{From: at, To: at, Text: splice.Text})
	}
	return x.WithLiterals(x.Values.Text, x.Values.Literals, edits...)
}

// WithLiterals returns a text with edits, and with the client's parameters in place of its placeholders.
func (x *Execution) WithLiterals(text []byte, literals []stmt.Literal, edits ...stmt.Edit) ([]byte, error) {
	for _, literal := range literals {
		if literal.Kind != stmt.ParamLiteral {
			continue
		}
		value, err := literalOf(x.Params[literal.Param], &x.Vars.Values)
		if err != nil {
			return nil, err
		}
		edits = append(edits, stmt.Edit{From: int(literal.Start), To: int(literal.End), Text: string(value)})
	}
	slices.SortStableFunc(edits, func(a, b stmt.Edit) int { return a.From - b.From })
	return stmt.AppendEdited(nil, text, edits), nil
}

// between returns a part of the statement's text, with the client's parameters in place of its placeholders.
func (x *Execution) between(from, to int) ([]byte, error) {
	var within []stmt.Literal
	for _, literal := range x.Values.Literals {
		if int(literal.Start) >= from && int(literal.End) <= to {
			literal.Start, literal.End = literal.Start-int32(from), literal.End-int32(from)
			within = append(within, literal)
		}
	}
	return x.WithLiterals(x.Values.Text[from:to], within)
}

// IsASCII reports whether a text has only ASCII characters.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
