package plan

import (
	"strings"

	"locus/router/stmt"
)

// quote writes a name so that it is one in every sql_mode.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// qualified writes a column as it was named.
func qualified(c stmt.ColumnRef) string {
	out := quote(c.Name)
	if c.Table != "" {
		out = quote(c.Table) + "." + out
	}
	if c.Schema != "" {
		out = quote(c.Schema) + "." + out
	}
	return out
}
