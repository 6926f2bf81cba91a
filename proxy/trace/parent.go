package trace

import (
	"bytes"
	"encoding/hex"
)

// Parent is the span of the application that a statement belongs to, from a W3C traceparent. The zero value means that there is
// none.
type Parent struct {
	Trace [16]byte
	Span  [8]byte
	Flags byte
}

const sampledFlag = 1

func (p Parent) sampled() bool { return p.Flags&sampledFlag != 0 }

// IsZero reports whether there is no parent.
func (p Parent) IsZero() bool { return p == Parent{} }

// key precedes the traceparent in a comment in the format of sqlcommenter: `/*…,traceparent='00-…-…-01'*/`.
var key = []byte("traceparent='")

// parentIn returns the traceparent in a comment. It allocates nothing.
func parentIn(comment []byte) (Parent, bool) {
	at := bytes.Index(comment, key)
	if at < 0 {
		return Parent{}, false
	}
	value, _, closed := bytes.Cut(comment[at+len(key):], []byte("'"))
	if !closed {
		return Parent{}, false
	}
	return parse(value)
}

// Offsets within version 00: `00-<trace, 32 digits>-<span, 16>-<flags, 2>`. Later versions may append fields.
const (
	traceAt = 3
	spanAt  = traceAt + 32 + 1
	flagsAt = spanAt + 16 + 1
	length  = flagsAt + 2
)

func parse(value []byte) (p Parent, ok bool) {
	if len(value) < length || value[traceAt-1] != '-' || value[spanAt-1] != '-' || value[flagsAt-1] != '-' {
		return p, false
	}
	var version, flags [1]byte
	for _, part := range []struct{ to, from []byte }{
		{version[:], value[:traceAt-1]},
		{p.Trace[:], value[traceAt : spanAt-1]},
		{p.Span[:], value[spanAt : flagsAt-1]},
		{flags[:], value[flagsAt:length]},
	} {
		if _, err := hex.Decode(part.to, part.from); err != nil {
			return Parent{}, false
		}
	}
	p.Flags = flags[0]
	switch {
	case version[0] == 0xff, version[0] == 0 && len(value) != length, len(value) > length && value[length] != '-':
		return Parent{}, false
	case p.Trace == [16]byte{}, p.Span == [8]byte{}:
		return Parent{}, false
	}
	return p, true
}
