package stmt

import "strings"

// IndexHints are a table's index hints: USE, FORCE and IGNORE INDEX. They affect how rows are found, but not which.
type IndexHints struct {
	Start, End Anchor
	// Text is the hints without comments; empty for none.
	Text string
}

var (
	hintWords  = set(`use force ignore`)
	hintScopes = set(`for join order group by`)
)

// indexHints finds the index hints of a table whose name ends at offset end, behind its alias. The result is tentative until a
// second parse confirms it.
func (l *Lexed) indexHints(end int) (at span, text string) {
	list := l.piecesFrom(end)
	if len(list) > 0 && l.isPiece(list[0], "as") {
		list = list[1:]
	}
	if len(list) > 0 && (list[0].kind == '`' || list[0].kind == 'w' && !afterTable[l.lowerPiece(list[0])]) {
		list = list[1:]
	}
	var said strings.Builder
	for {
		n := l.indexHint(list)
		if n == 0 {
			return at, said.String()
		}
		if at.end == 0 {
			at.start = list[0].start
		}
		at.end = list[n-1].end
		for i, p := range list[:n] {
			if said.Len() > 0 && (i == 0 || apart(list[i-1].kind, p.kind)) {
				said.WriteByte(' ')
			}
			said.Write(l.Text[p.start:p.end])
		}
		list = list[n:]
	}
}

// apart reports whether a blank is written between two pieces.
func apart(a, b byte) bool { return a != '(' && b != ')' && b != ',' }

// indexHint returns the number of pieces of the hint at the start of the list, or 0 if there is none.
func (l *Lexed) indexHint(list []piece) int {
	if len(list) < 4 || list[0].kind != 'w' || !hintWords[l.lowerPiece(list[0])] || !l.isPiece(list[1], "index") && !l.isPiece(list[1], "key") {
		return 0
	}
	i := 2
	for i < len(list) && list[i].kind == 'w' && hintScopes[l.lowerPiece(list[i])] {
		i++
	}
	if i == len(list) || list[i].kind != '(' {
		return 0
	}
	for i++; i < len(list); i++ {
		switch list[i].kind {
		case ')':
			return i + 1
		case 'w', '`', ',':
		default:
			return 0
		}
	}
	return 0
}

func (l *Lexed) lowerPiece(p piece) string { return lower(string(l.Text[p.start:p.end])) }

func (l *Lexed) isPiece(p piece, word string) bool {
	return p.kind == 'w' && isWord(l.Text[p.start:p.end], word)
}
