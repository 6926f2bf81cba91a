package stmt

import "strings"

// RowAlias is MySQL's AS name (column, …) after the rows of an INSERT. Its columns are the columns of the rows, in their
// order.
type RowAlias struct {
	// Columns are the names in the list, or nil without one. The columns then have the names of the table's.
	Columns []string
	// First is the start of the list, and Last its end. Without a list both are where one can be inserted.
	First, Last Anchor
}

// rowAlias is the position of a RowAlias in the text. The list of its columns begins behind open, and ends at close.
type rowAlias struct {
	span
	columns     []string
	open, close int
}

// rowAlias finds the row alias of an INSERT, which the parser doesn't support. It comes after the last row, or after the
// assignments of INSERT … SET. Only ON DUPLICATE KEY UPDATE may follow it.
func (l *Lexed) rowAlias() (found rowAlias, ok bool) {
	at := l.rowsEnd()
	if at < 0 || !isWord(l.Text[at:wordEnd(l.Text, at)], "as") {
		return rowAlias{}, false
	}
	found.start = at
	if _, found.end, ok = l.nameBehind(at + len("as")); !ok {
		return rowAlias{}, false
	}
	found.open, found.close = found.end, found.end
	if at = l.behindBlanks(found.end); at < len(l.Text) && l.Text[at] == '(' {
		found.open = at + 1
		if found.columns, found.close, ok = l.namesIn(found.open); !ok {
			return rowAlias{}, false
		}
		found.end = found.close + 1
	}
	at = l.behindBlanks(found.end)
	if at >= l.end() { // the AS may belong to a field in RETURNING
		return found, len(l.Rows) > 0 || l.clause(0, "returning") < 0
	}
	return found, isWord(l.Text[at:wordEnd(l.Text, at)], "on")
}

// rowsEnd returns the position of the text after the rows of an INSERT. For INSERT … SET it returns the position of AS. It
// returns -1 if there is none.
func (l *Lexed) rowsEnd() int {
	if n := len(l.Rows); n > 0 {
		return l.behindBlanks(int(l.Rows[n-1].Close) + 1)
	}
	list := l.words()
	if len(list) == 0 || !l.is(list[0], "insert") {
		return -1
	}
	set := l.clause(0, "set", "values", "value", "select")
	if set < 0 || !isWord(l.Text[set:wordEnd(l.Text, set)], "set") {
		return -1
	}
	return l.clause(set, "as")
}

// nameBehind reads a name behind an offset, after blanks and comments.
func (l *Lexed) nameBehind(at int) (name string, end int, ok bool) {
	at = l.behindBlanks(at)
	if at >= len(l.Text) {
		return "", at, false
	}
	if class[l.Text[at]] == quoteByte {
		if _, literal := l.literalAt(at); literal {
			return "", at, false
		}
		if end = quotedEnd(l.Text, at, false); end < 0 {
			return "", at, false
		}
		quote := string(l.Text[at])
		return strings.ReplaceAll(string(l.Text[at+1:end-1]), quote+quote, quote), end, true
	}
	if !inName(l.Text[at]) {
		return "", at, false
	}
	end = wordEnd(l.Text, at)
	return string(l.Text[at:end]), end, true
}

// namesIn reads names that are separated by commas. end is the parenthesis behind them.
func (l *Lexed) namesIn(at int) (names []string, end int, ok bool) {
	for {
		name, behind, is := l.nameBehind(at)
		if !is {
			return nil, at, false
		}
		names = append(names, name)
		at = l.behindBlanks(behind)
		switch {
		case at >= len(l.Text):
			return nil, at, false
		case l.Text[at] == ')':
			return names, at, true
		case l.Text[at] != ',':
			return nil, at, false
		}
		at++
	}
}

// rowAlias records the row alias of an INSERT.
func (r *reader) rowAlias(in *Insertion) {
	found, ok := r.l.rowAlias()
	if !ok {
		return
	}
	in.As = &RowAlias{found.columns, r.l.Anchor(found.open), r.l.Anchor(found.close)}
}
