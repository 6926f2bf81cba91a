package stmt

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// LiteralKind says what was stripped from a text.
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
	// CommentLiteral is a stripped comment; it has a place among the literals
	// and in the key, so that positions counted from it are true for every text.
	CommentLiteral
)

// Literal is the place of one stripped piece, as byte offsets of the text.
type Literal struct {
	Start, End int32
	Kind       LiteralKind
	Param      int32 // the placeholder's ordinal, from 0
}

func (l Literal) isString() bool { return l.Kind == StringLiteral || l.Kind == IntroducedLiteral }

// Slot is one literal of the key. A list such as IN (1, 2, 3) has one slot and
// several literals.
type Slot struct{ First, Count int32 }

// Cell is one value of a row of an INSERT: its bytes, and the literal that it
// wholly consists of, or -1.
type Cell struct {
	Start, End int32
	Literal    int32
	Negative   bool // a minus sign stands before the literal
}

// Row is one parenthesised row of an INSERT: the offsets of its parentheses and
// its cells.
type Row struct {
	Open, Close  int32
	First, Count int32 // cells
	slot         int32 // what a dropped row takes the slots back to
	simple       bool  // nothing but literals, NULL and DEFAULT
	dropped      bool  // from the key, where it would say what the row before does
}

// Mode holds what changes how a text is read.
type Mode uint8

const (
	// AnsiQuotes: "x" is an identifier (sql_mode ANSI_QUOTES).
	AnsiQuotes Mode = 1 << iota
	// NoBackslash: a backslash in a string is a character (NO_BACKSLASH_ESCAPES).
	NoBackslash
	// PipesConcat: a || b joins strings (PIPES_AS_CONCAT).
	PipesConcat
	// IgnoreSpace: blanks may stand between a function and its parenthesis
	// (IGNORE_SPACE).
	IgnoreSpace
	// NotUTF8: the client's character set is another one, in which bytes from 0x80
	// on may be blanks, or half a letter.
	NotUTF8
	// RawNames: names are taken byte for byte (character set binary).
	RawNames
	// HighNot: NOT a = b is (NOT a) = b (HIGH_NOT_PRECEDENCE).
	HighNot
)

// Reading are the modes that the client's character set decides, not sql_mode.
const Reading = NotUTF8 | RawNames

// ModeOf reads the parts of a session's sql_mode that change how its texts are
// read. Names are compared without letter case; combinations such as ANSI are
// expected to be spelled out, as the server itself does.
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
		case "ANSI", "ORACLE", "DB2", "MSSQL", "POSTGRESQL", "MAXDB":
			mode |= AnsiQuotes | PipesConcat | IgnoreSpace
		}
	}
	return mode
}

// OtherValues gives the part of a sql_mode under which a literal has another value than it says, so that routing would
// not see what is stored; empty without one.
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
	errStopped      = errors.New("nobody waits for the statement any more")
)

// Lexed is the fast reading of one text. It is reused from text to text: a
// reading allocates nothing once its slices have grown. It is not safe for
// concurrent use.
//
// In Key every literal and comment is replaced by a zero byte and its kind,
// lists and equal rows are collapsed to their first element; everything else
// stands as it was sent, so that two texts of one key differ in nothing but
// their literals, their comments, and how many elements or rows a list has.
type Lexed struct {
	Text     []byte
	Mode     Mode
	Key      []byte
	Literals []Literal
	Slots    []Slot
	Rows     []Row
	Cells    []Cell
	Params   int
	// Uncacheable: the key does not say everything (the name in @'name', say).
	Uncacheable bool
	// Conditional: a comment that some servers run stands in it, and Resolve is to
	// be asked what the shards make of it. Err is set until then.
	Conditional bool
	// Several: something stands behind a semicolon, another statement or the
	// body of a stored program.
	Several bool
	// Within is the session's current database, in which names without a schema are read. The
	// key doesn't say it: callers append it.
	Within string
	// Err is why the text can't be read at all.
	Err error

	measured bool    // it is not too large to be parsed
	layout   *layout // nil until something is looked up
	bare     int     // how much of Key is the text's; callers append to it
	asides   []aside
	cut      int // where Parse found RETURNING; 0: nowhere
	pos      int
	copied   int // the text up to here is in Key or stripped
	started  bool
	list     listState
	by       byState
	byDepth  int
	insert   insertState
	depth    int
	deepest  int
	rowKey   int    // where the current row began in Key
	prevKey  [2]int // the row before, in Key
	cell     Cell
	cellHas  cellContent
}

// aside is a piece of the text, kept in the key, that is no SQL: an optimizer's
// hint.
type aside struct{ start, end int32 }

// byState follows `ORDER BY item, item` and `GROUP BY item, item`, where a bare
// integer counts fields and is no value.
type byState uint8

const (
	noBy byState = iota
	byItem
	withinItem
)

// listState follows `IN (literal, literal …`.
type listState uint8

const (
	noList listState = iota
	sawIn
	openList
	inList
	afterComma
)

// insertState follows `INSERT … VALUES (row), (row) …`.
type insertState uint8

const (
	notInsert insertState = iota
	insertHead
	betweenRows
	inRow
)

// cellContent says what a cell holds so far.
type cellContent uint8

const (
	cellEmpty cellContent = iota
	cellSign
	cellLiteral
	cellOther
)

const (
	keyMark = 0x00
	// zeroKind behind a keyMark stands for a zero byte of the text.
	zeroKind = 0x00
)

// Lex reads text, which must not change while l is in use.
//
// One zero byte at its end, which some clients send, is the text's end to servers
// and no part of it.
func (l *Lexed) Lex(text []byte, mode Mode) { l.LexUntil(text, mode, nil) }

// LexUntil is Lex that is given up once stop tells so, and says so in Err. It asks now
// and then.
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

// stretch is how many bytes are read between two questions whether to stop.
const stretch = 64 << 10

// Length is the text's, in bytes.
func (l *Lexed) Length() int { return len(l.Text) }

// Size is what the reading keeps in memory, in bytes.
func (l *Lexed) Size() int {
	return len(l.Text) + len(l.Key) + 16*(len(l.Literals)+len(l.Cells)) + 8*len(l.Slots) + 32*len(l.Rows)
}

// Clone is a reading that shares no memory with l.
func (l *Lexed) Clone() *Lexed {
	c := *l
	c.Text, c.Key = slices.Clone(l.Text), slices.Clone(l.Key)
	c.Literals, c.Slots, c.Rows, c.Cells = slices.Clone(l.Literals), slices.Clone(l.Slots), slices.Clone(l.Rows), slices.Clone(l.Cells)
	c.asides, c.layout = slices.Clone(l.asides), nil
	return &c
}

// flush copies the text between the last literal and end into the key. A zero
// byte of the text is kept apart from the key's own marks.
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

// touch tells the list and cell followers that something other than a literal
// stands here.
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

// elementEnds tells whether the literal that ends here is the whole element of
// its list: `1` is, the 1 of `1 + x` is not.
func (l *Lexed) elementEnds(end int) bool {
	for _, c := range l.Text[end:] {
		if class[c] != spaceByte {
			return c == ',' || c == ')'
		}
	}
	return false
}

// noteCell follows whether the current cell is one literal and nothing else.
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

// comment strips [start, end). Servers end a line's comment, and a text, at a zero
// byte.
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
