// Package flavor is what MySQL and MariaDB do differently, as the proxy has to know it: a method for each difference, so that
// nobody else asks which of the two a shard runs.
//
// It owns the facts about the servers, measured on MariaDB 10.11 and MySQL 9.7. It never talks to one, and knows no statement.
package flavor

import "strings"

// Flavor is one of the two servers. The zero value is MySQL.
type Flavor uint8

// The two flavors.
const (
	MySQL Flavor = iota
	MariaDB
)

// Of tells a server by what it answers to SELECT VERSION().
func Of(version string) Flavor {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		return MariaDB
	}
	return MySQL
}

// String is the server's name as its error messages have it.
func (f Flavor) String() string {
	if f == MariaDB {
		return "MariaDB"
	}
	return "MySQL"
}

// KeepsWarnings tells whether a statement that names no table, a SET or GET DIAGNOSTICS leaves the warnings of the statement
// before it, if it has none of its own. On MySQL each statement begins with none.
func (f Flavor) KeepsWarnings() bool { return f == MariaDB }

// ReportsTransactions tells whether a session that tracks its state is told of each transaction's begin and end even if it
// tracks nothing but its schema and its variables.
func (f Flavor) ReportsTransactions() bool { return f == MySQL }

// ReportsItsTracking tells whether the SET that turns session_track_state_change on is itself reported as a change.
func (f Flavor) ReportsItsTracking() bool { return f == MariaDB }

// PreparesExpressions tells whether PREPARE … FROM and EXECUTE IMMEDIATE take any expression, and EXECUTE … USING too. MySQL
// takes a literal or a user variable.
func (f Flavor) PreparesExpressions() bool { return f == MariaDB }

// PreparesAll tells whether statements that MySQL takes as text only can be prepared.
func (f Flavor) PreparesAll() bool { return f == MariaDB }

// PreparesByMode tells whether a prepared statement goes on being read by the sql_mode of its PREPARE. MySQL prepares anew, for
// other types of parameters or after ALTER TABLE, by the sql_mode of then.
func (f Flavor) PreparesByMode() bool { return f == MariaDB }

// BindsPrepared tells whether a branch that XA PREPARE has prepared belongs to its connection until that ends. On MySQL any
// connection can finish it.
func (f Flavor) BindsPrepared() bool { return f == MariaDB }

// TimesOutWrites tells whether a time limit of statements holds for those that write rows too.
func (f Flavor) TimesOutWrites() bool { return f == MariaDB }

// ReopensTemporary tells whether a statement may read a temporary table more than once.
func (f Flavor) ReopensTemporary() bool { return f == MariaDB }

// FindsRowsOfCreate tells whether FOUND_ROWS() counts the rows of CREATE TABLE … SELECT.
func (f Flavor) FindsRowsOfCreate() bool { return f == MariaDB }

// FindsRowsBehindUnion tells whether FOUND_ROWS() after a UNION with LIMIT is more than the rows that were returned.
func (f Flavor) FindsRowsBehindUnion() bool { return f == MariaDB }

// ShowsColumnsByName tells whether ALTER COLUMN … SET VISIBLE shows a column. On MariaDB its definition is written anew.
func (f Flavor) ShowsColumnsByName() bool { return f == MySQL }

// TellsAnsiQuotes tells whether the status flags of an answer say that ANSI_QUOTES is on.
func (f Flavor) TellsAnsiQuotes() bool { return f == MariaDB }
