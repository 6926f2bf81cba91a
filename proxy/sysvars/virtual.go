package sysvars

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Virtual contains the tables that no server has, with the state of the cluster. They are read only. A shard answers queries on them, and gets
// their rows as literals.
type Virtual interface {
	// Tables returns all of them, with the same names as stmt.OwnTables.
	Tables() []VirtualTable
	// Rows returns the current rows of a table. A row has a value for each column, of type string, int64, float64, bool, time.Time, or nil.
	Rows(ctx context.Context, table string) ([][]any, error)
	// Empty deletes the rows of a table. It returns ErrNotEmptied if that is not possible.
	Empty(ctx context.Context, table string) error
}

// ErrNotEmptied is the error of a table whose rows are the current state rather than counts.
var ErrNotEmptied = errors.New("only locus.statements can be emptied")

// Empty answers TRUNCATE TABLE of a table of the schema locus.
func (a *Answers) Empty(table string) error {
	if _, err := a.virtual(table); err != nil {
		return err
	}
	err := a.Virtual.Empty(a.Ctx, table)
	if errors.Is(err, ErrNotEmptied) {
		return notUpdatable(table)
	}
	return err
}

func notUpdatable(table string) error {
	return wire.Errorf(mysql.ER_NON_UPDATABLE_TABLE, wire.StateGeneral, "The target table %s.%s of the statement is not updatable: commands such as locus jobs change what it shows", stmt.Own, table)
}

// VirtualTable is a table of the schema locus.
type VirtualTable struct {
	Name    string
	Columns []VirtualColumn
}

// VirtualColumn is a column of a VirtualTable.
type VirtualColumn struct {
	Name string
	Type VirtualType
}

// VirtualType is a type of MySQL, as DESCRIBE shows it.
type VirtualType string

// The types.
const (
	VirtualText    VirtualType = "varchar(1024)"
	VirtualInteger VirtualType = "bigint"
	VirtualNumber  VirtualType = "decimal(20,2)"
	VirtualTime    VirtualType = "datetime(3)" // in UTC
)

// cast returns the target type of a CAST to the type.
func (t VirtualType) cast() string {
	switch t {
	case VirtualInteger:
		return "SIGNED"
	case VirtualNumber:
		return "DECIMAL(20,2)"
	case VirtualTime:
		return "DATETIME(3)"
	case VirtualText:
	}
	return "CHAR(1024) CHARACTER SET utf8mb4"
}

// mostVirtualRows limits the rows of a table, because a shard must parse them as text. The last rows are kept.
const mostVirtualRows = 1000

// mayRead returns an error if the user has limited rights and is no admin.
func (a *Answers) mayRead(table string) error {
	if !a.Bounded || a.Admin {
		return nil
	}
	return &plan.Denied{
		Number:  mysql.ER_TABLEACCESS_DENIED_ERROR,
		Message: fmt.Sprintf("SELECT command denied to user '%s'@'%%' for table '%s'", a.User, table),
	}
}

// virtual returns a table of the schema locus. It returns an error if there is none of that name, or if the user may not read it.
func (a *Answers) virtual(name string) (VirtualTable, error) {
	if a.Virtual != nil {
		for _, t := range a.Virtual.Tables() {
			if t.Name == name {
				return t, a.mayRead(name)
			}
		}
	}
	return VirtualTable{}, wire.Errorf(mysql.ER_NO_SUCH_TABLE, "42S02", "Table '%s.%s' doesn't exist", stmt.Own, name)
}

// virtualTable returns the SQL that replaces a table: a derived table of literals, without its alias.
func (a *Answers) virtualTable(name string, st *stmt.Statement) (string, error) {
	if st.Kind == stmt.Update || st.Kind == stmt.Delete || st.Insert != nil && strings.EqualFold(st.Insert.Table.Schema, stmt.Own) {
		return "", notUpdatable(name)
	}
	t, err := a.virtual(name)
	if err != nil {
		return "", err
	}
	rows, err := a.Virtual.Rows(a.Ctx, name)
	if err != nil {
		return "", fmt.Errorf("read %s.%s: %w", stmt.Own, name, err)
	}
	return t.derived(rows[max(0, len(rows)-mostVirtualRows):]), nil
}

// derived returns rows as a derived table. Its first SELECT has no rows, and defines the names and types.
func (t VirtualTable) derived(rows [][]any) string {
	var b strings.Builder
	b.WriteString("(SELECT ")
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("CAST(NULL AS " + c.Type.cast() + ") AS `" + c.Name + "`")
	}
	b.WriteString(" FROM DUAL WHERE 1 = 0")
	for _, row := range rows {
		b.WriteString(" UNION ALL SELECT ")
		for i, value := range row {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(virtualLiteral(value))
		}
	}
	b.WriteString(")")
	return b.String()
}

func virtualLiteral(value any) string {
	switch v := value.(type) {
	case string:
		return backend.Quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case bool:
		if v {
			return "1"
		}
		return "0"
	case time.Time:
		if !v.IsZero() {
			return "TIMESTAMP'" + v.UTC().Format("2006-01-02 15:04:05.000") + "'"
		}
	}
	return "NULL"
}
