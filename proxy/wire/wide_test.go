package wire

import (
	"bytes"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func TestWideTexts(t *testing.T) {
	for _, tt := range []struct{ charset, text, encoded, decoded string }{
		{"ucs2", "aé€", "\x00a\x00\xe9\x20\xac", "aé€"},
		{"ucs2", "a😀", "\x00a\x00?", "a?"},
		{"utf16", "a😀", "\x00a\xd8\x3d\xde\x00", "a😀"},
		{"utf16le", "a😀€", "a\x00\x3d\xd8\x00\xde\xac\x20", "a😀€"},
		{"utf32", "a😀", "\x00\x00\x00a\x00\x01\xf6\x00", "a😀"},
		{"utf16", "", "", ""},
		{"latin1", "é", "é", "é"},
	} {
		w := WideOf(tt.charset)
		encoded := w.Encode([]byte(tt.text))
		if string(encoded) != tt.encoded || string(w.Decode(encoded)) != tt.decoded {
			t.Errorf("%s: %q: %q, and back %q", tt.charset, tt.text, encoded, w.Decode(encoded))
		}
	}
	for _, cut := range []string{"\x00", "\x00a\xd8", "\xd8\x3d"} { // no server sends them
		for _, w := range []Wide{UTF16, UTF16LE, UTF32} {
			w.Decode([]byte(cut))
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, w := range []Wide{NotWide, UCS2, UTF16, UTF16LE, UTF32} {
		columns := []Column{
			{Name: []byte("ä"), Type: mysql.MYSQL_TYPE_VAR_STRING, Charset: 45},
			{Name: []byte("n"), Table: []byte("t"), Type: mysql.MYSQL_TYPE_LONGLONG, Charset: binaryCollation},
			{Name: []byte("b"), Type: mysql.MYSQL_TYPE_BLOB, Charset: binaryCollation},
		}
		var sent []Column
		for _, c := range columns {
			sent = append(sent, w.EncodeColumn(c))
		}
		rows := [][][]byte{{w.Encode([]byte("中")), w.Encode([]byte("-12")), []byte("\x00a")}, {nil, []byte("7"), nil}}
		Narrow(sent, rows)
		for i, c := range columns {
			if string(sent[i].Name) != string(c.Name) || string(sent[i].Table) != string(c.Table) {
				t.Errorf("%d: column %q of %q", w, sent[i].Name, sent[i].Table)
			}
		}
		if got := string(bytes.Join(rows[0], []byte("|"))); got != "中|-12|\x00a" || rows[1][0] != nil || string(rows[1][1]) != "7" {
			t.Errorf("%d: %q, %q", w, got, rows[1])
		}
	}
}

func TestWidenNumber(t *testing.T) {
	for _, w := range []Wide{NotWide, UCS2, UTF16LE, UTF32} {
		for _, like := range []string{"7", "-12.5", "3e10"} {
			sent := w.Encode([]byte(like))
			if got := WidenNumber([]byte("10"), sent); string(got) != string(w.Encode([]byte("10"))) || string(NarrowNumber(sent)) != like {
				t.Errorf("%d, like %q: %q", w, sent, got)
			}
		}
	}
}
