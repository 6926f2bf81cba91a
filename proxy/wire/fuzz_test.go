package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// The scanner has the same results for any bytes, whether they come all at once or in pieces.
func FuzzScanner(f *testing.F) {
	for _, all := range recordings(f) {
		for _, r := range all {
			f.Add(r.bytes(), byte(r.scanner().kind), strings.HasPrefix(r.name, "noeof-"), byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte, deprecateEOF bool, chunk byte) {
		judge := func(chunk func() int) string {
			s := &Scanner{DeprecateEOF: deprecateEOF, StopBeforeRows: kind&0x80 != 0}
			s.Reset(ResponseKind(kind &^ 0x80 % byte(CursorResponse+1)))
			passed, found, err := scanAll(s, b, chunk)
			return fmt.Sprint(passed, found, err)
		}
		atOnce := judge(whole)
		if pieces := judge(func() int { return 1 + int(chunk) }); pieces != atOnce {
			t.Errorf("at once:   %s\nin pieces: %s", atOnce, pieces)
		}
	})
}

// No parser panics, and none returns a slice beyond its input.
func FuzzParsers(f *testing.F) {
	for _, all := range recordings(f) {
		for _, r := range all {
			for _, p := range r.packets {
				f.Add(p[HeaderSize:], uint16(len(r.packets)))
			}
		}
	}
	f.Add([]byte("\x03\x02\x01\x00\x01\xfe\x00\x05trace\x03\x00\x01n\x02ab\x07\x00\x00\x00SELECT 1"), uint16(2))
	f.Add([]byte("\x17\x01\x00\x00\x00\x08\x01\x00\x00\x00\x02\x00\x01\xfe\x00\x00\xfe\x00\x05trace\x03abc\x01x"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		n %= 300
		parseEverything(b, int(n), uint32(mysql.CLIENT_PROTOCOL_41))
		parseEverything(b, int(n), ^uint32(0))
		if c, err := ParseColumn(b); err == nil {
			again, _ := AppendColumn(nil, 0, c)
			if d, err := ParseColumn(again[HeaderSize:]); err != nil || fmt.Sprint(c) != fmt.Sprint(d) {
				t.Errorf("column %+v read again as %+v, %v", c, d, err)
			}
		}
		if values, err := SplitTextRow(nil, b, int(n)); err == nil {
			again, _ := AppendTextRow(nil, 0, values)
			if v, err := SplitTextRow(nil, again[HeaderSize:], int(n)); err != nil || !sameValues(values, v) {
				t.Errorf("row %x read again as %x, %v", values, v, err)
			}
		}
	})
}

func parseEverything(b []byte, n int, capabilities uint32) {
	_, _ = WithoutAttributes(bytes.Clone(b))
	_, _ = ParseExecute(b, Known{Params: n, Named: true}, nil)
	if ok, err := ParseOK(b, capabilities); err == nil {
		for rest := ok.Changes; len(rest) > 0 && err == nil; {
			var change Change
			if change, rest, err = NextChange(rest); err == nil {
				_, _, _ = change.Variable()
				_, _ = change.Text()
			}
		}
	}
	_, _ = ParseEOF(b)
	_, _ = ParseERR(b)
	_, _ = ParsePrepared(b)
	_, _ = ParseFetch(b)
	_, _ = ParseLongData(b)
	_, _ = ParseStatement(b)
	types := bytes.Repeat(b, 1)
	_, _ = SplitBinaryRow(nil, b, types[:min(n, len(types))])
	_, _ = ParseExecute(b, Known{Params: n}, nil)
	_, _ = ParseExecute(b, Known{Params: n, Types: make([]byte, 2*n)}, nil)
	_, _ = RebuildOK(nil, b, 1, 2)
	_ = PatchStatus(bytes.Clone(b), 1, 2)
	IsTLSRequest(b)
	for _, parse := range []func() (Login, error){
		func() (Login, error) { return ParseLogin(b) },
		func() (Login, error) { return ParseChangeUser(b, capabilities) },
	} {
		login, err := parse()
		for rest := login.Attributes; len(rest) > 0 && err == nil; {
			_, _, rest, err = NextAttribute(rest)
		}
	}
}
