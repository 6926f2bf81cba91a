package sysvars

import (
	"fmt"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// listings is the prefix of the listed tables' names in Owned.
const listings = "information_schema."

// listing returns a derived table with the rows of a server's information_schema.TABLES or COLUMNS, and those of the schema locus. Programs that
// show databases read them. The server decides which columns such a table has.
func (a *Answers) listing(table string) (string, error) {
	rows, err := a.ask("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = '"+table+
		"' ORDER BY ORDINAL_POSITION", backend.Nothing)
	if err != nil {
		return "", fmt.Errorf("what columns information_schema.%s has: %w", table, err)
	}
	var columns []string
	for _, row := range rows.Rows {
		columns = append(columns, string(row[0]))
	}
	var b strings.Builder
	b.WriteString("(SELECT " + strings.Join(columns, ", ") + " FROM information_schema." + table)
	for _, of := range a.visible() {
		list := []map[string]any{of.tablesRow()}
		if table == "COLUMNS" {
			list = of.columnsRows()
		}
		for _, row := range list {
			b.WriteString(" UNION ALL SELECT ")
			for i, column := range columns {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(virtualLiteral(row[strings.ToUpper(column)]))
			}
		}
	}
	b.WriteString(")")
	return b.String(), nil
}

// tablesRow returns the table's row in TABLES. A column that is missing in it is NULL.
func (t VirtualTable) tablesRow() map[string]any {
	return map[string]any{
		"TABLE_CATALOG": "def", "TABLE_SCHEMA": stmt.Own, "TABLE_NAME": t.Name, "TABLE_TYPE": "SYSTEM VIEW", "TABLE_COMMENT": ownComment, "CREATE_OPTIONS": "",
	}
}

// columnsRows returns the table's rows in COLUMNS.
func (t VirtualTable) columnsRows() (rows []map[string]any) {
	for i, c := range t.Columns {
		row := map[string]any{
			"TABLE_CATALOG": "def", "TABLE_SCHEMA": stmt.Own, "TABLE_NAME": t.Name, "COLUMN_NAME": c.Name, "ORDINAL_POSITION": int64(i + 1),
			"IS_NULLABLE": "YES", "COLUMN_TYPE": string(c.Type), "COLUMN_KEY": "", "EXTRA": "", "PRIVILEGES": "select", "COLUMN_COMMENT": "",
			"IS_GENERATED": "NEVER", "COLLATION_NAME": c.Type.collation(),
		}
		name, arguments, _ := strings.Cut(strings.TrimSuffix(string(c.Type), ")"), "(")
		row["DATA_TYPE"] = name
		switch first, second, _ := strings.Cut(arguments, ","); c.Type {
		case VirtualText:
			row["CHARACTER_SET_NAME"] = textCharset
			row["CHARACTER_MAXIMUM_LENGTH"], row["CHARACTER_OCTET_LENGTH"] = parseInteger(first), 4*parseInteger(first)
		case VirtualInteger:
			row["NUMERIC_PRECISION"], row["NUMERIC_SCALE"] = int64(19), int64(0)
		case VirtualNumber:
			row["NUMERIC_PRECISION"], row["NUMERIC_SCALE"] = parseInteger(first), parseInteger(second)
		case VirtualTime:
			row["DATETIME_PRECISION"] = parseInteger(first)
		}
		rows = append(rows, row)
	}
	return rows
}

// textCharset is the character set of text columns.
const textCharset = "utf8mb4"

// collation returns the collation of a text, or nil for another type.
func (t VirtualType) collation() any {
	if t == VirtualText {
		return textCharset + "_general_ci"
	}
	return nil
}

func parseInteger(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}
