package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"
)

const (
	long   = mysql.MYSQL_TYPE_LONG
	text   = mysql.MYSQL_TYPE_VAR_STRING
	typeLn = "0300" + "fd00"
)

func TestExecuteGolden(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"01"+typeLn+"2a000000"+"026869")
	e, err := ParseExecute(payload, Known{Params: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Statement != 7 || e.Cursor != 0 || hex.EncodeToString(e.Types) != typeLn || len(e.Params) != 2 {
		t.Errorf("read %+v", e)
	}
	if p := e.Params[0]; p.Type != long || Int(p.Value) != 42 || p.Unsigned() {
		t.Errorf("first parameter %+v", p)
	}
	if p := e.Params[1]; p.Type != text || string(p.Value) != "hi" {
		t.Errorf("second parameter %+v", p)
	}
	again, seq := AppendExecute(nil, e)
	if !bytes.Equal(again[HeaderSize:], payload) || seq != 1 {
		t.Errorf("written again: %x", again)
	}
}

// Clients send the types with the first execution only.
func TestExecuteWithRememberedTypes(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"00"+"2a000000"+"026869")
	e, err := ParseExecute(payload, Known{Params: 2, Types: unhex(t, typeLn)}, nil)
	if err != nil || Int(e.Params[0].Value) != 42 || string(e.Params[1].Value) != "hi" || hex.EncodeToString(e.Types) != typeLn {
		t.Errorf("read %+v, %v", e, err)
	}
	again, _ := AppendExecute(nil, e)
	if want := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"01"+typeLn+"2a000000"+"026869"); !bytes.Equal(again[HeaderSize:], want) {
		t.Errorf("for another connection: %x, want the types too", again)
	}
	if _, err = ParseExecute(payload, Known{Params: 2}, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("with types that were never sent: %v", err)
	}
}

func TestExecuteWithLongData(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"02"+"01"+"0c00"+typeLn+"2a000000")
	known := Known{Params: 3, Long: [][]byte{[]byte("first"), nil, []byte("third")}}
	e, err := ParseExecute(payload, known, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := e.Params[0]; string(p.Value) != "first" || p.Type != mysql.MYSQL_TYPE_BLOB {
		t.Errorf("first parameter %+v: long data of a type that isn't a string go on as a blob", p)
	}
	if e.Params[1].Value != nil {
		t.Errorf("second parameter %+v isn't NULL", e.Params[1])
	}
	if p := e.Params[2]; string(p.Value) != "third" {
		t.Errorf("third parameter %+v", p)
	}
}

func TestExecuteOneLongDataOnly(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"01"+typeLn+"2a000000")
	e, err := ParseExecute(payload, Known{Params: 2, Long: [][]byte{nil, {}}}, nil)
	if err != nil || Int(e.Params[0].Value) != 42 || e.Params[1].Value == nil || len(e.Params[1].Value) != 0 {
		t.Errorf("read %+v, %v", e, err)
	}
}

func TestExecuteWithTypeNull(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"01"+"0600"+"0300"+"2a000000")
	e, err := ParseExecute(payload, Known{Params: 2}, nil)
	if err != nil || e.Params[0].Value != nil || Int(e.Params[1].Value) != 42 {
		t.Errorf("read %+v, %v", e, err)
	}
}

func TestExecuteWithoutParameters(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"01"+"01000000")
	e, err := ParseExecute(payload, Known{}, nil)
	if err != nil || e.Cursor != mysql.CURSOR_TYPE_READ_ONLY {
		t.Errorf("read %+v, %v", e, err)
	}
	attributes := unhex(t, "17"+"07000000"+"09"+"01000000") // a flag that means nothing without CLIENT_QUERY_ATTRIBUTES
	if e, err := ParseExecute(attributes, Known{}, nil); err != nil || e.Cursor != mysql.CURSOR_TYPE_READ_ONLY {
		t.Errorf("read %+v, %v", e, err)
	}
	if again, _ := AppendExecute(nil, e); !bytes.Equal(again[HeaderSize:], payload) {
		t.Errorf("written again: %x", again)
	}
}

func TestExecuteRoundTrip(t *testing.T) {
	types := append([]byte{mysql.MYSQL_TYPE_NULL}, typesOfRows...)
	rapid.Check(t, func(t *rapid.T) {
		e := Execute{Statement: rapid.Uint32().Draw(t, "statement"), Cursor: byte(rapid.IntRange(0, 1).Draw(t, "cursor"))}
		for range rapid.IntRange(0, 30).Draw(t, "params") {
			p := Param{Type: rapid.SampledFrom(types).Draw(t, "type"), Flags: rapid.SampledFrom([]byte{0, 0x80}).Draw(t, "flags")}
			if p.Type != mysql.MYSQL_TYPE_NULL {
				p.Value = drawValue(t, p.Type)
			}
			e.Params = append(e.Params, p)
		}
		packet, _ := AppendExecute([]byte("before"), e)
		payload := packet[len("before")+HeaderSize:]
		got, err := ParseExecute(payload, Known{Params: len(e.Params)}, nil)
		if err != nil || got.Statement != e.Statement || got.Cursor != e.Cursor || len(got.Params) != len(e.Params) {
			t.Fatalf("read %+v, %v", got, err)
		}
		for i, p := range e.Params {
			q := got.Params[i]
			if q.Type != p.Type || q.Flags != p.Flags || (q.Value == nil) != (p.Value == nil) || !bytes.Equal(q.Value, p.Value) {
				t.Fatalf("parameter %d: %+v, want %+v", i, q, p)
			}
		}
		if len(e.Params) > 0 {
			cut := rapid.IntRange(0, len(payload)-1).Draw(t, "cut")
			if _, err := ParseExecute(payload[:cut:cut], Known{Params: len(e.Params)}, nil); !errors.Is(err, ErrMalformed) {
				t.Fatalf("cut to %d bytes: %v", cut, err)
			}
		}
	})
}

func TestParseExecuteAllocatesNothing(t *testing.T) {
	payload := unhex(t, "17"+"07000000"+"00"+"01000000"+"00"+"00"+"2a000000"+"026869")
	known := Known{Params: 2, Types: unhex(t, typeLn)}
	params := make([]Param, 0, 2)
	scratch := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		e, err := ParseExecute(payload, known, params)
		if err != nil {
			t.Error(err)
		}
		AppendExecute(scratch, e)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCommands(t *testing.T) {
	if got, seq := AppendCommand(nil, mysql.COM_QUERY, []byte("select 1")); hex.EncodeToString(got) != "090000000373656c6563742031" || seq != 1 {
		t.Errorf("COM_QUERY %x, %d", got, seq)
	}
	if got := AppendStatementCommand(nil, mysql.COM_STMT_CLOSE, 258); hex.EncodeToString(got) != "050000001902010000" {
		t.Errorf("COM_STMT_CLOSE %x", got)
	}
	fetch := Fetch{Statement: 3, Rows: 400}
	if got, err := ParseFetch(AppendFetch(nil, fetch)[HeaderSize:]); got != fetch || err != nil {
		t.Errorf("COM_STMT_FETCH %v, %v", got, err)
	}
	data, err := ParseLongData(unhex(t, "18"+"03000000"+"0200"+"6869"))
	if err != nil || data.Statement != 3 || data.Param != 2 || string(data.Piece) != "hi" {
		t.Errorf("COM_STMT_SEND_LONG_DATA %+v, %v", data, err)
	}
	if CommandName(mysql.COM_STMT_EXECUTE) != "COM_STMT_EXECUTE" || CommandName(0xfa) != "COM_0xfa" {
		t.Error(CommandName(mysql.COM_STMT_EXECUTE), CommandName(0xfa))
	}
}
