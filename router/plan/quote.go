package plan

import (
	"strings"

	"locus/router/stmt"
)

// quote returns a name in SQL that is valid in every sql_mode.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// qualified returns a column in SQL as the statement names it.
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
