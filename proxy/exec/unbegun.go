package exec

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router/stmt"
)

// Unbegun reports whether a statement was refused before it began a transaction of its own, so that SET TRANSACTION still applies
// to the next one.
func (x *Execution) Unbegun(err error) bool {
	code := x.Code
	switch {
	case txn.IsRefusal(err):
		code = txn.CodeOf(err)
	case err != nil:
		return !mayHaveBegun(err)
	}
	if x.Snapshot.Flavor.BeginsBeforeColumns() && x.Prepared == nil && code == mysql.ER_BAD_FIELD_ERROR {
		return false // its tables were opened; a prepared statement is refused before that
	}
	return x.Facts.Statement.Effects&stmt.Commits == 0 && beforeBeginning(code)
}

// mayHaveBegun reports whether an error may come from a server that had begun to run the statement.
func mayHaveBegun(err error) bool {
	_, lost := errors.AsType[*backend.LostError](err)
	return lost
}

// beforeBeginning reports whether servers return an error code while they parse a statement or open its tables: no database,
// unknown tables and columns, syntax, rights, tables that are not locked, and writes in a read-only transaction.
func beforeBeginning(code uint16) bool { return slices.Contains(refusedAtOnce, code) }

var refusedAtOnce = []uint16{1044, 1046, 1049, 1050, 1051, 1052, 1054, 1064, 1066, 1099, 1100, 1109, 1136, 1142, 1143, 1146, 1192, 1305, 1792}
