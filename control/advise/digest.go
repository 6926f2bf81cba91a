package advise

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// dots replaces several values in the digests of servers.
const dots = "(...)"

// restored returns a server's digest as a statement with placeholders. Servers write (...) for a list of values and for a row, blanks between
// all tokens, and names that are keywords, such as account, in upper case. Its variables are those of [variables]. A digest that was cut off stays incomplete.
func (s *Schema) restored(database, digest string) string {
	var b strings.Builder
	rest := s.recased(database, digest)
	for {
		before, after, found := strings.Cut(rest, dots)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := 2
		if word := lastWord(before); strings.EqualFold(word, "values") || strings.EqualFold(word, "value") {
			n = s.rowWidth(database, b.String())
		}
		b.WriteString("(?" + strings.Repeat(", ?", n-1) + ")")
		rest = after
	}
}

// variables joins the parts of variables' names, between which servers write blanks.
var variables = strings.NewReplacer("@ @ SESSION . ", "@@SESSION.", "@ @ GLOBAL . ", "@@GLOBAL.", "@ @ ", "@@", "@ `", "@`")

// beforeTables are the words in front of a table's name.
var beforeTables = map[string]bool{"FROM": true, "JOIN": true, "INTO": true, "UPDATE": true, "TABLE": true, "TABLES": true, ",": true, ".": true}

// recased replaces words in upper case by the tables with these names, where tables are named.
func (s *Schema) recased(database, digest string) string {
	words := strings.Split(digest, " ")
	for i, word := range words {
		if word == "" || word[0] < 'A' || word[0] > 'Z' || word != strings.ToUpper(word) {
			continue
		}
		after, before := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		if !beforeTables[before] && after != "." {
			continue
		}
		if before == "." && i > 1 {
			database = strings.Trim(words[i-2], "`")
		}
		if name := s.folded[foldedName{database, strings.ToLower(word)}]; name != "" {
			words[i] = quoted(name)
		}
	}
	return strings.Join(words, " ")
}

func lastWord(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// rowWidth returns the number of values of an INSERT's row, by the columns in the text before VALUES, or else by the table's columns.
func (s *Schema) rowWidth(database, head string) int {
	head = strings.TrimSpace(head)
	head = strings.TrimSpace(head[:len(head)-len(lastWord(head))])
	if open := strings.LastIndexByte(head, '('); open >= 0 && strings.HasSuffix(head, ")") {
		return max(1, len(catalog.Split(head[open+1:len(head)-1], func(c rune) bool { return c == ',' })))
	}
	name, err := catalog.ParseTableName(strings.Join(strings.Fields(strings.ReplaceAll(lastName(head), " ", "")), ""))
	if err != nil {
		name = catalog.TableName{Schema: database, Name: strings.Trim(lastName(head), "`")}
	}
	if t := s.byName[name]; t != nil {
		visible := 0
		for i := range t.Columns {
			if !t.Columns[i].Invisible {
				visible++
			}
		}
		return max(1, visible)
	}
	return 1
}

// lastName returns the table's name at the end of a text, which may be `schema` . `table`.
func lastName(text string) string {
	fields := strings.Fields(text)
	if n := len(fields); n >= 3 && fields[n-2] == "." {
		return strings.Join(fields[n-3:], "")
	}
	return lastWord(text)
}

// lexed scans a sample. A digest without values has blanks before parentheses.
func (d *Digest) lexed(s *Schema, text string) *stmt.Lexed {
	l, mode := new(stmt.Lexed), stmt.Mode(0)
	if d.bare {
		text, mode = s.restored(d.Database, text), stmt.IgnoreSpace
	}
	l.Lex([]byte(text), mode)
	if l.Conditional {
		l.Resolve(nil)
	}
	return l
}

// bound returns a value for each placeholder. The n-th value of a list, and of a column in the rows of an INSERT, is n. So lists name several
// owners, and two conditions name the same one.
func bound(l *stmt.Lexed) []stmt.Value {
	values := make([]stmt.Value, l.Params)
	set := func(literal int32, n int) {
		if literal < 0 || int(literal) >= len(l.Literals) {
			return
		}
		if at := l.Literals[literal]; at.Kind == stmt.ParamLiteral && int(at.Param) < len(values) {
			values[at.Param] = stmt.Value{Kind: stmt.String, Text: []byte{byte('1' + n%9)}}
		}
	}
	for i := range l.Literals {
		set(int32(i), 0)
	}
	for _, slot := range l.Slots {
		for i := range slot.Count {
			set(slot.First+i, int(i))
		}
	}
	for n, row := range l.Rows {
		for _, cell := range l.Cells[row.First : row.First+row.Count] {
			set(cell.Literal, n)
		}
	}
	return values
}
