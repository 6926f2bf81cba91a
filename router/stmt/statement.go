package stmt

// Kind is the kind of a statement, as needed for routing.
type Kind uint8

const (
	// Other statements are supported by the parser and have no rule of their own.
	Other Kind = iota
	Select
	Insert
	Replace
	Update
	Delete
	Begin
	Commit
	Rollback
	Savepoint // SAVEPOINT, ROLLBACK TO, RELEASE
	Set
	Use
	Show         // SHOW, DESCRIBE
	ShowWarnings // SHOW WARNINGS, SHOW ERRORS
	Explain
	CreateSchema // CREATE, ALTER and DROP DATABASE
	DDL
	Kill
	Call
	Procedure // CALL of a procedure of the proxies' own schema
	Lock      // LOCK TABLES
	Unlock    // UNLOCK TABLES
	TextPrepare
	Handler // HANDLER, which the parser doesn't support
	Account // CREATE USER, GRANT, …
	Admin   // FLUSH, SHUTDOWN, BINLOG, …: administration of one server
	LoadData
	XA       // XA START and the like, which the parser doesn't support
	Diagnose // GET DIAGNOSTICS
	// LockServers: FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP, UNLOCK INSTANCE.
	LockServers
)

// Feature marks something in a statement that depends on its connection, or affects how it may be run.
type Feature uint32

const (
	// ReadsUserVariable and SetsUserVariable: @x, @x := 1.
	ReadsUserVariable Feature = 1 << iota
	SetsUserVariable
	// ReadsInsertID: LAST_INSERT_ID(), @@last_insert_id, @@identity.
	ReadsInsertID
	// SetsInsertID: LAST_INSERT_ID(expr).
	SetsInsertID
	// CalcFoundRows: SQL_CALC_FOUND_ROWS.
	CalcFoundRows
	// ReadsRowCount: FOUND_ROWS(), ROW_COUNT().
	ReadsRowCount
	// ReadsConnectionID: CONNECTION_ID().
	ReadsConnectionID
	// NamedLock: GET_LOCK() and functions that release locks. ReadsNamedLock: functions that only check them.
	NamedLock
	ReadsNamedLock
	// Locking: FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
	Locking
	// IntoTarget: SELECT … INTO a file.
	IntoTarget
	// Union: UNION, INTERSECT, EXCEPT.
	Union
	// With: common table expressions.
	With
	// Windows: window functions.
	Windows
	// TemporaryTable: CREATE or DROP TEMPORARY TABLE.
	TemporaryTable
	// AndChain and Release are options of COMMIT and ROLLBACK.
	AndChain
	Release
	// ReadsClock: NOW() and the like, which are the same for all rows of a statement.
	ReadsClock
	// Volatile: RAND(), UUID(), system variables and so on, which depend on the server or differ at each call.
	Volatile
	// Limited: it contains LIMIT.
	Limited
	// SwitchesKeys: ALTER TABLE … DISABLE KEYS, and ENABLE.
	SwitchesKeys
	// Program: CREATE PROCEDURE, whose body is not read, and DROP PROCEDURE.
	Program
	// DropsSchema: DROP DATABASE, and CREATE OR REPLACE DATABASE.
	DropsSchema
	// UnknownFunction: a function that isn't known to depend on one row only. It may be stored, read tables, or be an
	// aggregate.
	UnknownFunction
	// Returning: MariaDB's INSERT, REPLACE or DELETE … RETURNING, which returns rows.
	Returning
	// ClearsStatus: FLUSH STATUS.
	ClearsStatus
	// Redefines: ALTER, DROP or TRUNCATE TABLE, CREATE or DROP INDEX. Tables then have the same names as before, or are
	// gone.
	Redefines
	// MakesTable: CREATE TABLE, except for temporary tables. The first table is the created one.
	MakesTable
	// OneServer: a function or variable whose value depends on the number of the row or on the server that computes it:
	// RAND(seed), UUID_SHORT(), @@server_id. Servers that each compute it for a part of the rows return other values
	// than one server for all rows.
	OneServer
	// Scored: MATCH … AGAINST whose relevance shows, because it isn't only a condition, or chooses rows by it. A server
	// computes the relevance from all of its rows.
	Scored
)

// Statement is the result of fully reading one text.
type Statement struct {
	Kind     Kind
	Features Feature
	Counter  Counter
	// Blocks are the query blocks, outermost first: a SELECT, the table part of an UPDATE or DELETE, every subquery, derived
	// table and arm of a UNION.
	Blocks []*Block
	// Arms are the arms of a UNION ALL of at least two plain SELECTs without parentheses, all with a FROM clause. Nil for all other
	// statements. ArmsLimit is the LIMIT of such a statement. ArmsOrdered reports whether it has ORDER BY.
	Arms        []*Block
	ArmsLimit   *Limit
	ArmsOrdered bool
	Insert      *Insertion   // for Insert, Replace
	Assign      []Assignment // for Update
	// SetClause is the end of an UPDATE's assignment list, and SetStart its start.
	SetClause, SetStart Anchor
	// References are the tables, with their joins, of an UPDATE or DELETE. Nil: their place is not known.
	References *Stretch
	Variables  []Variable // for Set
	Kill       *Killing   // for Kill; nil if it names something other than a connection
	OwnCall    *OwnCall   // for Procedure
	// Schema is the schema in Use and CreateSchema.
	Schema string
	// Tables are those named outside of query blocks, in DDL and SHOW.
	Tables []TableName
	// Inner is the offset of the text that an Explain explains. Analyzes reports whether it is executed for that. Formatted reports
	// whether the Explain names the form of its answer.
	Inner               int
	Analyzes, Formatted bool
	// Owned are the places that refer to the session. Unnamed are the fields whose names may contain such places.
	Owned   []Owned
	Unnamed []Unnamed
	// Assigns are the user variables that a query assigns, and ReadVariables those that it reads, in lower case.
	Assigns, ReadVariables []string
	// AssignsWithin reports whether expressions of the query assign variables. Otherwise only INTO does, with the row of the answer.
	AssignsWithin bool
	// Shown describes a SHOW about the session, Prepared a TextPrepare, LockTables a Lock.
	Shown      *Shown
	Listed     *Listed // for a SHOW of databases, or of a database's contents
	BuiltIn    bool    // a SHOW that is equal on servers of one version
	Replicates bool    // a SHOW of a server's binary log or replication
	Prepared   *TextPrepared
	LockTables []LockTable
	LockWait   string      // of LOCK TABLES: empty, or " NOWAIT", or " WAIT n"
	ServerLock ServerLock  // for LockServers
	Diagnosing *Diagnosing // for Diagnose
	Load       *Loading    // for LoadData; nil for LOAD XML
	// Hints are the texts of optimizer hints, /*+ … */, without delimiters.
	Hints []string
	// Limited: SET STATEMENT … FOR precedes it. Servers report that as a change of the connection's state.
	Limited bool
	// Examined: LIMIT ROWS EXAMINED bounds the rows that a server reads for it.
	Examined bool
	// Called are the functions in query expressions, and the procedure of CALL.
	Called []Called
	// View: CREATE VIEW, whose first table is the view, or DROP VIEW. Ordered: its query has ORDER BY without LIMIT. Varies:
	// its text has a backslash or a non-ASCII character.
	View, Ordered, Varies bool
	// Defined is the procedure or function that a definition creates, alters or drops, or nil. It may be nil too if the text begins in an
	// uncommon way.
	Defined *RoutineDefinition
	// Trigger is the trigger that a definition creates or drops, or nil.
	Trigger *TriggerDefinition
	// IfNotExists is the position of these words in a CREATE TABLE, or nil.
	IfNotExists *Stretch
	// IfExists: DROP TABLE, DROP VIEW or RENAME TABLE has these words. OneDialect: a RENAME TABLE may have clauses that only MariaDB
	// supports.
	IfExists, OneDialect bool
	// DefinitionsEnd is the end of the list of columns and keys in a CREATE TABLE, before its parenthesis, or nil if it has
	// none.
	DefinitionsEnd *Anchor
	// Altering describes the changes of an ALTER TABLE to columns, or is nil for other statements.
	Altering *Altering
	// DroppedKeys are the names of the keys that ALTER TABLE or DROP INDEX drops.
	DroppedKeys []string
	// ForeignKeys are those that CREATE or ALTER TABLE makes, of its first table.
	ForeignKeys []ForeignKey
	// Renames are the tables' names and new names in RENAME TABLE and ALTER TABLE … RENAME. RenamesAlone: it does nothing else.
	Renames      []Rename
	RenamesAlone bool
	// Filling is the query of CREATE TEMPORARY TABLE … SELECT, or nil.
	Filling *Filling
	// Like is the table that CREATE TABLE … LIKE names, or nil.
	Like *TableName
	// Renumbers: CREATE TABLE, TRUNCATE, or ALTER TABLE that sets AUTO_INCREMENT. A server may then number on from another number.
	Renumbers bool
	// Comment is the comment that CREATE or ALTER TABLE gives the table, or nil. CommentAlone: an ALTER TABLE does nothing
	// else.
	Comment      *string
	CommentAlone bool
	// Locks are the lock names in GET_LOCK() calls.
	Locks []Operand
	// IgnoresErrors: UPDATE IGNORE. ReadsDefault: it contains DEFAULT(column).
	IgnoresErrors, ReadsDefault bool
	// Reaches is a function that accesses the server's state. Routine is the routine of a Call.
	Reaches string
	Routine *TableName
	// Unread is the decision, based on the tokens alone, about a text that has no syntax tree or contains a program; nil for
	// others.
	Unread *Reach
	// Files is the option by which a definition stores rows in files or servers that the text chooses, or "".
	Files string
	// Verbatim: the result depends on the text of a literal, so it isn't valid for other texts of the same key.
	Verbatim bool
	Facts
}

// Stretch is a piece of a text.
type Stretch struct{ Start, End Anchor }

// TableName is a table as written. Schema may be empty.
type TableName struct{ Schema, Name string }

// Rename is a table's name and its new one.
type Rename struct{ From, To TableName }

// Called is a routine as written. Own reports whether it has no schema and the name of a built-in function.
type Called struct {
	TableName
	Own bool
}

// TableRef is one table of a query block.
type TableRef struct {
	TableName
	// Alias is the qualifier of its columns: the alias, or the name.
	Alias string
	// Nullable: the table is on the optional side of an outer join.
	Nullable bool
	// Derived tables and common table expressions have no name of their own.
	Derived bool
	// Source is the block whose fields a derived table has, if that is one SELECT read by nothing else.
	Source *Block
	// Written: the statement changes its rows.
	Written bool
	// Partitioned: the statement names partitions of it, with PARTITION (…).
	Partitioned bool
}

// Block is one SELECT, or the table part of an UPDATE or DELETE.
type Block struct {
	Parent *Block // nil for the outermost
	Tables []TableRef
	// Where holds for every row of the result: WHERE and the conditions of inner joins.
	Where *Condition
	// Joins are the conditions of outer joins and of joins within them.
	Joins   []JoinCondition
	Fields  []Field
	Order   []OrderItem
	Limit   *Limit
	Grouped bool // GROUP BY
	Rollup  bool // WITH ROLLUP
	// Groups are the plain columns in GROUP BY.
	Groups  []ColumnRef
	Having  bool
	Limited bool // LIMIT at any depth; Limit is the outermost block's
	// Distinct reports SELECT DISTINCT.
	Distinct bool
	// From is the start of the FROM clause. HasFrom reports whether its position is known, as for an outermost block without
	// parentheses.
	From    Anchor
	HasFrom bool
	// Filter is where a condition on all rows can be added, if HasFilter is set.
	Filter    Filter
	HasFilter bool
	// Braced: parentheses enclose the whole block, so the positions of ORDER BY and LIMIT are unknown.
	Braced bool
	// Natural: the block has a NATURAL JOIN, or a USING of more than two tables, whose conditions are not read.
	Natural, Using bool
	// Merged are the columns that USING merges.
	Merged []MergedColumn
}

// Filter is the position of a WHERE clause.
type Filter struct {
	There bool   // the clause exists: its condition is from Open to Close
	Open  Anchor // if there is no clause, one can be inserted between Open and Close
	Close Anchor
}

// JoinCondition is the ON of an outer join, or of a join within its optional side. It is true for joined rows of
// Tables[First:Last]. It doesn't restrict other rows.
type JoinCondition struct {
	On          *Condition
	First, Last int
}

// MergedColumn is a column of USING. Without a table's name it refers to the column of Alias. Tables are all tables whose
// columns it represents.
type MergedColumn struct {
	Name, Alias string
	Tables      []string
}

// ConditionKind is an operator that matters for routing.
type ConditionKind uint8

const (
	// Opaque conditions may hold for any row.
	Opaque ConditionKind = iota
	And
	Or
	// Equal compares a column with operands: one for =, several for IN.
	Equal
	// Join compares two columns for equality.
	Join
	// Between bounds a column by two operands, inclusive. A nil bound is open.
	Between
	// Within compares a column with a field of a subquery: IN (SELECT …).
	Within
)

// Condition is a node of a WHERE clause.
type Condition struct {
	Kind     ConditionKind
	Args     []*Condition // for And, Or
	Column   ColumnRef    // for Equal, Join, Between, Within
	Other    ColumnRef    // for Join
	Operands []Operand    // for Equal
	Low      *Operand     // for Between
	High     *Operand
	NullSafe bool // for <=>
	// InRows reports whether it is part of a list of rows, (a, b) IN ((1, 2), …). For Equal, Beside holds all rows' values
	// at its place.
	InRows bool
	Beside []Operand
	// Query and Field are the subquery and its field with which Within compares. Query is nil unless it is a single SELECT.
	Query *Block
	Field int
}

// ColumnRef is a column as written.
type ColumnRef struct{ Schema, Table, Name string }

// Operand is a value that a statement compares with or assigns.
type Operand struct {
	Slot     int32 // the literal's slot, or -1
	Const    Value // the value if there is no slot; Unknown if only the server can compute it
	Negative bool
	// InsertID represents LAST_INSERT_ID().
	InsertID bool
	// Variable is a user variable, in lower case, that holds the value.
	Variable string
	// Position is the operand's offset in the parsed text.
	Position int
}

// Known reports whether the operand's value can be known without the server.
func (o Operand) Known() bool {
	return o.Slot >= 0 || o.Const.Kind != Unknown || o.InsertID || o.Variable != ""
}

// Aggregate is an aggregate function.
type Aggregate uint8

const (
	NoAggregate Aggregate = iota
	Count
	Sum
	Min
	Max
	Avg
	// OtherAggregate can't be merged, or is part of an expression.
	OtherAggregate
)

// Field is one item of a SELECT list.
type Field struct {
	Star      bool   // * or t.*
	StarOf    string // the t of t.*
	StarAt    Anchor // its position
	Alias     string
	Column    *ColumnRef // a plain column
	Aggregate Aggregate
	Distinct  bool      // DISTINCT within the aggregate
	Argument  ColumnRef // the aggregate's argument if that is a plain column
	// ArgumentStart and ArgumentEnd enclose the aggregate's argument.
	ArgumentStart, ArgumentEnd Anchor
}

// OrderItem is one item of ORDER BY.
type OrderItem struct {
	Column   *ColumnRef // exactly one of Column and Position is set
	Position Operand    // a number refers to a field
	Literal  bool       // Position is set
	Constant bool       // a constant such as NULL, which doesn't sort
	Desc     bool
}

// Limit is a LIMIT clause with the positions of its numbers.
type Limit struct {
	Count  Operand
	Offset *Operand
	// Start and End enclose the whole clause.
	Start, End Anchor
	// CountAt is where a count can be inserted if the text has none, or nil. Without one, all rows are returned.
	CountAt *Anchor
	// Ties: rows that sort as the last one are returned too.
	Ties bool
	// Unplaced: it exists, and nothing else is known.
	Unplaced bool
}

// Divides reports whether several servers that each have a part of the rows can apply the clause to their parts, with other numbers.
func (l *Limit) Divides() bool { return !l.Ties && !l.Unplaced }

// Insertion is the contents of INSERT or REPLACE.
type Insertion struct {
	Table   TableName
	Columns []string // as written; nil without a list
	// ColumnsEnd is the list's closing parenthesis. Without a list it is where one can be inserted.
	ColumnsEnd Anchor
	HasList    bool
	Ignore     bool
	// FromSelect: the rows come from a query. It begins at Query, including a parenthesis around it, and ends with the
	// statement or at ON DUPLICATE KEY UPDATE. Placed reports whether Query is known.
	FromSelect bool
	Query      Anchor
	Placed     bool
	// Set is the values of INSERT … SET. SetStart is the start of the list.
	Set      []Assignment
	SetStart Anchor
	// Update is the list of ON DUPLICATE KEY UPDATE, which extends to the end of the statement.
	Update []Assignment
	End    Anchor
	// Tail is the start of ON DUPLICATE KEY UPDATE behind a query, else End. TailReads are the columns that it reads other
	// than by VALUES(). TailQueries reports whether it reads tables.
	Tail        Anchor
	TailReads   []ColumnRef
	TailQueries bool
	// Partitioned: it has PARTITION (…).
	Partitioned bool
	// As is the alias of the rows, or nil.
	As *RowAlias
	// Empty: it has no list of columns, and its first row no values, so that all columns have their defaults.
	Empty bool
}

// Assignment is column = value.
type Assignment struct {
	Column ColumnRef
	Value  Operand
	// Same: the value is the column itself, or LAST_INSERT_ID(column).
	Same bool
	// FromRow is the column of the new row whose value ON DUPLICATE KEY UPDATE assigns unchanged, by VALUES(column) or by the
	// alias of the rows. It is empty for other assignments.
	FromRow string
	// Reads are the columns that the value of an UPDATE depends on. Queries: it contains a query.
	Reads   []ColumnRef
	Queries bool
}

// Variable is one assignment of SET.
type Variable struct {
	Name   string // in lower case, without @ or @@
	User   bool   // @name
	Global bool   // GLOBAL, PERSIST
	// NextOnly: SET TRANSACTION without SESSION.
	NextOnly bool
	Value    Value
	// Expression is the text if a server must compute the value.
	Expression string
	Collation  string // SET NAMES … COLLATE
}
