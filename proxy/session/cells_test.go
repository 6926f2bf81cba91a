package session

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// TestCellValue checks which results of a query may replace the expression in an INSERT's row.
func TestCellValue(t *testing.T) {
	for _, c := range []struct {
		typ     byte
		charset uint16
		text    string
		kind    stmt.ValueKind
		want    string
	}{
		{mysql.MYSQL_TYPE_LONGLONG, binaryCharset, "-50", stmt.Int, "-50"},
		{mysql.MYSQL_TYPE_LONG, binaryCharset, "7", stmt.Int, "7"},
		{mysql.MYSQL_TYPE_LONGLONG, binaryCharset, "18446744073709551615", stmt.Uint, "18446744073709551615"},
		{mysql.MYSQL_TYPE_VAR_STRING, 45, "ab", stmt.String, "'ab'"},
		{mysql.MYSQL_TYPE_VAR_STRING, 45, "ä", stmt.Unknown, ""},
		{mysql.MYSQL_TYPE_VAR_STRING, binaryCharset, "ab", stmt.Unknown, ""},
		{mysql.MYSQL_TYPE_DOUBLE, binaryCharset, "100", stmt.Unknown, ""},
		{mysql.MYSQL_TYPE_NEWDECIMAL, binaryCharset, "5.0", stmt.Unknown, ""},
		{mysql.MYSQL_TYPE_DATE, binaryCharset, "2020-01-01", stmt.Unknown, ""},
		{mysql.MYSQL_TYPE_BIT, binaryCharset, "7", stmt.Unknown, ""},
	} {
		got := cellValue(wire.Column{Type: c.typ, Charset: c.charset}, []byte(c.text))
		if got.Kind != c.kind || got.Kind != stmt.Unknown && got.String() != c.want {
			t.Errorf("%d, %q: %v, want %s", c.typ, c.text, got, c.want)
		}
	}
	if got := cellValue(wire.Column{Type: mysql.MYSQL_TYPE_LONG}, nil); got.Kind != stmt.Unknown {
		t.Errorf("NULL: %v", got)
	}
}
