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

// unknown stands for servers of which nothing is known: from the oldest ones that
// are served to any that may come.
var unknown = []Server{{true, 100400}, {true, 999998}, {false, 50700}, {false, 999998}}

// Resolve puts in the place of comments that some servers run what the given ones
// make of them, and reads the text anew. What they run stands alone, and what they
// skip is gone, as it is from the names that servers give columns by their
// expressions. It refuses what they don't agree on, what is nested deeper than dumps
// have it, and what does not end; where, is said of the text as it came.
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
	l.Lex(l.Text[:copy(l.Text, r.out)], l.Mode) // never longer than it was
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
	// opened is where the comment begins that is being run, or -1; body is what
	// follows its opening, and begun is where that is in out.
	opened, body, begun int
	ran                 []span // of out
	// said tells whether anything is left of the statement that is being read, be it
	// a comment.
	said bool
	// out is what is left of the text up to copied, and cuts are what is not.
	out    []byte
	copied int
	cuts   []cut
}

// cut is a place of what is left, and how many bytes of the text are gone before it.
type cut struct{ at, gone int }

// cut leaves something in the place of a piece of the text: nothing, if what stands
// around it stays apart, else a blank. Behind two minus signs, which a blank would

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

// joined tells two bytes that may become one token where nothing stands between them,
// or a function's name and its parenthesis.
func joined(a, b byte) bool {
	apart := class[a] == spaceByte || class[b] == spaceByte || a == '(' || a == ',' || a == ')' || b == ',' || b == ')'
	return !apart
}

// before gives where a byte of what is left stood in the text.
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

// behindMinus: the blank in the place of what encloses the comment would make a
// line's comment of the two minus signs.
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

// comment resolves the one that begins here.
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

// stay leaves a comment where nothing of a statement is left so far: a text of
// comments alone is run without an error, and an empty one isn't.
func (r *resolver) stay() {
	if r.said {
		return
	}
	r.said = true
	r.out = append(r.out, "/**/"...)
	r.cuts[len(r.cuts)-1] = cut{at: len(r.out), gone: r.copied - len(r.out)}
}

// close ends the comment that is being run.
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

// apart refuses a comment that is in two statements: servers end it with the first.
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

// fate is what a server makes of a comment: where it goes on reading, and whether
// it runs what stands there.
type fate struct {
	end      int
	runs     bool
	doubtful bool // older servers read it otherwise
}

// fate gives a server's. MariaDB runs /*M! too, and not what is for MySQL from 5.7
// on, whose version it reads from five digits or six. MySQL takes six where a blank
// follows, else five; before version 9 always five.
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

// number reads six digits at most.
func number(digits []byte) (n int) {
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// skippedEnd gives the end of a comment that is skipped, or -1. Other comments may
// stand in it, and none in those; quotes mean nothing there.
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

// versions names each once.
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
