package plan

import (
	"fmt"

	"locus/router/catalog"
)

// Code is the stable number of the reason why a statement is refused. docs/troubleshoot/errors.md lists all codes.
type Code uint16

const (
	// Unreadable: no parser can read the statement, and it names a declared table.
	Unreadable Code = 1001
	// SeveralStatements: the text has several statements.
	SeveralStatements Code = 1002
	// Unsupported: the statement is not supported so far.
	Unsupported Code = 1003
	// BrokenTable: the declaration does not fit the live table, or the name differs from the declared one in letter case.
	BrokenTable Code = 1004
	// UncertainText: servers may read the text differently from the proxy.
	UncertainText Code = 1005
	// Ambiguous: the table isn't declared, and isn't on the default shard alone.
	Ambiguous Code = 1006
	// TooFar: a view, routine, trigger or event uses tables that its shard doesn't have.
	TooFar Code = 1007
	// NotAllowed: the statement reaches the server rather than the tables that it names.
	NotAllowed Code = 1008
	// TooLarge: the statement is too large to be planned, or the session would keep more than it may.
	TooLarge Code = 1009
	// Undeclarable: a table can't be declared as its comment specifies.
	Undeclarable Code = 1010
	// ColumnKept: a definition would remove or change a column by which rows of a declared table are placed or made.
	ColumnKept Code = 1011
	// ShardNamed: the session has chosen a shard for its statements, and this statement can't be sent to it.
	ShardNamed Code = 1012

	// CrossShard: the rows that the statement joins may be on different shards.
	CrossShard Code = 1101
	// ScatterShape: the answers of several shards can't be combined so far.
	ScatterShape Code = 1102
	// ScatterRefused: the user may not read several shards at once.
	ScatterRefused Code = 1104
	// GatherLimit: the rows to gather from several shards exceed the limit of rows or bytes.
	GatherLimit Code = 1105
	// UnfilteredRefused: the user may not change all rows of a table at once.
	UnfilteredRefused Code = 1106
	// OffsetRefused: the user may not skip so many rows of several shards.
	OffsetRefused Code = 1107
	// ScatterWrite: a write names no owner, ID or order number.
	ScatterWrite Code = 1103

	// OwnerMissing: an INSERT has no value for the owner.
	OwnerMissing Code = 1201
	// OwnerUnusable: the owner's value can't be hashed.
	OwnerUnusable Code = 1202
	// GeneMismatch: an ID, order number or gene belongs to another owner.
	GeneMismatch Code = 1203
	// KeyChange: an UPDATE would change a row's gene.
	KeyChange Code = 1204
	// RowShape: the number of values in a row is not the number of columns.
	RowShape Code = 1205
	// NumberMismatch: an order number belongs to another ID.
	NumberMismatch Code = 1206
	// UnknownColumn: the table has no such column, or several tables have it.
	UnknownColumn Code = 1207

	// ServerNumbers: each shard would number the rows of an INSERT by its own AUTO_INCREMENT.
	ServerNumbers Code = 1208
	// UniqueUnseen: the statement can't handle a duplicate as requested, because the other row may be on another shard.
	UniqueUnseen Code = 1209
	// Indexed: the statement can't maintain a look-up index of its table.
	Indexed Code = 1211
	// CopiesDiffer: a row of a global table would get a different value on each shard.
	CopiesDiffer Code = 1210

	// TransactionSpans: a transaction would use a second shard.
	TransactionSpans Code = 1301
	// TransactionUnsafe: a transaction would use a shard on which it can't be committed in two phases.
	TransactionUnsafe Code = 1302
)

// These are MySQL's error numbers and SQLSTATEs for refusals.
const (
	erUnknown      = 1105
	erNotSupported = 1235
	erParse        = 1064
	erNoDatabase   = 1046
	erWrongCount   = 1136
	erBadField     = 1054
	stateBadField  = "42S22"
	erNoSuchTable  = 1146
	stateNoTable   = "42S02"
	erNoDefault    = 1364
	stateGeneral   = "HY000"
	stateSyntax    = "42000"
	stateCount     = "21S01"
)

// Refusal is the error of a statement that is not run. The statement has no effect.
type Refusal struct {
	Code    Code
	Message string
	// Table is the table that does not fit its declaration, if that is the reason. It can be empty.
	Table catalog.TableName
	// Near is set if every server would refuse the text too. It contains the text and the line that a server's syntax error
	// names.
	Near *Near
	// Unread is true if the parser doesn't know such a statement. A server might refuse it as a syntax error, with a better
	// message.
	Unread bool
	// ColumnsDiffer is true if the shards' answers have different columns. Their tables may have changed since the statement was
	// planned.
	ColumnsDiffer bool
}

// Near is the place in a text where a server stopped reading.
type Near struct {
	Text string
	Line int
}

func (r *Refusal) Error() string { return r.Code.String() + ": " + r.Message }

// String returns the code as errors contain it.
func (c Code) String() string { return fmt.Sprintf("locus-%d", uint16(c)) }

// MySQL returns the error number and SQLSTATE for the client.
func (r *Refusal) MySQL() (uint16, string) {
	switch r.Code {
	case Unreadable, SeveralStatements, UncertainText:
		return erParse, stateSyntax
	case Unsupported, Ambiguous, TooFar, NotAllowed, TooLarge, CrossShard, ScatterShape, ScatterWrite, ScatterRefused, GatherLimit, UnfilteredRefused, OffsetRefused, TransactionSpans, TransactionUnsafe,
		UniqueUnseen, Indexed, CopiesDiffer, ColumnKept, ShardNamed:
		return erNotSupported, stateSyntax
	case OwnerMissing, ServerNumbers:
		return erNoDefault, stateGeneral
	case RowShape:
		return erWrongCount, stateCount
	case UnknownColumn:
		return erBadField, stateBadField
	case BrokenTable, Undeclarable, OwnerUnusable, GeneMismatch, KeyChange, NumberMismatch:
	}
	return erUnknown, stateGeneral
}

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// DisturbsMove returns the refusal of a statement that would disturb a move of genes.
func DisturbsMove(what string) error {
	return &Refusal{Code: Unsupported, Message: what + " while genes are being moved: wait until locus jobs shows that the job has ended"}
}

// FreedWhileMoving returns the refusal of a write of a value that the transaction has removed from a row of another shard. Its own shard has a copy
// of that row, which still has the value.
func FreedWhileMoving() error {
	return &Refusal{Code: Unsupported, Message: "a write of a value that this transaction has removed from another row, whose genes are being moved: commit the removal first, in a transaction of its own, or wait until locus jobs shows that the job has ended"}
}
