package gather

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

func TestDefined(t *testing.T) {
	for _, c := range []struct {
		column wire.Column
		want   string // empty if the type is not supported
	}{
		{wire.Column{Type: mysql.MYSQL_TYPE_LONGLONG, Length: 21}, "BIGINT"},
		{wire.Column{Type: mysql.MYSQL_TYPE_LONGLONG, Length: 21, Flags: mysql.UNSIGNED_FLAG}, "BIGINT UNSIGNED"},
		{wire.Column{Type: mysql.MYSQL_TYPE_SHORT, Flags: mysql.UNSIGNED_FLAG | mysql.ZEROFILL_FLAG}, ""},
		{wire.Column{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Length: 36, Decimals: 2}, "DECIMAL(34,2)"},
		{wire.Column{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Length: 33}, "DECIMAL(32,0)"},
		{wire.Column{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Length: 35, Decimals: 2, Flags: mysql.UNSIGNED_FLAG}, "DECIMAL(34,2) UNSIGNED"},
		{wire.Column{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Length: 90, Decimals: 30}, "DECIMAL(65,30)"},
		{wire.Column{Type: mysql.MYSQL_TYPE_DOUBLE, Decimals: 31}, "DOUBLE"},
		{wire.Column{Type: mysql.MYSQL_TYPE_DOUBLE, Decimals: 4}, ""},
		{wire.Column{Type: mysql.MYSQL_TYPE_DATETIME, Decimals: 3}, "DATETIME(3)"},
		{wire.Column{Type: mysql.MYSQL_TYPE_TIME, Decimals: 31}, ""},
		{wire.Column{Type: mysql.MYSQL_TYPE_DATE}, "DATE"},
		{wire.Column{Type: mysql.MYSQL_TYPE_VAR_STRING}, ""},
		{wire.Column{Type: mysql.MYSQL_TYPE_NULL}, ""},
	} {
		got, err := Defined(c.column)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v; want %q", c.column, got, err, c.want)
		}
	}
}
