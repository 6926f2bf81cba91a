package trust

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"locus/router/stmt"
)

// reading is the proxy's reading of a text, in a canonical form that every server reads in the same way: without comments,
// with single blanks, with names that begin with z in backquotes, and with each literal as its value or as a literal of its
// kind.
type reading struct {
	lexed stmt.Lexed
	args  stmt.Args
	out   []byte
	// servers are those whose comments are resolved.
	servers []stmt.Server
}

// literals determines the form of literals. values keeps their values, so that the answer is the same. tokenKinds replaces
// them by one of their kind, so that a server's digest is the same.
type literals uint8

const (
	values literals = iota
	tokenKinds
)

// of returns the canonical text. refused is why the proxy refuses the text, or nil.
func (r *reading) of(text string, mode stmt.Mode, as literals) (canonical string, refused error) {
	l := &r.lexed
	l.Lex([]byte(text), mode)
	if l.Conditional {
		l.Resolve(r.servers)
	}
	if l.Err != nil {
		return "", l.Err
	}
	r.args.Reset(l, nil)
	r.out = r.out[:0]
	at := 0
	for i, literal := range l.Literals {
		if err := r.between(at, int(literal.Start), as); err != nil {
			return "", err
		}
		r.literal(int32(i), literal, as)
		at = int(literal.End)
	}
	if err := r.between(at, len(l.Text), as); err != nil {
		return "", err
	}
	if strings.Trim(string(r.out), " ;") == "" {
		return "", errNothing
	}
	return string(r.out), nil
}

// errHint: a server's digest has its hints.
var errHint = errors.New("a hint")

var errNothing = errors.New("nothing is run")

// between writes the text between two literals.
func (r *reading) between(from, to int, as literals) error {
	t := r.lexed.Text[:to]
	for i := from; i < to; {
		c := t[i]
		switch {
		case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			r.blank()
			i++
		case c == '`' || c == '"' && r.lexed.Mode&stmt.AnsiQuotes != 0:
			end := nameEnd(t, i)
			if end < 0 {
				return fmt.Errorf("a literal begins within a quoted name at %d", i)
			}
			name := bytes.ReplaceAll(t[i+1:end-1], []byte{c, c}, []byte{c})
			r.name(name)
			i = end
		case isLetter(c) || c >= '0' && c <= '9':
			end := i
			for end < to && (isLetter(t[end]) || t[end] >= '0' && t[end] <= '9') {
				end++
			}
			if c|0x20 == 'z' && (i == 0 || t[i-1] != '@' && t[i-1] != '.') && (end == len(r.lexed.Text) || r.lexed.Text[end] != '.') {
				r.name(t[i:end])
			} else {
				r.out = append(r.out, t[i:end]...)
			}
			i = end
		case bytes.HasPrefix(t[i:], []byte("/*+")):
			end := bytes.Index(t[i:], []byte("*/"))
			if end < 0 {
				return fmt.Errorf("a literal begins within a hint at %d", i)
			}
			if as == tokenKinds {
				return errHint
			}
			r.blank()
			i += end + 2
		default:
			if n := len(r.out); c == '-' && n > 0 && r.out[n-1] == '-' {
				r.out = append(r.out, ' ') // else a blank behind would make it a comment
			}
			r.out = append(r.out, c)
			i++
		}
	}
	return nil
}

func isLetter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}

func nameEnd(t []byte, start int) int {
	for i := start + 1; i < len(t); i++ {
		if t[i] != t[start] {
			continue
		}
		if i+1 < len(t) && t[i+1] == t[start] {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

func (r *reading) blank() {
	if n := len(r.out); n > 0 && r.out[n-1] != ' ' {
		r.out = append(r.out, ' ')
	}
}

func (r *reading) name(name []byte) {
	if n := len(r.out); n > 0 && r.out[n-1] == '`' {
		r.out = append(r.out, ' ')
	}
	r.out = append(r.out, '`')
	r.out = append(r.out, bytes.ReplaceAll(name, []byte("`"), []byte("``"))...)
	r.out = append(r.out, '`')
}

func (r *reading) literal(i int32, l stmt.Literal, as literals) {
	text := r.lexed.Text[l.Start:l.End]
	switch {
	case l.Kind == stmt.CommentLiteral:
		r.blank()
	case l.Kind == stmt.StringLiteral && as == values:
		r.out = append(r.out, text[0])
		for _, c := range r.args.Value(i).Text {
			switch {
			case c == text[0]:
				r.out = append(r.out, c, c)
			case c == '\\' && r.lexed.Mode&stmt.NoBackslash == 0:
				r.out = append(r.out, `\\`...)
			default:
				r.out = append(r.out, c)
			}
		}
		r.out = append(r.out, text[0])
	case as == tokenKinds && l.Kind == stmt.StringLiteral && !r.typed():
		r.out = append(r.out, text[0], 'x', text[0])
	case as == tokenKinds && l.Kind == stmt.IntLiteral:
		r.out = append(r.out, '1')
	case as == tokenKinds && l.Kind == stmt.DecimalLiteral:
		r.out = append(r.out, "1.5"...)
	case as == tokenKinds && l.Kind == stmt.FloatLiteral:
		r.out = append(r.out, "1e5"...)
	case as == tokenKinds && (l.Kind == stmt.HexLiteral || l.Kind == stmt.BitLiteral) && text[0] == '0':
		r.out = append(r.out, "0x41"...)
	case as == tokenKinds && (l.Kind == stmt.HexLiteral || l.Kind == stmt.BitLiteral):
		r.out = append(r.out, "x'41'"...)
	default:
		r.out = append(r.out, text...)
	}
}

// typed reports whether the word before a string makes it a date, so that it must be a valid one.
func (r *reading) typed() bool {
	before := strings.ToLower(strings.TrimSpace(string(r.out)))
	for _, word := range []string{"date", "time", "timestamp", "{d", "{t", "{ts", "{ d", "{ t"} {
		if strings.HasSuffix(before, word) {
			return true
		}
	}
	return false
}
