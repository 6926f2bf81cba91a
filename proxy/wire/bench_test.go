package wire

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func benchmarkScan(b *testing.B, response []byte, window int) {
	b.SetBytes(int64(len(response)))
	b.ReportAllocs()
	var s Scanner
	for b.Loop() {
		s.Reset(QueryResponse)
		start, end, state := 0, 0, NeedBytes
		for state != Done {
			end = min(len(response), start+window)
			n, st, err := s.Scan(response[start:end])
			if err != nil {
				b.Fatal(err)
			}
			start += n
			state = st
		}
	}
}

func rowsOf(n, size int) []byte {
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = make([]byte, size)
	}
	return resultSetAround(rows...)
}

func BenchmarkScanPointSelect(b *testing.B)     { benchmarkScan(b, rowsOf(1, 150), 16<<10) }
func BenchmarkScanOK(b *testing.B)              { benchmarkScan(b, okPacket(), 16<<10) }
func BenchmarkScan10000SmallRows(b *testing.B)  { benchmarkScan(b, rowsOf(10_000, 30), 128<<10) }
func BenchmarkScan10000MediumRows(b *testing.B) { benchmarkScan(b, rowsOf(10_000, 200), 128<<10) }
func BenchmarkScanRowOf20MB(b *testing.B)       { benchmarkScan(b, rowsOf(1, 20_000_000), 128<<10) }

func okPacket() []byte {
	b, _ := AppendOK(nil, 1, OK{AffectedRows: 1, Status: mysql.SERVER_STATUS_AUTOCOMMIT}, 0)
	return b
}

func BenchmarkSplitTextRow(b *testing.B) {
	row, _ := AppendTextRow(nil, 0, [][]byte{[]byte("12345"), make([]byte, 120), nil, make([]byte, 60), []byte("7")})
	values := make([][]byte, 0, 5)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := SplitTextRow(values, row[HeaderSize:], 5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseExecute(b *testing.B) {
	packet, _ := AppendExecute(nil, Execute{Statement: 1, Params: []Param{
		{Type: mysql.MYSQL_TYPE_LONGLONG, Value: make([]byte, 8)},
		{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: make([]byte, 40)},
		{Type: mysql.MYSQL_TYPE_DATETIME, Value: make([]byte, 7)},
	}})
	params := make([]Param, 0, 3)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseExecute(packet[HeaderSize:], Known{Params: 3}, params); err != nil {
			b.Fatal(err)
		}
	}
}
