package stmt

import (
	"bytes"
	"errors"
	"strconv"
)

// Digest identifies statements that differ only in literals, comments, hints and blanks.
type Digest struct {
	Hash string // 16 hexadecimal digits, of the whole text
	// Text has ? for each literal and for each list of literals. A long text is truncated.
	Text string
}

// unreadable is the text of a statement that ends within a string, so that its literals are unknown.
const unreadable = "(a quoted string, name or comment does not end)"

// notCertain is the text of a statement that servers may read in several ways.
const notCertain = "(a text that can't be read for certain)"

// Digest uses only the key, so it may be called after the text is gone. It returns at most most bytes of text.
func (l *Lexed) Digest(most int) Digest {
	text, hash := l.AppendDigest(nil)
	return Digest{Hash: hashText(hash), Text: string(DigestText(text, most))}
}

// AppendDigest appends the whole text of the digest to room and returns its hash.
func (l *Lexed) AppendDigest(room []byte) (text []byte, hash uint64) {
	if l.Err != nil {
		why := unreadable
		if !errors.Is(l.Err, errUnterminated) {
			why = notCertain
		}
		text = append(room[:0], why...)
		return text, hashOf(text)
	}
	d := digesting{key: l.Key[:l.bare], ansi: l.Mode&AnsiQuotes != 0, out: room[:0]}
	for d.pos < len(d.key) {
		d.step()
	}
	text = bytes.TrimRight(d.out, " ;")
	return text, hashOf(text)
}

// DigestText truncates a digest's text to at most most bytes, for display.
func DigestText(text []byte, most int) []byte {
	if len(text) > most {
		text = append(bytes.ToValidUTF8(text[:most:most], nil), "…"...)
	}
	return bytes.ToValidUTF8(text, []byte("?"))
}

// hashOf is FNV-1a, as in hash/fnv.
func hashOf(text []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for _, c := range text {
		hash = (hash ^ uint64(c)) * prime
	}
	return hash
}

func hashText(hash uint64) string {
	sum := strconv.FormatUint(hash, 16)
	return "0000000000000000"[len(sum):] + sum
}

// digesting converts a key to a text.
type digesting struct {
	key  []byte
	pos  int
	ansi bool
	out  []byte
}

func (d *digesting) step() {
	switch c := d.key[d.pos]; {
	case c == keyMark:
		d.mark(LiteralKind(d.key[d.pos+1]))
	case class[c] == spaceByte:
		d.blank(d.pos + 1)
	case c == '`' || (c == '"' && d.ansi):
		d.copy(quotedEnd(d.key, d.pos, false))
	case class[c] == wordByte || c == '@':
		d.copy(wordEnd(d.key, d.pos))
	case class[c] == digitByte:
		d.digits()
	case c == '/' && bytes.HasPrefix(d.key[d.pos:], []byte("/*")):
		d.aside()
	default:
		d.copy(d.pos + 1)
	}
}

func (d *digesting) mark(kind LiteralKind) {
	if kind == CommentLiteral || kind == zeroKind {
		d.blank(d.pos + 2)
		return
	}
	d.out = append(d.out, '?')
	d.pos += 2
}

func (d *digesting) copy(end int) {
	d.out = append(d.out, d.key[d.pos:end]...)
	d.pos = end
}

// blank continues at end and writes one blank for several.
func (d *digesting) blank(end int) {
	if n := len(d.out); n > 0 && d.out[n-1] != ' ' {
		d.out = append(d.out, ' ')
	}
	d.pos = end
}

// digits handles a number that is still in the key because it is a field number, or that belongs to a name.
func (d *digesting) digits() {
	end := wordEnd(d.key, d.pos)
	if end != digitsEnd(d.key, d.pos) || (d.pos > 0 && d.key[d.pos-1] == '.') {
		d.copy(end)
		return
	}
	d.out, d.pos = append(d.out, '?'), end
}

// aside skips a hint, whose end Lex has found.
func (d *digesting) aside() {
	d.blank(d.pos + 2 + bytes.Index(d.key[d.pos+2:], []byte("*/")) + 2)
}
