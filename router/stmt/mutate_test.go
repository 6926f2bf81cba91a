package stmt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spellings are replacements for literals of each kind. None is a name in the corpus, so that a test notices one that appears
// in the result of a parse.
var spellings = map[LiteralKind][]string{
	IntLiteral:        {"0", "7", "00012", "18446744073709551615", "184467440737095516160", strings.Repeat("9", 90)},
	DecimalLiteral:    {".5", "3.", "12.25", "1." + strings.Repeat("0", 80)},
	FloatLiteral:      {"1e2", ".5e-3", "7.5E+10"},
	StringLiteral:     {"''", "'zz'", `'a\'b'`, "'it''s'", `"dq"`, "'-- no'", "'/* no */'", "'(,)'", "'?'", "'\xff\xfe'", "'買家'", `'\\'`},
	IntroducedLiteral: {"_binary'zz'", "_binary '\xff\\0'", "_utf8mb4'買家'", "_latin1'\xe9'", "n''", "_UTF8 \"dq\"", "_utf8mb3 x'e9'"},
	HexLiteral:        {"0x00", "x''", "X'AbCd'"},
	BitLiteral:        {"0b1", "b'0'", "B''"},
	ParamLiteral:      {"?"},
	CommentLiteral:    {"/**/", "/* or 1 = 1 */", "/* ' */", "/*T! or 1 = 1 */"},
}

// another writes a text with the same key: with other literals and comments, and other numbers of elements and
// rows. moved is the new offset of each byte that is not part of a literal.
func another(t *rapid.T, l *Lexed) (text string, moved map[int]int) {
	var b strings.Builder
	moved = map[int]int{}
	at := 0
	keep := func(end int) {
		for ; at < end; at++ {
			moved[at] = b.Len()
			b.WriteByte(l.Text[at])
		}
		moved[end] = b.Len()
	}
	spell := func(i int32) {
		literal := l.Literals[i]
		kind := literal.Kind
		options := spellings[kind]
		if original := l.Text[literal.Start]; kind == CommentLiteral && original != '/' {
			options = []string{"-- x", "# 'y", "/* z */"}
		}
		b.WriteString(rapid.SampledFrom(options).Draw(t, fmt.Sprint("literal", i)))
	}
	rows := map[int32]Row{}
	for i, r := range l.Rows {
		if i+1 < len(l.Rows) && l.Rows[i+1].dropped {
			rows[r.Close] = r // rows may be inserted or removed after this one
		}
	}
	skip := int32(-1)
	for _, s := range l.Slots {
		first, last := l.Literals[s.First], l.Literals[s.First+s.Count-1]
		if first.Start < skip {
			continue
		}
		for open, r := range rows {
			if int(open) >= at && open < first.Start {
				keep(int(open) + 1)
				extraRows(t, &b, l, r)
				at = int(lastDropped(l, r).Close) + 1
				delete(rows, open)
			}
		}
		keep(int(first.Start))
		spell(s.First)
		if s.Count > 1 {
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				b.WriteString(" , ")
				spell(s.First)
			}
		}
		at = int(last.End)
		moved[at] = b.Len()
	}
	for close, r := range rows {
		keep(int(close) + 1)
		extraRows(t, &b, l, r)
		at = int(lastDropped(l, r).Close) + 1
	}
	keep(len(l.Text))
	return b.String(), moved
}

func lastDropped(l *Lexed, from Row) Row {
	for i, r := range l.Rows {
		if r.Open != from.Open {
			continue
		}
		for i+1 < len(l.Rows) && l.Rows[i+1].dropped {
			i++
		}
		return l.Rows[i]
	}
	return from
}

// extraRows writes rows of nothing but values.
func extraRows(t *rapid.T, b *strings.Builder, l *Lexed, r Row) {
	if !r.simple {
		return
	}
	cells := []string{"NULL", "default", "1", "-2.5", "'x'", "?", "TRUE", "0x41"}
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		var row []string
		for range r.Count {
			row = append(row, rapid.SampledFrom(cells).Draw(t, "cell"))
		}
		b.WriteString(",(" + strings.Join(row, ", ") + ")")
	}
}

// TestKeyHolds: the parse of one text holds for every text with the same key, and anchors point to the
// corresponding positions.
func TestKeyHolds(t *testing.T) {
	for _, text := range corpus {
		l := lexed(text, 0)
		original, err := Parse(l)
		if err != nil || l.Uncacheable || original.Verbatim {
			continue
		}
		if original.Kind == Set { // the planner caches no plan for SET
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			text2, moved := another(t, l)
			l2 := lexed(text2, 0)
			if string(l2.Key) != string(l.Key) {
				t.Fatalf("%q\n   key %q\n%q\n   key %q", text, marked(l), text2, marked(l2))
			}
			for from, to := range moved {
				if within(l, from) {
					continue
				}
				if got := l2.Offset(l.Anchor(from)); got != to {
					t.Fatalf("%q\n%q\noffset %d went to %d, the anchor says %d", text, text2, from, to, got)
				}
			}
			other, err := Parse(l2)
			if err != nil { // for example LIMIT 99999999999999999999, which the server refuses
				return
			}
			forget(reflect.ValueOf(original))
			forget(reflect.ValueOf(other))
			// The users of these fields read each text again.
			original.Owned, original.Unnamed, other.Owned, other.Unnamed = nil, nil, nil, nil
			if !reflect.DeepEqual(original, other) {
				t.Fatalf("%q\n%q\nare read differently:\n%s\n%s", text, text2, show(original), show(other))
			}
		})
	}
}

// within reports whether the offset can't have an anchor, because it is within the rows of an INSERT, or after
// a literal of a list that is not the last one.
func within(l *Lexed, offset int) bool {
	for _, r := range l.Rows {
		if int(r.Open) < offset && offset <= int(r.Close) || r.dropped && offset <= int(r.Open) && offset > int(l.Rows[0].Open) {
			return true
		}
	}
	return false
}

// forget removes the positions, which are the first text's.
func forget(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*Block]() {
			forget(v.Elem())
		} else if b, ok := v.Interface().(*Block); ok && b != nil {
			forget(reflect.ValueOf(b).Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Operand]() {
			v.FieldByName("Position").SetInt(0)
		}
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[Block]() && v.Type().Field(i).Name == "Parent" {
				continue
			}
			if v.Type() == reflect.TypeFor[Statement]() && v.Type().Field(i).Name == "Inner" {
				v.Field(i).SetInt(0)
			}
			forget(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i))
		}
	}
}

func show(s *Statement) string { return fmt.Sprintf("%+v %+v", *s, s.Blocks) }

// TestCorpusIsCached: only few texts may be planned again each time.
func TestCorpusIsCached(t *testing.T) {
	verbatim := 0
	for _, text := range corpus {
		l := lexed(text, 0)
		if s, err := Parse(l); err == nil && s.Verbatim {
			verbatim++
		}
	}
	if verbatim > 2 {
		t.Errorf("%d texts of the corpus are read verbatim; those with an alias or a variable in quotes should be", verbatim)
	}
}
