package backend

import (
	"bytes"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// AppendBinding appends a description of the values of an execution, as far as a server keeps them with a
// prepared statement.
//
// If the type of a value doesn't fit the type of its parameter, MySQL resolves the statement again, and then
// keeps the new types. So a text column that was once compared with a number is compared as a number from then
// on. MariaDB keeps precisions. Executions with different bindings must not share a statement, or sessions
// would see effects of each other's values.
//
// A binding has the type and the flags of each parameter, and the class of its value. A NULL that is only
// stored fits every type.
func AppendBinding(dst []byte, params []wire.Param, stored Stored) []byte {
	for i := range params {
		class := classOf(&params[i])
		if class == classNull && stored.param(i, len(params)) {
			class = classStoredNull
		}
		dst = append(dst, params[i].Type, params[i].Flags, class)
	}
	return dst
}

// Stored are the parameters of a statement whose values are only stored, see [stmt.StoredParams]. The zero value is none.
type Stored []bool

// param reports whether a parameter of an execution is only stored. An execution may have other parameters than the client's statement: part of
// its rows, and numbers that are stored with them.
func (s Stored) param(i, params int) bool {
	if len(s) == params {
		return s[i]
	}
	return len(s) > 0 && !slices.Contains(s, false)
}

// perParam is the bytes of a binding for each parameter.
const perParam = 3

func hasNull(binding []byte) bool {
	for i := perParam - 1; i < len(binding); i += perParam {
		if binding[i] == classStoredNull {
			return true
		}
	}
	return false
}

// fits reports whether a statement that was executed with binding had can be executed with another binding, without the server
// preparing it again.
func fits(had string, binding []byte) bool {
	if len(had) != len(binding) {
		return false
	}
	for i := 0; i < len(had); i += perParam {
		if binding[i+perParam-1] != classStoredNull && string(binding[i:i+perParam]) != had[i:i+perParam] {
			return false
		}
	}
	return true
}

// Classes of values.
const (
	classValue = 'v'
	classNull  = 'n'
	// A NULL that is only stored.
	classStoredNull = 's'
	// Texts that are numbers as a whole, other than a few digits. MySQL resolves an integer parameter again if the number doesn't fit.
	classInteger  = 'i'
	classFraction = 'f'
	classExponent = 'e'
	classLong     = 'l' // sent in pieces
)

func classOf(p *wire.Param) byte {
	switch {
	case p.Long:
		return classLong
	case p.Value == nil:
		return classNull
	case isText(p.Type):
		return classOfText(p.Value)
	}
	return classValue
}

func isText(kind byte) bool {
	switch kind {
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB,
		mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB:
		return true
	}
	return false
}

// fitting is the most digits of a number that fits every integer type of eight bytes.
const fitting = 18

func classOfText(text []byte) byte {
	digits := skipDigits(text)
	if digits == len(text) && digits <= fitting {
		return classValue
	}
	class, number := byte(classInteger), bytes.TrimSpace(text)
	if len(number) > 0 && (number[0] == '-' || number[0] == '+') {
		number = number[1:]
	}
	number = number[skipDigits(number):]
	if len(number) > 0 && number[0] == '.' {
		class, number = classFraction, number[1:]
		number = number[skipDigits(number):]
	}
	if len(number) > 0 && number[0]|0x20 == 'e' {
		class, number = classExponent, bytes.TrimLeft(number[1:], "+-")
		number = number[skipDigits(number):]
	}
	if len(number) > 0 {
		return classValue
	}
	return class
}

func skipDigits(text []byte) (n int) {
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}
