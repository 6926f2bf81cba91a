package sysvars

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Numbers of errors that the library has no name for.
const (
	erUnknownVariable = 1193
	erReadOnly        = 1238
)

const stateGeneral = "HY000"

func fail(code uint16, state, format string, args ...any) *mysql.MyError {
	return &mysql.MyError{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// cantSet is the error of a variable that can't be set, or not to that.
func cantSet(format string, args ...any) error {
	return fail(erReadOnly, stateGeneral, format, args...)
}

// wrongValue is the error of a value that a variable doesn't take.
func wrongValue(format string, args ...any) error {
	return fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", format, args...)
}

// wrongType is the error of a variable that takes numbers.
func wrongType(name string) error {
	return fail(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", name)
}

// unknownCharset is the error of a character set that clients can't have.
func unknownCharset(format string, args ...any) error {
	return fail(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", format, args...)
}
