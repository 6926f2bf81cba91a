package stmt

import (
	"bytes"
	"errors"
	"strconv"
)

// Digest names what statements have in common that differ in nothing but their
// literals, comments, hints and blanks.
type Digest struct {
	Hash string // 16 hex digits, of the whole text
	// Text has ? for each literal, and for each list of them. A long one is cut.
	Text string
}

// unreadable is the text of a statement that ends within a string: what in it is
// a literal is not known.
const unreadable = "(a quoted string, name or comment does not end)"

// notCertain is that of one that servers may read in several ways.
const notCertain = "(a text that can't be read for certain)"

// Digest reads the key alone, so it may be asked for when the text is gone. At
// most so many bytes of its text are given.
func (l *Lexed) Digest(most int) Digest {
	text, hash := l.AppendDigest(nil)
	return Digest{Hash: hashText(hash), Text: string(DigestText(text, most))}
}

// AppendDigest writes the whole text of the digest into room that it may have, and
// tells its hash.
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

// DigestText is so many bytes of a digest's text at most, for people.
func DigestText(text []byte, most int) []byte {
	if len(text) > most {
		text = append(bytes.ToValidUTF8(text[:most:most], nil), "…"...)
	}
	return bytes.ToValidUTF8(text, []byte("?"))
}

// hashOf is FNV-1a, as hash/fnv has it.
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

// digesting writes a key as a text.
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

// blank goes on at end; however many blanks follow one another, one is written.
func (d *digesting) blank(end int) {
	if n := len(d.out); n > 0 && d.out[n-1] != ' ' {
		d.out = append(d.out, ' ')
	}
	d.pos = end
}

// digits are a number that stays in the key, of a field, or belong to a name.
func (d *digesting) digits() {
	end := wordEnd(d.key, d.pos)
	if end != digitsEnd(d.key, d.pos) || (d.pos > 0 && d.key[d.pos-1] == '.') {
		d.copy(end)
		return
	}
	d.out, d.pos = append(d.out, '?'), end
}

// aside leaves out a hint, whose end Lex has seen.
func (d *digesting) aside() {
	d.blank(d.pos + 2 + bytes.Index(d.key[d.pos+2:], []byte("*/")) + 2)
}
