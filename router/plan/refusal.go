package plan

import (
	"fmt"

	"locus/router/catalog"
)

// Code is the stable number of a reason why a statement is refused. docs/errors.md
// lists them all.
type Code uint16

const (
	// Unreadable: no parser can read it, and it names a declared table.
	Unreadable Code = 1001
	// SeveralStatements in one text.
	SeveralStatements Code = 1002
	// Unsupported altogether, so far.
	Unsupported Code = 1003
	// BrokenTable: the declaration does not fit the live table, or the name is
	// the declared one's in another letter case.
	BrokenTable Code = 1004
	// UncertainText: servers may read it in another way than the proxy.
	UncertainText Code = 1005
	// Ambiguous: a table that isn't declared, and isn't on the default shard alone.
	Ambiguous Code = 1006
	// TooFar: a view, routine, trigger or event reaches more than its shard has.
	TooFar Code = 1007
	// NotAllowed: it reaches the server rather than the tables that it names.
	NotAllowed Code = 1008
	// TooLarge to be planned, or to be held.
	TooLarge Code = 1009
	// Undeclarable: a table can't be declared as its comment says.
	Undeclarable Code = 1010
	// ColumnKept: a definition would take away or change a column by which rows of a declared table are placed or made.
	ColumnKept Code = 1011
	// ShardNamed: the session has named a shard for its statements, and this one can't be sent to it.
	ShardNamed Code = 1012

	// CrossShard: the rows it joins may live on different shards.
	CrossShard Code = 1101
	// ScatterShape: it can't be merged from several shards' answers, so far.
	ScatterShape Code = 1102
	// ScatterRefused: the user may not read several shards at once.
	ScatterRefused Code = 1104
	// GatherLimit: more rows or bytes of several shards would be gathered than may.
	GatherLimit Code = 1105
	// UnfilteredRefused: the user may not change all rows of a table at once.
	UnfilteredRefused Code = 1106
	// OffsetRefused: the user may not skip so many rows of several shards.
	OffsetRefused Code = 1107
	// ScatterWrite: a write that names no owner, ID or order number.
	ScatterWrite Code = 1103

	// OwnerMissing: an INSERT without its owner.
	OwnerMissing Code = 1201
	// OwnerUnusable: the owner's value is no value that can be hashed.
	OwnerUnusable Code = 1202
	// GeneMismatch: an ID, order number or gene that is not its owner's.
	GeneMismatch Code = 1203
	// KeyChange: an UPDATE would give a row another gene.
	KeyChange Code = 1204
	// RowShape: a row has another number of values than there are columns.
	RowShape Code = 1205
	// NumberMismatch: an order number that is not its ID's.
	NumberMismatch Code = 1206
	// UnknownColumn: the table has no such column, or several tables have it.
	UnknownColumn Code = 1207

	// ServerNumbers: an INSERT whose rows the shards would number by AUTO_INCREMENT,
	// each for itself.
	ServerNumbers Code = 1208
	// UniqueUnseen: what it does with a duplicate can't be done, since the other row
	// may be on another shard.
	UniqueUnseen Code = 1209
	// CopiesDiffer: a global table's row would get another value on each shard.
	CopiesDiffer Code = 1210

	// TransactionSpans: a transaction would touch a second shard.
	TransactionSpans Code = 1301
	// TransactionUnsafe: a transaction would touch a shard on which it can't be
	// committed in two phases.
	TransactionUnsafe Code = 1302
)

// MySQL's numbers that our refusals travel under.
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

// Refusal is a statement that is not run. Nothing of it happened.
type Refusal struct {
	Code    Code
	Message string
	// Table is the table that does not fit its declaration, if that is why the statement is refused. It can be empty.
	Table catalog.TableName
	// Near is set where every server refuses the text too: what of it and which
	// line its syntax error names.
	Near *Near
	// Unread: the parser knows no such statement, and a server might find it wrong,
	// which it would say better.
	Unread bool
	// Unlike: shards have answered with other columns than others. Their tables may not be as they were when it was planned.
	Unlike bool
}

// Near is where in a text a server stopped reading.
type Near struct {
	Text string
	Line int
}

func (r *Refusal) Error() string { return r.Code.String() + ": " + r.Message }

// String is the code as errors have it.
func (c Code) String() string { return fmt.Sprintf("locus-%d", uint16(c)) }

// MySQL gives the error number and SQLSTATE that a client sees.
func (r *Refusal) MySQL() (uint16, string) {
	switch r.Code {
	case Unreadable, SeveralStatements, UncertainText:
		return erParse, stateSyntax
	case Unsupported, Ambiguous, TooFar, NotAllowed, TooLarge, CrossShard, ScatterShape, ScatterWrite, ScatterRefused, GatherLimit, UnfilteredRefused, OffsetRefused, TransactionSpans, TransactionUnsafe,
		UniqueUnseen, CopiesDiffer, ColumnKept, ShardNamed:
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
