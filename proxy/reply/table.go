package reply

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// textCollation is utf8mb4_general_ci, which all servers and clients support.
const textCollation = 45

// AppendDefinitions appends column definitions and, if there are any, the EOF that ends the list.
func (t *Client) AppendDefinitions(out []byte, seq byte, columns []wire.Column, status uint16) ([]byte, byte) {
	for _, c := range columns {
		out, seq = t.AppendColumn(out, seq, c)
	}
	if len(columns) > 0 && t.Capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: status})
	}
	return out, seq
}

// TextColumns returns text columns, as wide as the rows need.
func TextColumns(names []string, rows [][]string) []wire.Column {
	columns := make([]wire.Column, len(names))
	for i, name := range names {
		columns[i] = wire.Column{Name: []byte(name), Charset: textCollation, Type: mysql.MYSQL_TYPE_VAR_STRING, Length: 4 * widest(rows, i)}
	}
	return columns
}

// Rows sends a small table of texts and unsigned numbers. A nil value is NULL.
func (t *Client) Rows(columns []wire.Column, rows [][][]byte, status uint16) error {
	return t.RowsWarned(columns, rows, wire.OK{Status: status})
}

// RowsWarned is Rows with the status and the number of warnings of the final packet.
func (t *Client) RowsWarned(columns []wire.Column, rows [][][]byte, end wire.OK) error {
	out, seq := wire.AppendColumnCount(t.Out[:0], t.Seq, len(columns))
	types := make([]byte, len(columns))
	for i, c := range columns {
		types[i] = c.Type
		out, seq = t.AppendColumn(out, seq, c)
	}
	if t.Capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: end.Status, Warnings: end.Warnings})
	}
	for _, row := range rows {
		values := make([][]byte, len(row))
		for i, v := range row {
			if values[i] = v; t.Binary && v != nil {
				values[i] = binaryValue(types[i], string(v))
			}
		}
		if t.Binary {
			out, seq = wire.AppendBinaryRow(out, seq, values, types)
			continue
		}
		out, seq = wire.AppendTextRow(out, seq, values)
	}
	out, _ = wire.AppendEnd(out, seq, end, t.Capabilities)
	return t.Flush(out)
}

// AppendColumn appends the definition of one of the session's own columns, without extended metadata.
func (t *Client) AppendColumn(out []byte, seq byte, c wire.Column) ([]byte, byte) {
	switch {
	case !t.Extended:
		c.Extended = nil
	case c.Extended == nil:
		c.Extended = []byte{}
	}
	return wire.AppendColumn(out, seq, c)
}

// binaryValue encodes a value for a row in the binary protocol. Numbers are those that this package wrote.
func binaryValue(columnType byte, text string) []byte {
	switch columnType {
	case mysql.MYSQL_TYPE_LONG:
		n, _ := strconv.ParseUint(text, 10, 32)
		return binary.LittleEndian.AppendUint32(nil, uint32(n))
	case mysql.MYSQL_TYPE_LONGLONG:
		n, _ := strconv.ParseUint(text, 10, 64)
		return binary.LittleEndian.AppendUint64(nil, n)
	case mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		if at, err := time.Parse(time.DateTime, text); err == nil {
			year := binary.LittleEndian.AppendUint16(nil, uint16(at.Year()))
			return append(year, byte(at.Month()), byte(at.Day()), byte(at.Hour()), byte(at.Minute()), byte(at.Second()))
		}
	}
	return []byte(text)
}

func widest(rows [][]string, column int) uint32 {
	n := 1
	for _, r := range rows {
		n = max(n, len(r[column]))
	}
	return uint32(n)
}
