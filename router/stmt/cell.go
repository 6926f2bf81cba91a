package stmt

import "bytes"

// Bare gives where a cell's value stands, without the blanks around it.
func (l *Lexed) Bare(c Cell) (from, to int) {
	const blanks = " \t\r\n\f\v"
	cell := l.Text[c.Start:c.End]
	from = int(c.End) - len(bytes.TrimLeft(cell, blanks))
	return from, int(c.Start) + len(bytes.TrimRight(cell, blanks))
}

// Computed tells of a cell that is no literal which user variable it is, in lower
// case, or that it is LAST_INSERT_ID(). Others only the server can compute.
func (l *Lexed) Computed(c Cell) (variable string, insertID bool) {
	from, to := l.Bare(c)
	text := l.Text[from:to]
	switch {
	case bytes.EqualFold(text, []byte("last_insert_id()")):
		return "", true
	case len(text) > 1 && text[0] == '@' && isVariable(text[1:]):
		return lower(string(text[1:])), false
	}
	return "", false
}

func isVariable(b []byte) bool {
	for _, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '_' && c != '$' && c != '.' {
				return false
			}
		}
	}
	return true
}
