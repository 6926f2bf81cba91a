package stmt

import "fmt"

// SizeError means that a text is too large to be planned, and isn't sent to any shard. Remedy says what to write instead.
type SizeError struct{ What, Remedy string }

func (e *SizeError) Error() string { return e.What + ": " + e.Remedy }

// Limits of planned texts. Trees are traversed by recursion, and a stack overflow can't be recovered from. The parser
// can't be interrupted and takes about 100 ms for a key of that length.
const (
	maxKey   = 256 << 10
	maxDepth = 1000
	// joinedTables is how many tables the servers join in one query block.
	joinedTables = 61
	// allTables bounds the tables in all blocks of a statement, because each is compared with each.
	allTables = 1000
)

const (
	inBatches  = "send it in batches, or put the values into a table and join that"
	inParts    = "split it into several statements"
	lessNested = "nest it less deeply, or split it into several statements"
)

// tooLarge returns why a text isn't parsed, or nil.
func (l *Lexed) tooLarge() error {
	if l.measured {
		return nil
	}
	switch {
	case len(l.Key) > maxKey:
		return &SizeError{fmt.Sprintf("%d bytes of SQL beside its values, of at most %d", len(l.Key), maxKey), inBatches}
	case l.deepest > maxDepth:
		return &SizeError{fmt.Sprintf("parentheses nested %d deep, of at most %d", l.deepest, maxDepth), lessNested}
	case l.joinedStrings() > mostJoined:
		return &SizeError{"too many strings one behind the other, which are one value", "write them as one string"}
	}
	l.measured = true
	return nil
}

// mostJoined bounds the bytes that the parser copies to join adjacent strings. It copies all previous ones for each
// further string.
const mostJoined = 64 << 20

func (l *Lexed) joinedStrings() (copied int) {
	run, end := 0, int32(-1)
	for i := range l.Literals {
		literal := &l.Literals[i]
		switch {
		case literal.Kind == CommentLiteral && end >= 0 && onlySpaces(l.Text[end:literal.Start]):
			end = literal.End
			continue
		case !literal.isString():
			run, end = 0, -1
			continue
		case end < 0 || !onlySpaces(l.Text[end:literal.Start]):
			run = 0
		default:
			copied += run
		}
		run, end = run+int(literal.End-literal.Start), literal.End
	}
	return copied
}

func onlySpaces(t []byte) bool {
	for _, c := range t {
		if class[c] != spaceByte {
			return false
		}
	}
	return true
}

// countTable adds one table to a block. It returns false if a limit is reached.
func (r *reader) countTable(b *Block) bool {
	switch r.counted++; {
	case len(b.Tables) >= joinedTables:
		r.tooLarge(&SizeError{fmt.Sprintf("more than %d tables in one query block, which servers don't join", joinedTables), inParts})
	case r.counted > allTables:
		r.tooLarge(&SizeError{fmt.Sprintf("more than %d tables in one statement", allTables), inParts})
	default:
		return true
	}
	return false
}

func (r *reader) tooLarge(e *SizeError) {
	if r.err == nil {
		r.err = e
	}
}
