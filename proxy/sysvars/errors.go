package sysvars

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Numbers of errors that the library has no name for.
const (
	erUnknownVariable = 1193
	erReadOnly        = 1238
)

// cantSet is the error of a variable that can't be set, or not to that.
func cantSet(format string, args ...any) error {
	return wire.Errorf(erReadOnly, wire.StateGeneral, format, args...)
}

// wrongValue is the error of a value that a variable doesn't take.
func wrongValue(format string, args ...any) error {
	return wire.Errorf(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", format, args...)
}

// wrongType is the error of a variable that takes numbers.
func wrongType(name string) error {
	return wire.Errorf(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", name)
}

// unknownCharset is the error of a character set that clients can't have.
func unknownCharset(format string, args ...any) error {
	return wire.Errorf(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", format, args...)
}
