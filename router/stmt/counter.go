package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Counter is the counter of SHOW STATUS that a statement or command increments, such as Com_insert. The zero Counter is
// none.
type Counter uint8

// counted are the supported counters, without Com_.
var counted = strings.Fields(`-
	select insert insert_select replace replace_select update update_multi delete delete_multi
	begin commit rollback savepoint rollback_to_savepoint release_savepoint set_option change_db
	call_procedure kill lock_tables unlock_tables load prepare_sql execute_sql dealloc_sql do flush analyze
	create_table drop_table alter_table truncate rename_table create_index drop_index create_view drop_view
	create_db drop_db alter_db create_procedure
	show_databases show_tables show_table_status show_fields show_keys show_create_table show_create_db
	show_variables show_status show_warnings show_errors show_processlist show_grants show_storage_engines
	show_plugins show_collations show_charsets show_triggers show_procedure_status show_function_status show_events
	stmt_prepare stmt_execute stmt_close stmt_reset stmt_fetch stmt_send_long_data`)

// Counters is the number of counters, including the zero one.
const Counters = 69

// Counters of protocol commands, which have no text.
var (
	CountPrepare  = counter("stmt_prepare")
	CountExecute  = counter("stmt_execute")
	CountClose    = counter("stmt_close")
	CountReset    = counter("stmt_reset")
	CountFetch    = counter("stmt_fetch")
	CountLongData = counter("stmt_send_long_data")
	CountChangeDB = counter("change_db")
)

// Name returns the counter's name in SHOW STATUS, in lower case.
func (c Counter) Name() string { return "com_" + counted[c] }

func counter(name string) Counter { return Counter(max(0, slices.Index(counted, name))) }

var shownCounters = map[ast.ShowStmtType]string{
	ast.ShowDatabases: "show_databases", ast.ShowTables: "show_tables", ast.ShowTableStatus: "show_table_status",
	ast.ShowColumns: "show_fields", ast.ShowIndex: "show_keys", ast.ShowCreateTable: "show_create_table",
	ast.ShowCreateDatabase: "show_create_db", ast.ShowVariables: "show_variables", ast.ShowStatus: "show_status",
	ast.ShowWarnings: "show_warnings", ast.ShowErrors: "show_errors", ast.ShowProcessList: "show_processlist",
	ast.ShowGrants: "show_grants", ast.ShowEngines: "show_storage_engines", ast.ShowPlugins: "show_plugins",
	ast.ShowCollation: "show_collations", ast.ShowCharset: "show_charsets", ast.ShowTriggers: "show_triggers",
	ast.ShowProcedureStatus: "show_procedure_status", ast.ShowFunctionStatus: "show_function_status", ast.ShowEvents: "show_events",
}

// counterOf returns the counter of a statement.
func counterOf(node ast.StmtNode) string {
	switch n := node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		return "select"
	case *ast.ExplainStmt: // like the statement it explains, except DESCRIBE
		return counterOf(n.Stmt)
	case *ast.InsertStmt:
		name := "insert"
		if n.IsReplace {
			name = "replace"
		}
		return named(name, "_select", n.Select != nil)
	case *ast.UpdateStmt:
		return named("update", "_multi", n.TableRefs.TableRefs.Right != nil)
	case *ast.DeleteStmt:
		return named("delete", "_multi", n.IsMultiTable)
	case *ast.ShowStmt:
		return shownCounters[n.Tp]
	case *ast.CallStmt:
		return "call_procedure"
	case *ast.SetStmt:
		return "set_option"
	case *ast.UseStmt:
		return "change_db"
	case *ast.LoadDataStmt:
		return "load"
	case *ast.DoStmt:
		return "do"
	case *ast.FlushStmt:
		return "flush"
	case *ast.KillStmt:
		return "kill"
	}
	return firstOf(transactionCounter(node), definitionCounter(node))
}

func transactionCounter(node ast.StmtNode) string {
	switch n := node.(type) {
	case *ast.BeginStmt:
		return "begin"
	case *ast.CommitStmt:
		return "commit"
	case *ast.RollbackStmt:
		return named("rollback", "_to_savepoint", n.SavepointName != "")
	case *ast.SavepointStmt:
		return "savepoint"
	case *ast.ReleaseSavepointStmt:
		return "release_savepoint"
	case *ast.LockTablesStmt:
		return "lock_tables"
	case *ast.UnlockTablesStmt:
		return "unlock_tables"
	case *ast.PrepareStmt:
		return "prepare_sql"
	case *ast.ExecuteStmt:
		return "execute_sql"
	case *ast.DeallocateStmt:
		return "dealloc_sql"
	}
	return ""
}

func definitionCounter(node ast.StmtNode) string {
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		return "create_table"
	case *ast.DropTableStmt:
		if n.IsView {
			return "drop_view"
		}
		return "drop_table"
	case *ast.AlterTableStmt:
		return "alter_table"
	case *ast.TruncateTableStmt:
		return "truncate"
	case *ast.RenameTableStmt:
		return "rename_table"
	case *ast.CreateIndexStmt:
		return "create_index"
	case *ast.DropIndexStmt:
		return "drop_index"
	case *ast.CreateViewStmt:
		return "create_view"
	case *ast.CreateDatabaseStmt:
		return "create_db"
	case *ast.DropDatabaseStmt:
		return "drop_db"
	case *ast.AlterDatabaseStmt:
		return "alter_db"
	case *ast.AnalyzeTableStmt:
		return "analyze"
	case *ast.ProcedureInfo:
		return "create_procedure"
	}
	return ""
}

func named(name, suffix string, with bool) string {
	if with {
		return name + suffix
	}
	return name
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
