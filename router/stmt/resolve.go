package stmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Server determines which comments a server executes.
type Server struct {
	MariaDB bool
	Version int // 101119 is 10.11.19
}

// ServerOf reads a server's version. ok is false if there is no version in it.
func ServerOf(version string) (s Server, ok bool) {
	s.MariaDB = strings.Contains(version, "MariaDB")
	number, _, _ := strings.Cut(strings.TrimPrefix(version, "5.5.5-"), "-")
	parts := strings.SplitN(number, ".", 3)
	for i := range 3 {
		n := 0
		if i < len(parts) {
			digits := parts[i]
			if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
				digits = digits[:end]
			}
			n, _ = strconv.Atoi(digits)
		}
		s.Version = s.Version*100 + min(n, 99)
	}
	return s, s.Version > 0
}

// HidesColumns reports whether the server supports invisible columns.
func (s Server) HidesColumns() bool {
	if s.MariaDB {
		return s.Version >= 100300
	}
	return s.Version >= 80023
}

// unknown stands for servers with unknown versions, from the oldest supported ones to any future one.
var unknown = []Server{{true, 100400}, {true, 999998}, {false, 50700}, {false, 999998}}

// Resolve replaces comments that some servers execute by what the given servers make of them, and reads the text again.
// Executed comments become plain text, and skipped ones are removed, as they are in the column names that servers
// derive from expressions. It refuses comments on which the servers disagree, that are nested deeper than in dumps, or
// that don't end. Error positions refer to the original text.
func (l *Lexed) Resolve(on []Server) {
	if len(on) == 0 {
		on = unknown
	}
	r := resolver{text: l.Text, mode: l.Mode, on: on, opened: -1}
	err := r.run()
	if err == nil {
		r.out = append(r.out, r.text[r.copied:]...)
		err = r.apart()
	} else {
		r.out = r.text
	}
	l.Lex(l.Text[:copy(l.Text, r.out)], l.Mode) // never longer than before
	var u *Uncertain
	switch {
	case err != nil:
		l.Err, l.Conditional, l.Several = err, false, false
	case errors.As(l.Err, &u):
		u.At = r.before(u.At)
	}
}

type resolver struct {
	text []byte
	mode Mode
	on   []Server
	pos  int
	// opened is the start of the comment being executed, or -1. body is the position behind its opening, and begun is
	// that position in out.
	opened, body, begun int
	ran                 []span // stretches of out
	// said reports whether any part of the current statement has been kept, even a comment.
	said bool
	// out is the kept part of the text up to copied. cuts describe the removed parts.
	out    []byte
	copied int
	cuts   []cut
}

// cut is a position in the kept text, and the number of bytes of the text removed before it.
type cut struct{ at, gone int }

// cut replaces a piece of the text by nothing, or by a blank if its neighbours would join otherwise. Behind two minus
// signs, which a blank would turn into a comment, it leaves an empty comment.
func (r *resolver) cut(start, end int) {
	r.out = append(r.out, r.text[r.copied:start]...)
	switch {
	case bytes.HasSuffix(r.out, []byte("--")):
		r.out = append(r.out, "/**/"...)
	case len(r.out) > 0 && end < len(r.text) && joined(r.out[len(r.out)-1], r.text[end]):
		r.out = append(r.out, ' ')
	}
	r.copied = end
	r.cuts = append(r.cuts, cut{at: len(r.out), gone: end - len(r.out)})
}

// joined reports whether two adjacent bytes may form one token, or a function's name and its parenthesis.
func joined(a, b byte) bool {
	apart := class[a] == spaceByte || class[b] == spaceByte || a == '(' || a == ',' || a == ')' || b == ',' || b == ')'
	return !apart
}

// before returns the original position of a byte of the kept text.
func (r *resolver) before(at int) int {
	gone := 0
	for _, c := range r.cuts {
		if c.at <= at {
			gone = c.gone
		}
	}
	return at + gone
}

func (r *resolver) refuse(at int, reason string) error {
	return &Uncertain{At: at, Byte: r.text[at], Reason: reason}
}

// behindMinus is refused because the blank in place of the comment's border would turn the two minus signs into a line
// comment.
const behindMinus = "the border of a comment that some servers run, behind two minus signs: put a blank between them"

const plainly = "; write what it says without the comment, or leave it out"

func (r *resolver) run() error {
	for r.pos < len(r.text) {
		at := r.pos
		switch p := segmentAt(r.text, at, r.mode); {
		case r.text[at] == '/' && conditional(r.text, at):
			if err := r.comment(); err != nil {
				return err
			}
		case r.opened >= 0 && bytes.HasPrefix(r.text[at:], []byte("*/")):
			if bytes.HasSuffix(r.text[:at], []byte("--")) {
				return r.refuse(at, behindMinus)
			}
			r.close()
		case p.kind == endlessSegment: // servers refuse it, and so does Lex
			return nil
		default:
			if p.kind != blankSegment {
				r.said = r.text[at] != ';'
			}
			r.pos = p.end
		}
	}
	if r.opened >= 0 {
		return r.refuse(r.opened, "a comment that some servers run, and that does not end"+plainly)
	}
	return nil
}

// comment resolves the comment that begins here.
func (r *resolver) comment() error {
	at := r.pos
	fate := r.on[0].fate(r.text, at)
	for _, s := range r.on[1:] {
		if s.fate(r.text, at) != fate {
			return r.refuse(at, fmt.Sprintf("a comment that the shards' servers don't agree on (%s)%s", versions(r.on), plainly))
		}
	}
	switch {
	case fate.end < 0:
		return r.refuse(at, "a comment that some servers run, and that does not end"+plainly)
	case !fate.runs:
		r.cut(at, fate.end)
		r.stay()
		r.pos = fate.end
	case r.opened >= 0:
		return r.refuse(at, "a comment within a comment, both of which some servers run"+plainly)
	case bytes.HasSuffix(r.text[:at], []byte("--")):
		return r.refuse(at, behindMinus)
	case fate.doubtful:
		return r.refuse(at, "a comment for a version of six digits, which not all servers read: write five")
	default:
		r.cut(at, fate.end)
		r.opened, r.body, r.begun, r.pos = at, fate.end, len(r.out), fate.end
	}
	return nil
}

// stay leaves a comment if nothing of the statement has been kept so far. Servers accept a text of comments alone, but
// not an empty one.
func (r *resolver) stay() {
	if r.said {
		return
	}
	r.said = true
	r.out = append(r.out, "/**/"...)
	r.cuts[len(r.cuts)-1] = cut{at: len(r.out), gone: r.copied - len(r.out)}
}

// close ends the comment being executed.
func (r *resolver) close() {
	end := r.pos + len("*/")
	r.cut(r.pos, end)
	if len(bytes.TrimLeft(r.text[r.body:r.pos], " \t\n\v\f\r")) == 0 {
		r.stay()
	} else {
		r.ran = append(r.ran, span{r.begun, len(r.out)})
	}
	r.pos, r.opened = end, -1
}

// apart refuses a comment that spans two statements, because servers end it with the first.
func (r *resolver) apart() error {
	for at, left := 0, r.ran; len(left) > 0 && at < len(r.out); {
		end, next := First(r.out[at:], r.mode)
		for ; len(left) > 0 && left[0].start <= at+end; left = left[1:] {
			c := left[0]
			if at+end < c.end && (!onlyBlanks(r.out[at+end:c.end]) || !onlyBlanks(r.out[c.end:])) {
				return r.refuse(r.before(at+end), "a comment that some servers run, with two statements in it"+plainly)
			}
		}
		if next == 0 {
			break
		}
		at += next
	}
	return nil
}

// fate is a server's treatment of a comment: where it continues reading, and whether it executes the contents.
type fate struct {
	end      int
	runs     bool
	doubtful bool // older servers read it differently
}

// fate returns a server's treatment. MariaDB also executes /*M!, but no comments for MySQL 5.7 and later. It reads the
// version from five or six digits. MySQL reads six if a blank follows, else five; before version 9 always five.
func (s Server) fate(t []byte, at int) fate {
	i := at + len("/*")
	marked := t[i] == 'M'
	if marked {
		i++
	}
	if marked && !s.MariaDB {
		return fate{end: blockEnd(t, at)}
	}
	i++
	digits := min(digitsEnd(t, i)-i, 6)
	if digits < 5 {
		return fate{end: i, runs: true}
	}
	if !s.MariaDB && digits == 6 && s.Version < 90000 {
		if s.Version < number(t[i:i+5]) && s.Version < number(t[i:i+6]) {
			return fate{end: skippedEnd(t, at)}
		}
		return fate{end: i, runs: true, doubtful: true}
	}
	if !s.MariaDB && digits == 6 && (i+6 == len(t) || class[t[i+6]] != spaceByte) {
		digits = 5
	}
	version := number(t[i : i+digits])
	if version > s.Version || s.MariaDB && !marked && version >= 50700 && version <= 99999 {
		return fate{end: skippedEnd(t, at)}
	}
	return fate{end: i + digits, runs: true}
}

// number reads at most six digits.
func number(digits []byte) (n int) {
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// skippedEnd returns the end of a skipped comment, or -1. It may contain other comments, which contain none themselves.
// Quotes have no meaning in it.
func skippedEnd(t []byte, at int) int {
	for i := at + len("/*!"); i+1 < len(t); i++ {
		switch {
		case t[i] == '/' && t[i+1] == '*':
			end := blockEnd(t, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case t[i] == '*' && t[i+1] == '/':
			return i + 2
		}
	}
	return -1
}

// versions lists the distinct servers.
func versions(on []Server) string {
	var names []string
	for _, s := range on {
		engine := "MySQL"
		if s.MariaDB {
			engine = "MariaDB"
		}
		names = append(names, fmt.Sprintf("%s %d.%d.%d", engine, s.Version/10000, s.Version/100%100, s.Version%100))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
