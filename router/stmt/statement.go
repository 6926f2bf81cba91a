package stmt

// Kind says what a statement is, as far as routing must know.
type Kind uint8

const (
	// Other statements are known to the parser and have no rule of their own.
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
	Handler // HANDLER, which the parser doesn't know
	Account // CREATE USER, GRANT, …
	Admin   // FLUSH, SHUTDOWN, BINLOG, …: the server's own affairs
	LoadData
	XA       // XA START and its kin, which the parser doesn't know
	Diagnose // GET DIAGNOSTICS
	// LockServers: FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP, UNLOCK INSTANCE.
	LockServers
)

// Feature marks what a statement uses that depends on the connection it runs
// on, or that changes how it may be run.
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
	// NamedLock: GET_LOCK() and what releases locks; ReadsNamedLock: what only
	// looks at them.
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
	// AndChain and Release are written at COMMIT and ROLLBACK.
	AndChain
	Release
	// ReadsClock: NOW() and its kin, the same for all rows of a statement.
	ReadsClock
	// Volatile: RAND(), UUID(), system variables, … : what one server says of
	// itself, or differently each time.
	Volatile
	// Limited: LIMIT stands somewhere.
	Limited
	// SwitchesKeys: ALTER TABLE … DISABLE KEYS, and ENABLE.
	SwitchesKeys
	// Program: CREATE PROCEDURE, whose body is not read; and DROP PROCEDURE.
	Program
	// DropsSchema: DROP DATABASE, and CREATE OR REPLACE DATABASE.
	DropsSchema
	// UnknownFunction: a function that isn't known to look at one row only. It
	// may be stored, read tables, or be an aggregate.
	UnknownFunction
	// Returning: MariaDB's INSERT, REPLACE or DELETE … RETURNING, which answers
	// with rows.
	Returning
	// ClearsStatus: FLUSH STATUS.
	ClearsStatus
	// Redefines: ALTER, DROP or TRUNCATE TABLE, CREATE or DROP INDEX, after which
	// tables have the names that they had, or none.
	Redefines
	// MakesTable: CREATE TABLE, of which the first table is the one that is made. Temporary
	// ones are none.
	MakesTable
)

// Statement is the full reading of one text.
type Statement struct {
	Kind     Kind
	Features Feature
	Counter  Counter
	// Blocks are the query blocks, the outermost first: a SELECT, the table part
	// of an UPDATE or DELETE, every subquery, derived table and arm of a UNION.
	Blocks []*Block
	Insert *Insertion   // Insert, Replace
	Assign []Assignment // Update
	// SetClause is where an UPDATE's list of assignments ends.
	SetClause Anchor
	Variables []Variable // Set
	Kill      *Killing   // Kill; nil: it names something else than a connection
	OwnCall   *OwnCall   // Procedure
	// Schema is what Use and CreateSchema name.
	Schema string
	// Tables that are named outside of query blocks: DDL, SHOW.
	Tables []TableName
	// Inner is the text that an Explain explains, by its offset. Analyzes: it is run for that.
	Inner    int
	Analyzes bool
	// Owned are the places that speak of the session, Unnamed the fields that
	// are named by a text which may have such places.
	Owned   []Owned
	Unnamed []Unnamed
	// Assigns and ReadVariables are user variables, in lower case: those that a
	// query gives values, and those that are read.
	Assigns, ReadVariables []string
	// Shown is what a SHOW shows, where it speaks of the session; Prepared the rest
	// of TextPrepare, LockTables that of Lock.
	Shown      *Shown
	Listed     *Listed // of a SHOW that lists databases, or what is in one
	BuiltIn    bool    // a SHOW of what servers of one version have alike
	Prepared   *TextPrepared
	LockTables []LockTable
	ServerLock ServerLock  // of LockServers
	Diagnosing *Diagnosing // Diagnose
	Load       *Loading    // LoadData; nil: LOAD XML
	// Hints are the texts of optimizer hints, /*+ … */, without their delimiters.
	Hints []string
	// Called are the functions of query expressions, and the procedure of CALL.
	Called []Called
	// View: CREATE VIEW, of which the first table is the view, or DROP VIEW. Ordered: its query
	// has ORDER BY without LIMIT. Varies: its text has a backslash, or what is not ASCII.
	View, Ordered, Varies bool
	// IfNotExists is where these words stand in a CREATE TABLE; nil: it doesn't say them.
	IfNotExists *Stretch
	// DefinitionsEnd is where the list of columns and keys ends in a CREATE TABLE, before its parenthesis; nil: it has none.
	DefinitionsEnd *Anchor
	// Altering is what an ALTER TABLE does to columns; nil: it is none.
	Altering *Altering
	// SetsNumber: CREATE or ALTER TABLE that says where AUTO_INCREMENT goes on.
	SetsNumber bool
	// Comment is that which CREATE or ALTER TABLE gives the table; nil: none. CommentAlone: it
	// is all that an ALTER TABLE does.
	Comment      *string
	CommentAlone bool
	// Locks are the names that GET_LOCK() is called with.
	Locks []Operand
	// IgnoresErrors: UPDATE IGNORE. ReadsDefault: DEFAULT(column) stands somewhere.
	IgnoresErrors, ReadsDefault bool
	// Reaches is a function that reaches the server; Routine is what Call calls.
	Reaches string
	Routine *TableName
	// Verbatim: what was read here depends on the text of a literal, so it does
	// not hold for other texts of the same key.
	Verbatim bool
	Facts
}

// Stretch is a piece of a text.
type Stretch struct{ Start, End Anchor }

// TableName is a table as it was written; Schema may be empty.
type TableName struct{ Schema, Name string }

// Called is a routine as it was written. Own: without a schema it has the name of
// one of the servers' own functions.
type Called struct {
	TableName
	Own bool
}

// TableRef is one table of a query block.
type TableRef struct {
	TableName
	// Alias is what columns are qualified by: the alias, or the name.
	Alias string
	// Nullable: the table is on the side of an outer join that may be absent.
	Nullable bool
	// Derived tables and common table expressions have no name of their own.
	Derived bool
	// Source is the block whose fields a derived table has, where that is one
	// SELECT which nothing else reads.
	Source *Block
	// Written: the statement changes rows of it.
	Written bool
}

// Block is one SELECT, or the table part of an UPDATE or DELETE.
type Block struct {
	Parent *Block // nil for the outermost
	Tables []TableRef
	// Where holds for every row of the answer: WHERE and the conditions of inner joins.
	Where *Condition
	// Joins are the conditions of outer joins, and of joins within them.
	Joins   []JoinCondition
	Fields  []Field
	Order   []OrderItem
	Limit   *Limit
	Grouped bool // GROUP BY
	// Groups are the plain columns among what rows are grouped by.
	Groups  []ColumnRef
	Having  bool
	Limited bool // LIMIT, at any depth; Limit is the outermost block's
	// Distinct rows only.
	Distinct bool
	// From is where the FROM clause begins; HasFrom says that its place is known,
	// which it is for an outermost block outside of parentheses.
	From    Anchor
	HasFrom bool
	// Filter is where a condition on all rows may be added, if HasFilter.
	Filter    Filter
	HasFilter bool
	// Braced: parentheses stand around the whole block, so that ORDER BY and
	// LIMIT have no known place.
	Braced bool
	// Natural: the block has a NATURAL JOIN, or a USING of more than two tables,
	// whose conditions are not read.
	Natural, Using bool
	// Merged are the columns that USING makes one of.
	Merged []MergedColumn
}

// Filter is the place of a WHERE clause.
type Filter struct {
	There bool   // there is one: its condition begins at Open and ends at Close
	Open  Anchor // without one, Open and Close are where it may be put
	Close Anchor
}

// JoinCondition is the ON of an outer join, or of a join within the side that
// may be absent. It holds for the rows of Tables[First:Last] that are joined,
// and says nothing of the others.
type JoinCondition struct {
	On          *Condition
	First, Last int
}

// MergedColumn is a column of USING: without a table's name it means that of
// Alias. Tables are all whose columns it stands for.
type MergedColumn struct {
	Name, Alias string
	Tables      []string
}

// ConditionKind is an operator that routing understands.
type ConditionKind uint8

const (
	// Opaque conditions may hold for any row.
	Opaque ConditionKind = iota
	And
	Or
	// Equal compares a column with operands: = has one, IN several.
	Equal
	// Join compares two columns for equality.
	Join
	// Between holds a column within two operands, inclusive; a nil bound is open.
	Between
	// Within compares a column with a field of a subquery: IN (SELECT …).
	Within
)

// Condition is a node of a WHERE clause.
type Condition struct {
	Kind     ConditionKind
	Args     []*Condition // And, Or
	Column   ColumnRef    // Equal, Join, Between, Within
	Other    ColumnRef    // Join
	Operands []Operand    // Equal
	Low      *Operand     // Between
	High     *Operand
	NullSafe bool // <=>
	// InRows: it comes from a list of rows, (a, b) IN ((1, 2), …). Beside is what all the rows
	// have in its place, of Equal.
	InRows bool
	Beside []Operand
	// Query and Field are what Within compares with; Query is nil where it is no
	// single SELECT.
	Query *Block
	Field int
}

// ColumnRef is a column as it was written.
type ColumnRef struct{ Schema, Table, Name string }

// Operand is a value that a statement compares with or assigns.
type Operand struct {
	Slot     int32 // the literal's slot, or -1
	Const    Value // without a slot; Unknown when only the server can compute it
	Negative bool
	// InsertID stands for LAST_INSERT_ID().
	InsertID bool
	// Variable is the user variable, in lower case, whose value is meant.
	Variable string
	// Position is the operand's offset in the text that was parsed.
	Position int
}

// Known tells whether the operand is a value before the server sees it.
func (o Operand) Known() bool {
	return o.Slot >= 0 || o.Const.Kind != Unknown || o.InsertID || o.Variable != ""
}

// Aggregate is a function over the rows of an answer.
type Aggregate uint8

const (
	NoAggregate Aggregate = iota
	Count
	Sum
	Min
	Max
	Avg
	// OtherAggregate can't be merged, or stands within an expression.
	OtherAggregate
)

// Field is one item of a SELECT list.
type Field struct {
	Star      bool   // * or t.*
	StarOf    string // the t of t.*
	StarAt    Anchor // where it stands
	Alias     string
	Column    *ColumnRef // a plain column
	Aggregate Aggregate
	Distinct  bool      // within the aggregate
	Argument  ColumnRef // the aggregate's argument where that is a plain column
	// ArgumentText is the aggregate's argument as it was written.
	ArgumentStart, ArgumentEnd Anchor
}

// OrderItem is one item of ORDER BY.
type OrderItem struct {
	Column   *ColumnRef // or
	Position Operand    // a number counts fields
	Literal  bool       // Position is set
	Constant bool       // NULL, or another value: it sorts nothing
	Desc     bool
}

// Limit is a LIMIT clause with the places of its numbers.
type Limit struct {
	Count  Operand
	Offset *Operand
	// Start and End surround the whole clause.
	Start, End Anchor
	// Unplaced: nothing is known but that there is one.
	Unplaced bool
}

// Insertion is what follows INSERT or REPLACE.
type Insertion struct {
	Table   TableName
	Columns []string // as written; nil without a list
	// ColumnsEnd is the closing parenthesis of the list; without a list it is
	// where one may be put.
	ColumnsEnd Anchor
	HasList    bool
	Ignore     bool
	// FromSelect: the rows come from a query, which begins at Query, a parenthesis
	// around it included, and ends where the statement does or ON DUPLICATE KEY
	// UPDATE begins. Placed: Query is known.
	FromSelect bool
	Query      Anchor
	Placed     bool
	// Set is INSERT … SET: the values, and where the list of them begins.
	Set      []Assignment
	SetStart Anchor
	// Update is the list of ON DUPLICATE KEY UPDATE, which ends at the
	// statement's end.
	Update []Assignment
	End    Anchor
	// Tail is where ON DUPLICATE KEY UPDATE begins behind a query, else End.
	// TailReads are the columns that it computes with other than by VALUES(), and
	// TailQueries says that it reads tables.
	Tail        Anchor
	TailReads   []ColumnRef
	TailQueries bool
	// Partitioned: PARTITION (…) was written.
	Partitioned bool
}

// Assignment is column = value.
type Assignment struct {
	Column ColumnRef
	Value  Operand
	// Same: the value is the column itself, or LAST_INSERT_ID(column).
	Same bool
}

// Variable is one assignment of SET.
type Variable struct {
	Name   string // lower case, without @ or @@
	User   bool   // @name
	Global bool   // GLOBAL, PERSIST
	// NextOnly: SET TRANSACTION without SESSION.
	NextOnly bool
	Value    Value
	// Expression is the text when the value must be computed by a server.
	Expression string
	Collation  string // SET NAMES … COLLATE
}
