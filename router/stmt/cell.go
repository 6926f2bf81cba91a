package stmt

import "bytes"

// Bare returns the position of a cell's value without surrounding blanks.
func (l *Lexed) Bare(c Cell) (from, to int) {
	const blanks = " \t\r\n\f\v"
	cell := l.Text[c.Start:c.End]
	from = int(c.End) - len(bytes.TrimLeft(cell, blanks))
	return from, int(c.Start) + len(bytes.TrimRight(cell, blanks))
}

// sole returns the only word in a text, without surrounding blanks and comments, or nil if there is more. Comments must end
// within the text.
func sole(text []byte) []byte {
	text = text[besides(text):]
	end := bytes.IndexAny(text, " \t\r\n\f\v'\"`/-#")
	if end < 0 {
		return text
	}
	if rest := text[end:]; besides(rest) < len(rest) {
		return nil
	}
	return text[:end]
}

// besides returns the length of leading blanks and comments.
func besides(text []byte) int {
	at := 0
	for at < len(text) {
		rest, end := text[at:], 0
		switch {
		case class[rest[0]] == spaceByte:
			at++
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
				return at
			}
			at += end + 4
		case rest[0] == '#', bytes.HasPrefix(rest, []byte("--")) && (len(rest) == 2 || class[rest[2]] == spaceByte):
			if end = bytes.IndexByte(rest, '\n'); end < 0 {
				return len(text)
			}
			at += end + 1
		default:
			return at
		}
	}
	return at
}

// Computed examines a cell that isn't a literal. It returns the name of a user variable in lower case, or true for
// LAST_INSERT_ID(). Only the server can compute other cells.
func (l *Lexed) Computed(c Cell) (variable string, insertID bool) {
	text := sole(l.Text[c.Start:c.End])
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
