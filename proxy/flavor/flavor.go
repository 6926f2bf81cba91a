// Package flavor describes the differences between MySQL and MariaDB that matter to the proxy. It has one method per
// difference, so that no other code asks which of the two a shard runs.
//
// It owns these facts, measured on MariaDB 10.11 and MySQL 9.7. It never contacts a server and knows no statements.
package flavor

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Flavor is one of the two servers. The zero value is MySQL.
type Flavor uint8

// The flavors.
const (
	MySQL Flavor = iota
	MariaDB
)

// Of returns the flavor for a server's result of SELECT VERSION().
func Of(version string) Flavor {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return MariaDB
	}
	return MySQL
}

// String returns the server's name as in its error messages.
func (f Flavor) String() string {
	if f == MariaDB {
		return "MariaDB"
	}
	return "MySQL"
}

// KeepsWarnings reports whether a SET, GET DIAGNOSTICS or statement without tables keeps the previous statement's warnings if
// it has none of its own. On MySQL each statement clears them.
func (f Flavor) KeepsWarnings() bool { return f == MariaDB }

// ReportsTransactions reports whether a session with state tracking is informed of each transaction's start and end even if it
// tracks only its schema and variables.
func (f Flavor) ReportsTransactions() bool { return f == MySQL }

// ReportsItsTracking reports whether the SET that enables session_track_state_change is itself reported as a change.
func (f Flavor) ReportsItsTracking() bool { return f == MariaDB }

// PreparesExpressions reports whether PREPARE … FROM, EXECUTE IMMEDIATE and EXECUTE … USING accept any expression. MySQL
// accepts a literal or a user variable.
func (f Flavor) PreparesExpressions() bool { return f == MariaDB }

// PreparesAll reports whether statements that MySQL accepts only as text can be prepared.
func (f Flavor) PreparesAll() bool { return f == MariaDB }

// PreparesByMode reports whether a prepared statement keeps the sql_mode of its PREPARE. MySQL re-prepares it under the current
// sql_mode after ALTER TABLE, or for other parameter types.
func (f Flavor) PreparesByMode() bool { return f == MariaDB }

// BindsPrepared reports whether a branch prepared by XA PREPARE belongs to its connection until that ends. On MySQL any
// connection can finish it.
func (f Flavor) BindsPrepared() bool { return f == MariaDB }

// ForgetsBindings reports that the server keeps no types of values with a prepared statement, except for the definitions of its
// result columns.
func (f Flavor) ForgetsBindings() bool { return f == MariaDB }

// SortsZeroAsNull reports whether the server sorts zero dates like NULL if they are results of expressions of a type. MySQL does so
// under NO_ZERO_DATE. modes is the session's sql_mode, in upper case.
func (f Flavor) SortsZeroAsNull(typ byte, modes string) bool {
	if f == MariaDB {
		return typ == mysql.MYSQL_TYPE_TIMESTAMP
	}
	return strings.Contains(modes, "NO_ZERO_DATE") || strings.Contains(modes, "TRADITIONAL")
}

// TimesOutWrites reports whether the statement time limit also applies to statements that write rows.
func (f Flavor) TimesOutWrites() bool { return f == MariaDB }

// NumbersRecentStatement reports whether clients may refer to the statement that they prepared last by the number 0xffffffff.
func (f Flavor) NumbersRecentStatement() bool { return f == MariaDB }

// ReopensTemporary reports whether a statement may read a temporary table more than once.
func (f Flavor) ReopensTemporary() bool { return f == MariaDB }

// FindsRowsOfCreate reports whether FOUND_ROWS() counts the rows of CREATE TABLE … SELECT.
func (f Flavor) FindsRowsOfCreate() bool { return f == MariaDB }

// FindsRowsBehindUnion reports whether FOUND_ROWS() after a UNION with LIMIT can exceed the number of rows returned.
func (f Flavor) FindsRowsBehindUnion() bool { return f == MariaDB }

// ShowsColumnsByName reports whether ALTER COLUMN … SET VISIBLE makes a column visible. On MariaDB the column must be defined
// again.
func (f Flavor) ShowsColumnsByName() bool { return f == MySQL }

// TellsAnsiQuotes reports whether an answer's status flags include ANSI_QUOTES.
func (f Flavor) TellsAnsiQuotes() bool { return f == MariaDB }
