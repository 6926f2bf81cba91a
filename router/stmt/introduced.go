package stmt

import "unicode/utf8"

// encoding is the encoding that an introducer declares for its string.
type encoding uint8

const (
	noIntroducer encoding = iota
	binaryEncoding
	utf8mb4Encoding
	utf8mb3Encoding
	// sevenBits: only its ASCII characters are the same in UTF-8.
	sevenBits
)

// introducers are those whose strings matter for routing. Others remain in the key like any word.
var introducers = []struct {
	name     string
	encoding encoding
}{
	{"binary", binaryEncoding},
	{"utf8mb4", utf8mb4Encoding},
	{"utf8mb3", utf8mb3Encoding},
	{"utf8", utf8mb3Encoding},
	{"latin1", sevenBits},
	{"ascii", sevenBits},
}

// encodingOf returns the encoding of the string that a word introduces: _binary'…', N'…'. A quote must directly follow an N.
func encodingOf(word, behind []byte) encoding {
	if isWord(word, "n") && len(behind) > 0 && behind[0] == '\'' {
		return utf8mb3Encoding
	}
	if word[0] == '_' {
		for _, i := range introducers {
			if isWord(word[1:], i.name) {
				return i.encoding
			}
		}
	}
	return noIntroducer
}

// introducedEnd returns the offset behind the string that the word [start, end) introduces. found is false if it
// introduces none. behind is -1 if the string doesn't end.
func (l *Lexed) introducedEnd(start, end int) (behind int, found bool) {
	if encodingOf(l.Text[start:end], l.Text[end:]) == noIntroducer || l.afterPoint(start) {
		return 0, false
	}
	at := skipBlanks(l.Text, end)
	if at == len(l.Text) {
		return 0, false
	}
	switch c := l.Text[at]; {
	case c == '\'', c == '"' && l.Mode&AnsiQuotes == 0:
		return quotedEnd(l.Text, at, l.Mode&NoBackslash == 0), true
	case c|0x20 == 'x' && at+1 < len(l.Text) && l.Text[at+1] == '\'':
		return hexEnd(l.Text, at+1), true
	}
	return 0, false
}

// introduced reads a string with its introducer.
func (a *Args) introduced(text []byte) Value {
	end := wordEnd(text, 0)
	encoding := encodingOf(text[:end], text[end:])
	v := Value{Kind: String}
	if body := text[skipBlanks(text, end):]; body[0]|0x20 == 'x' {
		v = a.unhex(body)
	} else {
		v.Text = a.unquote(body)
	}
	switch {
	case v.Kind == Unknown:
	case encoding == binaryEncoding:
		v.Kind = Bytes
	case encoding.asUTF8(v.Text):
		v.Kind = String
	default:
		return Value{}
	}
	return v
}

// asUTF8 reports whether the bytes are the same text in UTF-8.
func (e encoding) asUTF8(text []byte) bool {
	first := byte(0xff) // can't occur in it
	switch e {
	case sevenBits:
		first = utf8.RuneSelf
	case utf8mb3Encoding:
		first = 0xf0 // starts a four-byte character
	case noIntroducer, binaryEncoding, utf8mb4Encoding:
	}
	for _, b := range text {
		if b >= first {
			return false
		}
	}
	return true
}
