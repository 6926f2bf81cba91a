package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Packets that the servers sent are parsed and encoded again, which must produce the same bytes.
func TestRecordedPacketsAreWrittenAsTheServersDo(t *testing.T) {
	for file, all := range recordings(t) {
		for _, r := range all {
			for i, packet := range r.packets {
				again, kind := reencode(t, r, i)
				if kind != "" && !bytes.Equal(again, packet) {
					t.Errorf("%s: %s: packet %d, %s:\n got %x\nwant %x", file, r.name, i, kind, again, packet)
				}
			}
		}
	}
}

func reencode(t *testing.T, r recorded, i int) (again []byte, kind string) {
	t.Helper()
	_, seq := Header(r.packets[i])
	payload := r.packets[i][HeaderSize:]
	capabilities := uint32(mysql.CLIENT_PROTOCOL_41)
	if strings.HasPrefix(r.name, "track-") {
		capabilities |= mysql.CLIENT_SESSION_TRACK
	}
	var err error
	switch {
	case r.kind == "text":
		return nil, ""
	case IsERR(payload):
		kind = "ERR"
		e, parseErr := ParseERR(payload)
		if err = parseErr; err == nil {
			again, _ = AppendERR(nil, seq, e, capabilities)
		}
	case IsEOF(payload) && len(payload) == eofSize:
		kind = "EOF"
		eof, parseErr := ParseEOF(payload)
		err = parseErr
		again, _ = AppendEOF(nil, seq, eof)
	case IsEOF(payload):
		kind = "OK in EOF's place"
		ok, parseErr := ParseOK(payload, capabilities)
		err = parseErr
		again, _ = AppendEnd(nil, seq, ok, capabilities|mysql.CLIENT_DEPRECATE_EOF)
	case bytes.HasPrefix(payload, []byte("\x03def")):
		kind = "column"
		again, err = reencodeColumn(r, payload, seq)
	case r.kind == "prepare" && i == 0:
		kind = "prepared"
		p, parseErr := ParsePrepared(payload)
		err = parseErr
		again, _ = AppendPrepared(nil, seq, p)
	case len(r.packets) == 1 && payload[0] == mysql.OK_HEADER:
		kind = "OK"
		ok, parseErr := ParseOK(payload, capabilities)
		err = parseErr
		again, _ = AppendOK(nil, seq, ok, capabilities)
	}
	if err != nil {
		t.Errorf("%s: %s: %v", r.name, kind, err)
	}
	return again, kind
}

// reencodeColumn also writes the NULL for a field without a default, which AppendColumn omits.
func reencodeColumn(r recorded, payload []byte, seq byte) ([]byte, error) {
	col, err := ParseColumn(payload)
	again, _ := AppendColumn(nil, seq, col)
	if r.kind == "fields" && col.Default == nil {
		again = append(again, null)
		again[0]++
	}
	return again, err
}

func TestRecordedBinaryRows(t *testing.T) {
	for file, all := range recordings(t) {
		rows := 0
		var types []byte
		for _, r := range all {
			if r.name != "execute" && r.name != "fetch-1" && r.name != "fetch-all" {
				continue
			}
			for _, packet := range r.packets {
				payload := packet[HeaderSize:]
				if col, err := ParseColumn(payload); err == nil {
					types = append(types, col.Type)
				}
				if payload[0] != mysql.OK_HEADER {
					continue
				}
				rows++
				values, err := SplitBinaryRow(nil, payload, types)
				if err != nil {
					t.Fatal(file, r.name, err)
				}
				if again, _ := AppendBinaryRow(nil, packet[3], values, types); !bytes.Equal(again, packet) {
					t.Errorf("%s: %s:\n got %x\nwant %x", file, r.name, again, packet)
				}
			}
		}
		if rows != 8 {
			t.Errorf("%s: %d rows", file, rows)
		}
	}
}

func TestColumnGolden(t *testing.T) {
	col, err := ParseColumn(unhex(t, "03646566047363616e01740174017601760cff0050000000fd0110000000"))
	want := Column{
		Schema: []byte("scan"), Table: []byte("t"), OrgTable: []byte("t"), Name: []byte("v"), OrgName: []byte("v"),
		Charset: 255, Length: 80, Type: mysql.MYSQL_TYPE_VAR_STRING, Flags: 0x1001,
	}
	if err != nil || string(col.Schema) != "scan" || string(col.Name) != "v" || string(col.OrgTable) != "t" || col.Default != nil {
		t.Errorf("read %+v, %v", col, err)
	}
	if col.Charset != want.Charset || col.Length != want.Length || col.Type != want.Type || col.Flags != want.Flags || col.Decimals != 0 {
		t.Errorf("read %+v, want %+v", col, want)
	}
}

func TestTruncatedPacketsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes string
		parse func([]byte) error
	}{
		{"OK", "00020022000100", func(b []byte) error { _, err := ParseOK(b, 0); return err }},
		{"EOF", "fe03000200", func(b []byte) error { _, err := ParseEOF(b); return err }},
		{"column", "03646566047363616e01740174017601760cff0050000000fd0110000000", func(b []byte) error { _, err := ParseColumn(b); return err }},
		{"prepared", "000100000009000100000000", func(b []byte) error { _, err := ParsePrepared(b); return err }},
		{"fetch", "1c0100000002000000", func(b []byte) error { _, err := ParseFetch(b); return err }},
		{"long data", "18010000000200", func(b []byte) error { _, err := ParseLongData(b); return err }},
		{"statement", "1901000000", func(b []byte) error { _, err := ParseStatement(b); return err }},
	} {
		whole := unhex(t, c.bytes)
		if err := c.parse(whole); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for cut := range len(whole) {
			if err := c.parse(whole[:cut:cut]); err == nil {
				t.Errorf("%s of %d bytes was accepted", c.name, cut)
			}
		}
	}
}
