package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"
)

// conversation builds a response and records the expected results of a scan.
type conversation struct {
	t            *rapid.T
	capabilities uint32
	b            []byte
	seq          byte
	rows         int
	want         []string
}

func (c *conversation) found(format string, args ...any) {
	c.want = append(c.want, fmt.Sprintf(format, args...))
}

func (c *conversation) status(more bool) uint16 {
	status := uint16(mysql.SERVER_STATUS_AUTOCOMMIT) | uint16(rapid.SampledFrom([]int{0, 1, 0x20}).Draw(c.t, "status"))
	if more {
		status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return status
}

func (c *conversation) ok(more bool) {
	ok := OK{
		AffectedRows: rapid.Uint64().Draw(c.t, "affected"), LastInsertID: rapid.Uint64().Draw(c.t, "insert ID"),
		Status: c.status(more), Info: make([]byte, rapid.IntRange(0, 300).Draw(c.t, "info")),
	}
	c.b, c.seq = AppendOK(c.b, c.seq, ok, c.capabilities)
	c.found("OK %d %d status %d rows %d", ok.AffectedRows, ok.LastInsertID, ok.Status, c.rows)
}

func (c *conversation) err() {
	code := rapid.Uint16Range(1000, 4000).Draw(c.t, "code")
	c.b, c.seq = AppendERR(c.b, c.seq, mysql.NewError(code, "no"), mysql.CLIENT_PROTOCOL_41)
	c.found("ERR %d rows %d", code, c.rows)
}

// resultSet adds a result set. If more is nil, the set ends with an error among its rows.
func (c *conversation) resultSet(more *bool) {
	columns := rapid.IntRange(1, 5).Draw(c.t, "columns")
	c.b, c.seq = AppendColumnCount(c.b, c.seq, columns)
	for range columns {
		c.b, c.seq = AppendColumn(c.b, c.seq, Column{Name: []byte("a"), Type: mysql.MYSQL_TYPE_STRING})
	}
	if c.capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		c.b, c.seq = AppendEOF(c.b, c.seq, EOF{Status: c.status(rapid.Bool().Draw(c.t, "more in the first EOF"))})
	}
	for range rapid.IntRange(0, 5).Draw(c.t, "rows") {
		row := bytes.Repeat([]byte{rapid.SampledFrom([]byte{0, 1, 0xfb, 0xfc, 0xfe}).Draw(c.t, "first byte")},
			rapid.SampledFrom([]int{9, 10, 50, 300, 3000}).Draw(c.t, "row"))
		if c.capabilities&mysql.CLIENT_DEPRECATE_EOF != 0 && row[0] == 0xfe {
			row[0] = 0
		}
		c.b, c.seq = AppendPacket(c.b, c.seq, row)
		c.rows++
	}
	if more == nil {
		c.err()
		return
	}
	end := OK{Status: c.status(*more)}
	c.b, c.seq = AppendEnd(c.b, c.seq, end, c.capabilities)
	c.found("rows %d status %d columns %d", c.rows, end.Status, columns)
}

func (c *conversation) response() {
	for more := true; more; {
		more = rapid.IntRange(0, 2).Draw(c.t, "more") == 0
		switch rapid.IntRange(0, 5).Draw(c.t, "result") {
		case 0:
			c.err()
			return
		case 1:
			c.resultSet(nil)
			return
		case 2:
			c.ok(more)
		default:
			c.resultSet(&more)
		}
	}
}

// told describes the Scanner's results in the terms of conversation.
func told(s *Scanner, lastWasOK bool) string {
	if code, is := s.ErrCode(); is {
		return fmt.Sprintf("ERR %d rows %d", code, s.Rows())
	}
	if ok, _ := s.OK(); lastWasOK {
		return fmt.Sprintf("OK %d %d status %d rows %d", ok.AffectedRows, ok.LastInsertID, s.Status(), s.Rows())
	}
	return fmt.Sprintf("rows %d status %d columns %d", s.Rows(), s.Status(), s.Columns())
}

func TestScannerWhateverTheChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &conversation{t: t, capabilities: mysql.CLIENT_PROTOCOL_41, seq: rapid.Byte().Draw(t, "first number")}
		if rapid.Bool().Draw(t, "deprecate EOF") {
			c.capabilities |= mysql.CLIENT_DEPRECATE_EOF
		}
		c.response()
		chunks := rapid.SampledFrom([]int{1, 2, 3, 7, 100, 1 << 20}).Draw(t, "longest chunk")
		s := &Scanner{DeprecateEOF: c.capabilities&mysql.CLIENT_DEPRECATE_EOF != 0}
		s.Reset(QueryResponse)
		got := relay(t, s, append(bytes.Clone(c.b), 0xff, 0xff, 0xff, 0xff, 0xff), chunks, len(c.b))
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Fatalf("found %q, want %q", got, c.want)
		}
	})
}

// relay acts as a connection. It passes the Scanner a growing window and takes the bytes that belong to the response.
func relay(t *rapid.T, s *Scanner, b []byte, longest, want int) (got []string) {
	passed, shown := 0, 0
	for {
		n, state, err := s.Scan(b[passed:shown])
		if err != nil {
			t.Fatal(err)
		}
		passed += n
		if state == NeedBytes {
			if shown == len(b) {
				t.Fatal("the end wasn't found")
			}
			shown = min(len(b), shown+rapid.IntRange(1, longest).Draw(t, "chunk"))
			continue
		}
		last := b[passed-s.LastPacket() : passed]
		if length, _ := Header(last); length+HeaderSize != len(last) {
			t.Fatalf("last packet % x", last)
		}
		got = append(got, told(s, last[HeaderSize] == mysql.OK_HEADER))
		if state == Done {
			break
		}
	}
	if passed != want {
		t.Fatalf("%d bytes passed on, the response has %d", passed, want)
	}
	if n, state, err := s.Scan(b[passed:]); n != 0 || state != Done || err != nil {
		t.Fatalf("after the end: %d bytes, %s, %v", n, state, err)
	}
	return got
}

// resultSetAround puts rows of one column between the packets that they need.
func resultSetAround(rows ...[]byte) []byte {
	b, seq := AppendColumnCount(nil, 1, 1)
	b, seq = AppendColumn(b, seq, Column{Name: []byte("a"), Type: mysql.MYSQL_TYPE_BLOB})
	b, seq = AppendEOF(b, seq, EOF{Status: mysql.SERVER_STATUS_AUTOCOMMIT})
	for _, row := range rows {
		b, seq = AppendPacket(b, seq, row)
	}
	b, _ = AppendEOF(b, seq, EOF{Status: mysql.SERVER_STATUS_AUTOCOMMIT, Warnings: 7})
	return b
}

// The second packet of a long row may have any content, even the content of an EOF or an ERR packet.
func TestScannerPassesOverLongRows(t *testing.T) {
	for _, length := range []int{MaxPayload - 1, MaxPayload, MaxPayload + 1, MaxPayload + eofSize, 2 * MaxPayload} {
		for _, filler := range []byte{0x00, 0xfe, 0xff} {
			row := bytes.Repeat([]byte{filler}, length)
			row[0] = 0xfe // the first column is of 16 MiB or more
			b := resultSetAround(row, []byte("\x08whatever"))
			rowAt := len(resultSetAround()) - HeaderSize - eofSize
			for _, chunk := range []int{1 << 14, 1<<20 + 1, rowAt + HeaderSize, len(b)} {
				var s Scanner
				passed, found, err := scanAll(&s, b, func() int { return chunk })
				if err != nil || passed != len(b) || s.Rows() != 2 || s.Warnings() != 7 || len(found) != 1 {
					t.Fatalf("row of %d bytes 0x%02x, %d at a time: %d of %d bytes, %q, %v", length, filler, chunk, passed, len(b), found, err)
				}
			}
		}
	}
}

// A buffer of the size of the longest packet that isn't a row is enough.
func TestScannerNeedsNoRoomForRows(t *testing.T) {
	b := resultSetAround(bytes.Repeat([]byte{1}, 1<<20))
	const room = 64
	var s Scanner
	for start, end := 0, 0; ; {
		n, state, err := s.Scan(b[start:end])
		if err != nil {
			t.Fatal(err)
		}
		start += n
		if state == Done {
			return
		}
		if end-start == room {
			t.Fatalf("%d bytes aren't enough at byte %d", room, start)
		}
		end = min(len(b), start+room)
	}
}

func TestScannerRefusesWhatIsNoResponse(t *testing.T) {
	ok := "0700000100000002000000"
	for name, c := range map[string]struct {
		kind  ResponseKind
		bytes string
		taken int
	}{
		"an empty packet":                 {QueryResponse, "00000001", 0},
		"a packet of 16 MiB":              {QueryResponse, "ffffff0100", 0},
		"a column count of 8 bytes":       {QueryResponse, "09000001fe0000000001000000", 0},
		"more after the column count":     {QueryResponse, "020000010101", 0},
		"a truncated OK":                  {QueryResponse, "03000001000000", 0},
		"a truncated ERR":                 {QueryResponse, "02000001ff13", 0},
		"a row in place of OK":            {SimpleResponse, "020000010131", 0},
		"a row in place of EOF":           {QueryResponse, "0100000101" + "0b000002" + "0364656600000000000000" + "02000003" + "0131", 5 + 15},
		"a number left out":               {QueryResponse, "0100000101" + "0b000003" + "0364656600000000000000", 5},
		"an empty row":                    {RowsResponse, "0200000101310000000200000003", 6},
		"a short answer to COM_STMT_PREP": {PrepareResponse, ok, 0},
	} {
		var s Scanner
		s.Reset(c.kind)
		n, _, err := s.Scan(unhex(t, c.bytes))
		if !errors.Is(err, ErrMalformed) || n != c.taken {
			t.Errorf("%s: %d bytes taken, %v; want %d", name, n, err, c.taken)
		}
	}
}

// While the client sends its file, the packets are its own; the server's answer is numbered after them, and may be one of several.
func TestScannerGoesOnAfterAFileRequest(t *testing.T) {
	var s Scanner
	request := unhex(t, "03000001fb6161")
	if n, state, err := s.Scan(request); n != len(request) || state != FileRequest || s.LastPacket() != n || err != nil {
		t.Fatal(n, state, err)
	}
	if n, state, err := s.Scan(nil); n != 0 || state != NeedBytes || err != nil {
		t.Fatal(n, state, err)
	}
	answer, seq := AppendOK(nil, 5, OK{AffectedRows: 3, Status: mysql.SERVER_MORE_RESULTS_EXISTS}, 0)
	if n, state, err := s.Scan(answer); n != len(answer) || state != ResultEnd || err != nil {
		t.Fatal(n, state, err)
	}
	answer, _ = AppendOK(nil, seq, OK{AffectedRows: 4}, 0)
	n, state, err := s.Scan(answer)
	if ok, _ := s.OK(); n != len(answer) || state != Done || err != nil || ok.AffectedRows != 4 {
		t.Error(n, state, err, ok)
	}
}

func TestScannerNamesWhatItExpected(t *testing.T) {
	var s Scanner
	_, _, err := s.Scan(unhex(t, "0100000101"+"0b000005"))
	if err == nil || !strings.Contains(err.Error(), "sequence number 5 where 2 is due, in place of a column definition") {
		t.Error(err)
	}
}

func TestScannerAllocatesNothing(t *testing.T) {
	b := resultSetAround([]byte("\x011"), []byte("\x012"))
	s := &Scanner{}
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(QueryResponse)
		for at := range b {
			if n, state, err := s.Scan(b[:at]); n > 0 || state == Done || err != nil {
				s.Reset(QueryResponse)
			}
		}
		if n, state, err := s.Scan(b); n != len(b) || state != Done || err != nil {
			t.Error(n, state, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
