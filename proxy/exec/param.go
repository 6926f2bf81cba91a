package exec

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Value returns a parameter as a value for routing and stamping.
func Value(p wire.Param) stmt.Value {
	if p.Value == nil {
		return stmt.Value{Kind: stmt.Null}
	}
	switch p.Type {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_INT24,
		mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_LONGLONG:
		if p.Unsigned() {
			return stmt.UintValue(wire.Uint(p.Value))
		}
		return stmt.IntValue(wire.Int(p.Value))
	case mysql.MYSQL_TYPE_FLOAT:
		return stmt.FloatValue(float64(math.Float32frombits(binary.LittleEndian.Uint32(p.Value))))
	case mysql.MYSQL_TYPE_DOUBLE:
		return stmt.FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(p.Value)))
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return stmt.Value{Kind: stmt.Decimal, Text: p.Value}
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIME, mysql.MYSQL_TYPE_NEWDATE:
		return stmt.Value{Kind: stmt.Temporal}
	}
	return stmt.Value{Kind: stmt.String, Text: p.Value}
}

// literalOf returns a parameter as a literal for a text that is read under the session's settings.
func literalOf(p wire.Param, vars *sysvars.Values) (string, error) {
	if p.Value == nil {
		return "NULL", nil
	}
	switch v := Value(p); v.Kind {
	case stmt.Int, stmt.Uint:
		return v.String(), nil
	case stmt.Decimal:
		if text := string(v.Text); strings.Trim(text, "+-.0123456789") == "" && strings.LastIndexAny(text, "+-") < 1 {
			return text, nil
		}
	case stmt.Float:
		if p.Type == mysql.MYSQL_TYPE_FLOAT {
			return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(p.Value))), 'e', -1, 32), nil
		}
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(p.Value)), 'e', -1, 64), nil
	case stmt.Temporal:
		text, err := wire.TemporalText(p.Type, p.Value)
		if err != nil {
			return "", wire.Errorf(mysql.ER_WRONG_ARGUMENTS, wire.StateGeneral, "Incorrect arguments to COM_STMT_EXECUTE: %v", err)
		}
		return "'" + text + "'", nil
	default:
	}
	switch p.Type {
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB:
		return "X'" + hex.EncodeToString(p.Value) + "'", nil
	}
	if !vars.Foreign && !utf8.Valid(p.Value) { // servers refuse it as a text
		return "X'" + hex.EncodeToString(p.Value) + "'", nil
	}
	text := strings.ReplaceAll(string(p.Value), "'", "''")
	if vars.Mode&stmt.NoBackslash == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return "'" + text + "'", nil
}
