package stmt

import (
	goast "go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plannedTypes, refusedTypes and partTypes contain every type of statement that the parser knows. A planned type has a text
// that names the table known wherever such a statement can name a table. If a type is in no list, a new version of the parser
// has added it: check what it reaches.
var plannedTypes = map[string]string{
	"AlterDatabaseStmt":    "",
	"AlterSequenceStmt":    "alter sequence known restart",
	"AlterTableStmt":       "alter table scratch exchange partition p with table known",
	"AnalyzeTableStmt":     "analyze table known",
	"BeginStmt":            "",
	"CallStmt":             "call p((select max(a) from known))",
	"CommitStmt":           "",
	"CreateDatabaseStmt":   "",
	"CreateIndexStmt":      "create index i on known (a)",
	"CreateSequenceStmt":   "create sequence known",
	"CreateTableStmt":      "create table child (a int, foreign key (a) references known (a))",
	"CreateViewStmt":       "create view v as select * from known",
	"DeallocateStmt":       "",
	"DeleteStmt":           "delete from scratch where a in (select a from known)",
	"DoStmt":               "do (select a from known)",
	"DropDatabaseStmt":     "",
	"DropIndexStmt":        "drop index i on known",
	"DropProcedureStmt":    "",
	"DropSequenceStmt":     "drop sequence known",
	"DropTableStmt":        "drop table if exists scratch, known",
	"ExecuteStmt":          "",
	"ExplainStmt":          "describe known",
	"HelpStmt":             "",
	"InsertStmt":           "insert into scratch values ((select max(a) from known))",
	"KillStmt":             "",
	"LoadDataStmt":         "load data local infile 'x' into table known",
	"LockTablesStmt":       "lock tables scratch read, known write",
	"OptimizeTableStmt":    "optimize table known",
	"PrepareStmt":          "",
	"ProcedureInfo":        "", // found by its words
	"ReleaseSavepointStmt": "",
	"RenameTableStmt":      "rename table scratch to other, known to elsewhere",
	"RollbackStmt":         "",
	"SavepointStmt":        "",
	"SelectStmt":           "select (select max(a) from known)",
	"SetOprStmt":           "select 1 union table known",
	"SetStmt":              "set @a = (select max(a) from known)",
	"ShowStmt":             "show create table known",
	"TruncateTableStmt":    "truncate known",
	"UnlockTablesStmt":     "",
	"UpdateStmt":           "update scratch, known set scratch.a = 1",
	"UseStmt":              "",
}

// Statements about the server itself or about accounts, and statements that no supported server has.
var refusedTypes = map[string]string{
	"AlterInstanceStmt":        "alter instance reload tls",
	"AlterUserStmt":            "alter user a identified by 'x'",
	"AdminStmt":                "admin show ddl",
	"BinlogStmt":               "binlog 'x'",
	"CreateUserStmt":           "create user a",
	"DropUserStmt":             "drop user a",
	"ExplainForStmt":           "explain format=json for connection 5",
	"FlushStmt":                "flush privileges",
	"GrantProxyStmt":           "grant proxy on a to b",
	"GrantRoleStmt":            "grant a to b",
	"GrantStmt":                "grant select on *.* to a",
	"RenameUserStmt":           "rename user a to b",
	"RestartStmt":              "restart",
	"RevokeRoleStmt":           "revoke a from b",
	"RevokeStmt":               "revoke select on *.* from a",
	"SetDefaultRoleStmt":       "set default role all to a",
	"SetPwdStmt":               "set password = 'x'",
	"SetResourceGroupStmt":     "set resource group a",
	"SetRoleStmt":              "set role a",
	"ShutdownStmt":             "shutdown",
	"AddQueryWatchStmt":        "",
	"AlterPlacementPolicyStmt": "", "AlterRangeStmt": "", "AlterResourceGroupStmt": "", "BRIEStmt": "", "CalibrateResourceStmt": "",
	"CancelDistributionJobStmt": "", "CleanupTableLockStmt": "", "CompactTableStmt": "", "CreateBindingStmt": "", "CreateMaskingPolicyStmt": "",
	"CreatePlacementPolicyStmt": "", "CreateResourceGroupStmt": "", "CreateStatisticsStmt": "", "DistributeTableStmt": "", "DropBindingStmt": "",
	"DropPlacementPolicyStmt": "", "DropQueryWatchStmt": "", "DropResourceGroupStmt": "", "DropStatisticsStmt": "", "DropStatsStmt": "",
	"FlashBackDatabaseStmt": "", "FlashBackTableStmt": "", "FlashBackToTimestampStmt": "", "ImportIntoActionStmt": "", "ImportIntoStmt": "",
	"LoadStatsStmt": "", "LockStatsStmt": "", "NonTransactionalDMLStmt": "", "PlanReplayerStmt": "", "RecommendIndexStmt": "",
	"RecoverTableStmt": "", "RefreshStatsStmt": "", "RepairTableStmt": "", "SetBindingStmt": "", "SetCharsetStmt": "", "SetConfigStmt": "",
	"SetSessionStatesStmt": "", "SplitRegionStmt": "", "TraceStmt": "", "TrafficStmt": "", "UnlockStatsStmt": "",
}

// partTypes occur within other statements, most of them in programs.
const partTypes = ` ddlNode dmlNode DynamicCalibrateResourceOption ProcedureBlock ProcedureCloseCur ProcedureElseBlock ProcedureElseIfBlock
	ProcedureErrorCondition ProcedureFetchInto ProcedureIfBlock ProcedureIfInfo ProcedureJump ProcedureLabelBlock ProcedureLabelLoop
	ProcedureOpenCur ProcedureRepeatStmt ProcedureWhileStmt QueryWatchOption SearchCaseStmt SearchWhenThenStmt SimpleCaseStmt
	SimpleWhenThenStmt SplitIndexOption SplitOption `

func TestEveryTypeOfStatementIsClassified(t *testing.T) {
	types := statementTypes(t)
	if len(types) < 100 {
		t.Fatalf("%d types are found: %v", len(types), types)
	}
	for _, name := range types {
		_, planned := plannedTypes[name]
		_, refused := refusedTypes[name]
		if part := slices.Contains(strings.Fields(partTypes), name); !planned && !refused && !part || planned && refused {
			t.Errorf("%s is in no list, or in two", name)
		}
	}
}

// statementTypes returns the names of the parser's syntax tree types that are statements.
func statementTypes(t *testing.T) (names []string) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/pingcap/tidb/pkg/parser/ast").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := goparser.ParseFile(gotoken.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		goast.Inspect(tree, func(n goast.Node) bool {
			spec, ok := n.(*goast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*goast.StructType); ok && slices.ContainsFunc(s.Fields.List, isStatement) {
				names = append(names, spec.Name.Name)
			}
			return false
		})
	}
	return names
}

func isStatement(f *goast.Field) bool {
	id, ok := f.Type.(*goast.Ident)
	return ok && len(f.Names) == 0 && (id.Name == "stmtNode" || id.Name == "ddlNode" || id.Name == "dmlNode")
}

func lexText(text string) *Lexed {
	l := &Lexed{}
	l.Lex([]byte(text), 0)
	return l
}

func TestTablesAreFoundInEveryTypeOfStatement(t *testing.T) {
	for name, text := range plannedTypes {
		if text == "" {
			continue
		}
		s, err := Parse(lexText(text))
		if err != nil {
			t.Errorf("%s: %s: %v", name, text, err)
			continue
		}
		if s.Kind == Admin || s.Kind == Account || !slices.Contains(s.Tables, TableName{"", "known"}) {
			t.Errorf("%s: %s: kind %d, tables %v", name, text, s.Kind, s.Tables)
		}
	}
}

func TestStatementsOnTheServerAreTold(t *testing.T) {
	texts := []string{
		"alter table known import tablespace", "alter table known discard tablespace", "flush logs", "flush tables t with read lock",
		"explain for connection 7", "alter instance disable innodb redo_log", "alter instance rotate innodb master key",
	}
	for _, text := range refusedTypes {
		texts = append(texts, text)
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		if s, err := Parse(lexText(text)); err == nil && s.Kind != Admin && s.Kind != Account {
			t.Errorf("%s: kind %d", text, s.Kind)
		}
	}
}
