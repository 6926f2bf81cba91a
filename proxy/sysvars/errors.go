package sysvars

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Error numbers for which the library has no name.
const (
	erUnknownVariable = 1193
	erReadOnly        = 1238
)

// cantSet returns the error of a variable that can't be set, or not to that value.
func cantSet(format string, args ...any) error {
	return wire.Errorf(erReadOnly, wire.StateGeneral, format, args...)
}

// wrongValue returns the error of a value that a variable does not accept.
func wrongValue(format string, args ...any) error {
	return wire.Errorf(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", format, args...)
}

// wrongType returns the error of a value that is no number, for a variable that accepts only numbers.
func wrongType(name string) error {
	return wire.Errorf(mysql.ER_WRONG_TYPE_FOR_VAR, "42000", "Incorrect argument type to variable '%s'", name)
}

// unknownCharset returns the error of a character set that clients can't use.
func unknownCharset(format string, args ...any) error {
	return wire.Errorf(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", format, args...)
}
