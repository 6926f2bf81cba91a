package gather

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

var integers = map[byte]string{
	mysql.MYSQL_TYPE_TINY: "TINYINT", mysql.MYSQL_TYPE_SHORT: "SMALLINT", mysql.MYSQL_TYPE_INT24: "MEDIUMINT",
	mysql.MYSQL_TYPE_LONG: "INT", mysql.MYSQL_TYPE_LONGLONG: "BIGINT",
}

// Defined returns the SQL type of a column for the values of an answer's column. It supports numbers and times, whose types the answer describes
// fully.
func Defined(d wire.Column) (string, error) {
	unsigned := ""
	if d.Flags&mysql.UNSIGNED_FLAG != 0 {
		unsigned = " UNSIGNED"
	}
	name, integer := integers[d.Type]
	switch {
	case d.Flags&mysql.ZEROFILL_FLAG != 0:
	case integer:
		return name + unsigned, nil
	case d.Type == mysql.MYSQL_TYPE_NEWDECIMAL:
		return decimalOf(d) + unsigned, nil
	case d.Type == mysql.MYSQL_TYPE_DOUBLE && d.Decimals >= notFixedDecimals:
		return "DOUBLE" + unsigned, nil
	case d.Type == mysql.MYSQL_TYPE_YEAR:
		return "YEAR", nil
	case d.Type == mysql.MYSQL_TYPE_DATE, d.Type == mysql.MYSQL_TYPE_NEWDATE:
		return "DATE", nil
	case d.Decimals > 6:
	case d.Type == mysql.MYSQL_TYPE_DATETIME, d.Type == mysql.MYSQL_TYPE_DATETIME2:
		return fmt.Sprintf("DATETIME(%d)", d.Decimals), nil
	case d.Type == mysql.MYSQL_TYPE_TIME, d.Type == mysql.MYSQL_TYPE_TIME2:
		return fmt.Sprintf("TIME(%d)", d.Decimals), nil
	}
	return "", &TypeError{string(d.Name), d.Type}
}

// decimalOf computes a DECIMAL type from the length of its text, which includes the sign and the point.
func decimalOf(d wire.Column) string {
	digits := int(d.Length)
	if d.Flags&mysql.UNSIGNED_FLAG == 0 {
		digits--
	}
	if d.Decimals > 0 {
		digits--
	}
	return fmt.Sprintf("DECIMAL(%d,%d)", min(max(digits, int(d.Decimals), 1), 65), d.Decimals)
}
