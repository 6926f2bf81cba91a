package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const trackedVariables = "2d000001000000004000000024000f0a6175746f636f6d6d6974034f464600110974696d655f7a6f6e65062b30313a3030"

func TestOKGolden(t *testing.T) {
	got, seq := AppendOK(nil, 1, OK{AffectedRows: 2, LastInsertID: 300, Status: 0x0022, Warnings: 1, Info: []byte("x")}, 0)
	if want := unhex(t, "0b0000010002fc2c01220001000178"); !bytes.Equal(got, want) || seq != 2 {
		t.Errorf("got %x, %d", got, seq)
	}
	ok, err := ParseOK(got[HeaderSize:], 0)
	if err != nil || ok.AffectedRows != 2 || ok.LastInsertID != 300 || ok.Status != 0x22 || ok.Warnings != 1 || string(ok.Info) != "x" {
		t.Errorf("read %+v, %v", ok, err)
	}
}

func TestOKInfoWithoutItsLength(t *testing.T) {
	ok, err := ParseOK(append(unhex(t, "00000002000000"), "Rows matched"...), 0)
	if err != nil || string(ok.Info) != "Rows matched" {
		t.Errorf("read %q, %v", ok.Info, err)
	}
}

func TestEndOfRowsIsEOFOrOK(t *testing.T) {
	ok := OK{Status: 2, Warnings: 3}
	if got, _ := AppendEnd(nil, 4, ok, 0); hex.EncodeToString(got) != "05000004fe03000200" {
		t.Errorf("EOF %x", got)
	}
	if got, _ := AppendEnd(nil, 4, ok, mysql.CLIENT_DEPRECATE_EOF); hex.EncodeToString(got) != "07000004fe000002000300" {
		t.Errorf("OK in EOF's place %x", got)
	}
}

func TestSessionChanges(t *testing.T) {
	packet := unhex(t, trackedVariables)
	ok, err := ParseOK(packet[HeaderSize:], mysql.CLIENT_SESSION_TRACK)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := AppendOK(nil, 1, ok, mysql.CLIENT_SESSION_TRACK); !bytes.Equal(again, packet) {
		t.Errorf("written again: %x", again)
	}
	var got []string
	var rebuilt []byte
	for rest := ok.Changes; len(rest) > 0; {
		var change Change
		if change, rest, err = NextChange(rest); err != nil {
			t.Fatal(err)
		}
		name, value, err := change.Variable()
		if err != nil || change.Kind != mysql.SESSION_TRACK_SYSTEM_VARIABLES {
			t.Fatal(change, err)
		}
		got = append(got, string(name)+"="+string(value))
		rebuilt = AppendVariableChange(rebuilt, name, value)
	}
	if len(got) != 2 || got[0] != "autocommit=OFF" || got[1] != "time_zone=+01:00" {
		t.Errorf("read %q", got)
	}
	if !bytes.Equal(rebuilt, ok.Changes) {
		t.Errorf("rebuilt %x from %x", rebuilt, ok.Changes)
	}
	stripped, _ := AppendOK(nil, 1, ok, 0)
	if want := unhex(t, "0700000100000000000000"); !bytes.Equal(stripped, want) {
		t.Errorf("for a client without session tracking: %x, want %x", stripped, want)
	}
}

func TestSchemaChange(t *testing.T) {
	packet := unhex(t, "100000010000000240000000070105047363616e")
	ok, err := ParseOK(packet[HeaderSize:], mysql.CLIENT_SESSION_TRACK)
	if err != nil {
		t.Fatal(err)
	}
	change, rest, err := NextChange(ok.Changes)
	if err != nil || len(rest) > 0 || change.Kind != mysql.SESSION_TRACK_SCHEMA {
		t.Fatal(change, rest, err)
	}
	if schema, err := change.Text(); err != nil || string(schema) != "scan" {
		t.Errorf("schema %q, %v", schema, err)
	}
	if got := AppendTextChange(nil, mysql.SESSION_TRACK_SCHEMA, []byte("scan")); !bytes.Equal(got, ok.Changes) {
		t.Errorf("written again: %x", got)
	}
}

func TestRebuildOKKeepsTheRest(t *testing.T) {
	packet := unhex(t, trackedVariables)
	got, err := RebuildOK([]byte("before"), packet, 3, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	got = got[len("before"):]
	ok, err := ParseOK(got[HeaderSize:], mysql.CLIENT_SESSION_TRACK)
	if err != nil || ok.AffectedRows != 3 || ok.LastInsertID != 1<<62 {
		t.Errorf("read %+v, %v", ok, err)
	}
	back, err := RebuildOK(nil, got, 0, 0)
	if err != nil || !bytes.Equal(back, packet) {
		t.Errorf("with the old numbers again: %x, %v", back, err)
	}
}

func TestPatchStatus(t *testing.T) {
	for _, c := range []struct{ before, after string }{
		{"05000004fe03000a00", "05000004fe03000380"},         // EOF
		{"07000004fe00000a000300", "07000004fe000003800300"}, // OK in EOF's place
		{"0700000100000a000300", ""},                         // a byte short
		{"0900000100fc2c01000a000300", "0900000100fc2c01000380" + "0300"},
		{"03000001ff1304", ""},
	} {
		packet := unhex(t, c.before)
		err := PatchStatus(packet, 0x0008, 0x8001)
		if c.after == "" {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%s: %v", c.before, err)
			}
			continue
		}
		if hex.EncodeToString(packet) != c.after {
			t.Errorf("%s became %x, want %s (%v)", c.before, packet, c.after, err)
		}
	}
}

func TestERRGolden(t *testing.T) {
	e := mysql.NewError(mysql.ER_ACCESS_DENIED_ERROR, "no")
	got, seq := AppendERR(nil, 2, e, mysql.CLIENT_PROTOCOL_41)
	if want := unhex(t, "0b000002ff15042332383030306e6f"); !bytes.Equal(got, want) || seq != 3 {
		t.Errorf("got %x, %d", got, seq)
	}
	back, err := ParseERR(got[HeaderSize:])
	if err != nil || *back != *e {
		t.Errorf("read %v, %v", back, err)
	}
	early, _ := AppendERR(nil, 0, e, 0)
	if want := unhex(t, "05000000ff15046e6f"); !bytes.Equal(early, want) {
		t.Errorf("before the greeting: %x", early)
	}
	if back, err = ParseERR(early[HeaderSize:]); err != nil || back.Message != "no" || back.State != "HY000" {
		t.Errorf("read %v, %v", back, err)
	}
}
