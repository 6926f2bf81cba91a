package sqldb

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"locus/proxy/backend"
)

// written puts arguments in the places of question marks. Statements come from
// the program: one has no question mark but for an argument.
func written(text string, args []driver.NamedValue) (string, error) {
	parts := strings.Split(text, "?")
	if len(parts) != len(args)+1 {
		return "", fmt.Errorf("sqldb: %d arguments for %d places of %s", len(args), len(parts)-1, text)
	}
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(part)
		if i == len(args) {
			break
		}
		literal, err := literalOf(args[i].Value)
		if err != nil {
			return "", err
		}
		b.WriteString(literal)
	}
	return b.String(), nil
}

// literalOf reads the same in every mode of SQL.
func literalOf(value driver.Value) (string, error) {
	switch v := value.(type) {
	case nil:
		return "NULL", nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case []byte:
		return "X'" + hex.EncodeToString(v) + "'", nil
	case string:
		return backend.Quote(v), nil
	}
	return "", fmt.Errorf("sqldb: an argument of type %T", value)
}
