package sysvars

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// ownComment is the comment of these tables, which no server has.
const ownComment = "answered by the proxy, in UTC"

// visible returns the tables that the user may read, sorted by name.
func (a *Answers) visible() []VirtualTable {
	if a.Virtual == nil || a.mayRead("tables") != nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(a.Virtual.Tables()), func(x, y VirtualTable) int { return strings.Compare(x.Name, y.Name) })
}

// showOwnTables answers SHOW TABLES FROM locus.
func (a *Answers) showOwnTables(show *stmt.Shown) ([]byte, error) {
	column := VirtualColumn{"Tables_in_" + stmt.Own, VirtualText}
	kind := VirtualColumn{"Table_type", VirtualText}
	t := VirtualTable{Columns: []VirtualColumn{column}}
	if show.Full {
		t.Columns = append(t.Columns, kind)
	}
	var rows [][]any
	for _, table := range a.visible() {
		rows = append(rows, []any{table.Name, "SYSTEM VIEW"}[:len(t.Columns)])
	}
	return t.filtered(rows, column.Name, show.Clause), nil
}

// showOwnStatus answers SHOW TABLE STATUS FROM locus, with the columns that all servers have.
func (a *Answers) showOwnStatus(show *stmt.Shown) ([]byte, error) {
	t := VirtualTable{}
	for _, name := range []string{
		"Name", "Engine", "Version", "Row_format", "Rows", "Avg_row_length", "Data_length", "Max_data_length", "Index_length", "Data_free",
		"Auto_increment", "Create_time", "Update_time", "Check_time", "Collation", "Checksum", "Create_options", "Comment",
	} {
		t.Columns = append(t.Columns, VirtualColumn{name, VirtualText})
	}
	var rows [][]any
	for _, table := range a.visible() {
		row := make([]any, len(t.Columns))
		row[0], row[len(row)-1] = table.Name, ownComment
		rows = append(rows, row)
	}
	return t.filtered(rows, "Name", show.Clause), nil
}

// showOwnIndexes answers SHOW INDEX FROM locus.jobs with no rows, in the server's own columns.
func (a *Answers) showOwnIndexes(show *stmt.Shown) ([]byte, error) {
	if _, err := a.virtual(show.Table); err != nil {
		return nil, err
	}
	return []byte("SHOW INDEX FROM information_schema.TABLES"), nil
}

// showOwnColumns answers DESCRIBE locus.jobs, and SHOW COLUMNS.
func (a *Answers) showOwnColumns(show *stmt.Shown) ([]byte, error) {
	of, err := a.virtual(show.Table)
	if err != nil {
		return nil, err
	}
	t, full := VirtualTable{}, []string{"Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"}
	short := []string{"Field", "Type", "Null", "Key", "Default", "Extra"}
	names := short
	if show.Full {
		names = full
	}
	for _, name := range names {
		t.Columns = append(t.Columns, VirtualColumn{name, VirtualText})
	}
	var rows [][]any
	for _, c := range of.Columns {
		if show.Full {
			rows = append(rows, []any{c.Name, string(c.Type), c.Type.collation(), "YES", "", nil, "", "select", ""})
		} else {
			rows = append(rows, []any{c.Name, string(c.Type), "YES", "", nil, ""})
		}
	}
	return t.filtered(rows, "Field", show.Clause), nil
}

// showOwnCreate answers SHOW CREATE TABLE locus.jobs with a definition of a table with these columns. The comment in it shows that no server has
// the table.
func (a *Answers) showOwnCreate(show *stmt.Shown) ([]byte, error) {
	of, err := a.virtual(show.Table)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE `" + of.Name + "` (\n")
	for i, c := range of.Columns {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  `" + c.Name + "` " + string(c.Type) + " DEFAULT NULL")
	}
	b.WriteString("\n) COMMENT=" + backend.Quote(ownComment))
	return []byte("SELECT " + backend.Quote(of.Name) + " AS `Table`, " + backend.Quote(b.String()) + " AS `Create Table`"), nil
}

// filtered returns a query for the answer of a SHOW. name is the column to which a LIKE applies.
func (t VirtualTable) filtered(rows [][]any, name, clause string) []byte {
	if strings.HasPrefix(strings.ToLower(clause), "like") {
		clause = "WHERE `" + name + "` " + clause
	}
	return []byte("SELECT * FROM " + t.derived(rows) + " AS shown " + clause)
}
