package stmt

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// LiteralKind is the kind of a piece stripped from a text.
type LiteralKind uint8

const (
	IntLiteral LiteralKind = iota + 1
	DecimalLiteral
	FloatLiteral
	StringLiteral
	// IntroducedLiteral is a string with its introducer: _binary'x', N'x'.
	IntroducedLiteral
	HexLiteral
	BitLiteral
	// ParamLiteral is a placeholder of a prepared statement.
	ParamLiteral
	// CommentLiteral is a stripped comment. It is listed among the literals and in the key, so that positions relative
	// to it are valid for every text.
	CommentLiteral
)

// Literal is the position of a stripped piece, in byte offsets of the text.
type Literal struct {
	Start, End int32
	Kind       LiteralKind
	Param      int32 // the placeholder's ordinal, from 0
}

func (l Literal) isString() bool { return l.Kind == StringLiteral || l.Kind == IntroducedLiteral }

// Slot is one literal of the key. A list such as IN (1, 2, 3) has one slot and several literals.
type Slot struct{ First, Count int32 }

// Cell is one value of an INSERT's row: its bytes, and the index of the literal if it consists of one literal, else -1.
type Cell struct {
	Start, End int32
	Literal    int32
	Negative   bool // a minus sign precedes the literal
}

// Row is one row of an INSERT: the offsets of its parentheses, and its cells.
type Row struct {
	Open, Close  int32
	First, Count int32 // cells
	slot         int32 // number of slots to restore when the row is dropped
	simple       bool  // contains only literals, NULL and DEFAULT
	dropped      bool  // omitted from the key because it equals the previous row
}

// Mode is a set of settings that affect how a text is read.
type Mode uint8

const (
	// AnsiQuotes: "x" is an identifier (sql_mode ANSI_QUOTES).
	AnsiQuotes Mode = 1 << iota
	// NoBackslash: a backslash in a string is an ordinary character (NO_BACKSLASH_ESCAPES).
	NoBackslash
	// PipesConcat: a || b concatenates strings (PIPES_AS_CONCAT).
	PipesConcat
	// IgnoreSpace: blanks are allowed between a function and its parenthesis (IGNORE_SPACE).
	IgnoreSpace
	// NotUTF8: the client's character set isn't UTF-8, so bytes from 0x80 up may be blanks or parts of letters.
	NotUTF8
	// RawNames: names aren't converted (character set binary).
	RawNames
	// HighNot: NOT a = b is (NOT a) = b (HIGH_NOT_PRECEDENCE).
	HighNot
	// Oracle: some functions are read without parentheses (sql_mode ORACLE of MariaDB).
	Oracle
)

// Reading are the modes that depend on the client's character set rather than on sql_mode.
const Reading = NotUTF8 | RawNames

// ModeOf returns the mode for a session's sql_mode. Names are compared without case. Combinations such as ANSI must be
// expanded, as the server does.
func ModeOf(sqlMode string) Mode {
	var mode Mode
	for name := range strings.SplitSeq(sqlMode, ",") {
		switch strings.ToUpper(strings.TrimSpace(name)) {
		case "ANSI_QUOTES":
			mode |= AnsiQuotes
		case "NO_BACKSLASH_ESCAPES":
			mode |= NoBackslash
		case "PIPES_AS_CONCAT":
			mode |= PipesConcat
		case "IGNORE_SPACE":
			mode |= IgnoreSpace
		case "HIGH_NOT_PRECEDENCE":
			mode |= HighNot
		case "ORACLE":
			mode |= AnsiQuotes | PipesConcat | IgnoreSpace | Oracle
		case "ANSI", "DB2", "MSSQL", "POSTGRESQL", "MAXDB":
			mode |= AnsiQuotes | PipesConcat | IgnoreSpace
		}
	}
	return mode
}

// OtherValues returns the part of a sql_mode that changes the value of literals, so that routing would not see what is
// stored. It returns "" if there is none.
func OtherValues(sqlMode string) string {
	for name := range strings.SplitSeq(sqlMode, ",") {
		if name = strings.ToUpper(strings.TrimSpace(name)); name == "EMPTY_STRING_IS_NULL" {
			return name
		}
	}
	return ""
}

var (
	errUnterminated = errors.New("a quoted string, name or comment does not end")
	errStopped      = errors.New("no client waits for the statement any more")
)

// Lexed is the fast reading of one text. It is reused for many texts and allocates nothing once its slices have grown.
// It isn't safe for concurrent use.
//
// In Key every literal and comment is replaced by a zero byte and its kind. Lists and equal rows are reduced to their
// first element. Everything else is as sent. So two texts with one key differ only in their literals, their comments,
// and the number of elements in lists and rows.
type Lexed struct {
	Text     []byte
	Mode     Mode
	Key      []byte
	Literals []Literal
	Slots    []Slot
	Rows     []Row
	Cells    []Cell
	Params   int
	// Uncacheable: the key doesn't include everything, such as the name in @'name'.
	Uncacheable bool
	// Conditional: it contains a comment that some servers execute. Resolve decides for the shards; Err is set until
	// then.
	Conditional bool
	// Several: something follows a semicolon, either another statement or the rest of a stored program.
	Several bool
	// Within is the session's current database, in which names without a schema are resolved. The key doesn't include
	// it; callers append it.
	Within string
	// Err is why the text can't be read.
	Err error

	measured bool    // the text isn't too large to be parsed
	layout   *layout // nil until first needed
	bare     int     // length of the text's part of Key; callers append to it
	asides   []aside
	limitEnd int // end of SET STATEMENT … FOR before the statement, or 0
	cut      int // where Parse found RETURNING; 0 for nowhere
	pos      int
	copied   int // the text up to here is in Key or stripped
	started  bool
	list     listState
	by       byState
	byDepth  int
	insert   insertState
	depth    int
	deepest  int
	rowKey   int    // start of the current row in Key
	prevKey  [2]int // the previous row in Key
	cell     Cell
	cellHas  cellContent
}

// aside is an optimizer hint, or MariaDB's SET STATEMENT … FOR before a statement: a piece of the text that is in the key, and that
// the reading of the statement skips.
type aside struct{ start, end int32 }

// byState tracks `ORDER BY item, item` and `GROUP BY item, item`, in which a plain integer is a field number rather
// than a value.
type byState uint8

const (
	noBy byState = iota
	byItem
	withinItem
)

// listState tracks `IN (literal, literal …`.
type listState uint8

const (
	noList listState = iota
	sawIn
	openList
	inList
	afterComma
)

// insertState tracks `INSERT … VALUES (row), (row) …`.
type insertState uint8

const (
	notInsert insertState = iota
	insertHead
	betweenRows
	inRow
)

// cellContent describes the content of a cell so far.
type cellContent uint8

const (
	cellEmpty cellContent = iota
	cellSign
	cellLiteral
	cellOther
)

const (
	keyMark = 0x00
	// zeroKind after a keyMark stands for a zero byte of the text.
	zeroKind = 0x00
)

// Lex reads text, which must not change while l is in use.
//
// A single zero byte at its end, which some clients send, is ignored. Servers treat it as the end of the text.
func (l *Lexed) Lex(text []byte, mode Mode) { l.LexUntil(text, mode, nil) }

// LexUntil is Lex with an abort condition. It calls stop at intervals, and sets Err if stop returns true.
func (l *Lexed) LexUntil(text []byte, mode Mode, stop func() bool) {
	if n := len(text); n > 0 && text[n-1] == 0 && !bytes.HasSuffix(bytes.TrimRight(text[:n-1], " \t\n\v\f\r"), []byte(";")) {
		text = text[:n-1]
	}
	*l = Lexed{
		Text: text, Mode: mode,
		Key: l.Key[:0], Literals: l.Literals[:0], Slots: l.Slots[:0], Rows: l.Rows[:0], Cells: l.Cells[:0],
		asides: l.asides[:0],
	}
	for l.pos < len(text) && l.Err == nil {
		for next := min(len(text), l.pos+stretch); l.pos < next && l.Err == nil; {
			l.step(text[l.pos])
		}
		if stop != nil && stop() {
			l.Err = errStopped
		}
	}
	l.flush(len(text))
	l.bare = len(l.Key)
}

// stretch is how many bytes are read between two calls of stop.
const stretch = 64 << 10

// Length returns the length of the text in bytes.
func (l *Lexed) Length() int { return len(l.Text) }

// Size returns the approximate memory of the reading in bytes.
func (l *Lexed) Size() int {
	return len(l.Text) + len(l.Key) + 16*(len(l.Literals)+len(l.Cells)) + 8*len(l.Slots) + 32*len(l.Rows)
}

// Clone returns a copy that shares no memory with l.
func (l *Lexed) Clone() *Lexed {
	c := *l
	c.Text, c.Key = slices.Clone(l.Text), slices.Clone(l.Key)
	c.Literals, c.Slots, c.Rows, c.Cells = slices.Clone(l.Literals), slices.Clone(l.Slots), slices.Clone(l.Rows), slices.Clone(l.Cells)
	c.asides, c.layout = slices.Clone(l.asides), nil
	return &c
}

// flush copies the text between the last literal and end into the key. It marks zero bytes of the text, to distinguish
// them from the key's own marks.
func (l *Lexed) flush(end int) {
	for l.copied < end {
		piece := l.Text[l.copied:end]
		zero := bytes.IndexByte(piece, keyMark)
		if zero < 0 {
			l.Key = append(l.Key, piece...)
			break
		}
		l.Key = append(append(l.Key, piece[:zero]...), keyMark, zeroKind)
		l.copied += zero + 1
	}
	l.copied = max(l.copied, end)
}

func (l *Lexed) step(c byte) {
	switch class[c] {
	case spaceByte:
		l.pos++
	case wordByte:
		l.word()
	case digitByte:
		l.number()
	case quoteByte:
		l.quoted(c)
	case otherByte:
		l.punctuation(c)
	case uncertainByte:
		l.uncertainByte(c)
	}
}

// touch records a token at the current position that is no literal.
func (l *Lexed) touch() {
	l.list = noList
	l.started = true
	if l.by == byItem {
		l.by = withinItem
	}
	if l.insert == inRow {
		l.cellHas = cellOther
	}
}

// strip records the literal [start, end) and replaces it in the key.
func (l *Lexed) strip(start, end int, kind LiteralKind) {
	literal := Literal{Start: int32(start), End: int32(end), Kind: kind}
	if kind == ParamLiteral {
		literal.Param = int32(l.Params)
		l.Params++
	}
	l.pos = end
	l.started = true
	if l.by == byItem {
		l.by = withinItem
	}
	l.noteCell(int32(len(l.Literals)))
	l.Literals = append(l.Literals, literal)
	if l.list == afterComma && l.Literals[l.Slots[len(l.Slots)-1].First].Kind == kind && l.elementEnds(end) {
		l.Slots[len(l.Slots)-1].Count++
		l.copied = end
		l.list = inList
		return
	}
	l.flush(start)
	l.copied = end
	l.Key = append(l.Key, keyMark, byte(kind))
	l.Slots = append(l.Slots, Slot{First: int32(len(l.Literals) - 1), Count: 1})
	if l.list == openList {
		l.list = inList
	} else {
		l.list = noList
	}
}

// elementEnds reports whether the literal that ends here is the whole element of its list: `1` is, the 1 of `1 + x` is
// not.
func (l *Lexed) elementEnds(end int) bool {
	for _, c := range l.Text[end:] {
		if class[c] != spaceByte {
			return c == ',' || c == ')'
		}
	}
	return false
}

// noteCell tracks whether the current cell is one literal and nothing else.
func (l *Lexed) noteCell(literal int32) {
	if l.insert != inRow {
		return
	}
	switch l.cellHas {
	case cellEmpty, cellSign:
		l.cell.Negative = l.cellHas == cellSign
		l.cell.Literal = literal
		l.cellHas = cellLiteral
	case cellLiteral, cellOther:
		l.cellHas = cellOther
	}
}

// comment strips [start, end). To servers a line comment, like a text, ends at a zero byte.
func (l *Lexed) comment(start, end int) {
	if behindMinuses(l.Text, start) {
		l.uncertain(start, commentBehindMinuses)
		return
	}
	if at := bytes.IndexByte(l.Text[start:end], 0); at >= 0 {
		l.uncertain(start+at, "a zero byte in a comment: leave it out")
		return
	}
	l.flush(start)
	l.Key = append(l.Key, keyMark, byte(CommentLiteral))
	l.copied, l.pos = end, end
	if l.insert == inRow {
		l.Rows[len(l.Rows)-1].simple = false
	}
	l.Literals = append(l.Literals, Literal{Start: int32(start), End: int32(end), Kind: CommentLiteral})
	l.Slots = append(l.Slots, Slot{First: int32(len(l.Literals) - 1), Count: 1})
	l.list = noList
}
