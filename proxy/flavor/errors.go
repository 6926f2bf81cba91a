package flavor

import "github.com/go-mysql-org/go-mysql/mysql"

// Numbers of errors that only one of the servers has, or that they share and the library has no name for.
const (
	erWrongArguments     = 1210
	erConnectionKilled   = 1927 // MariaDB's
	erStatementTimeout   = 1969 // MariaDB's
	erQueryTimeout       = 3024 // MySQL's
	erLocalInfile        = 3948 // MySQL's
	erLocalInfileMariaDB = 4166
)

// SQL states.
const (
	stateGeneral     = "HY000"
	stateInterrupted = "70100"
	stateNotAllowed  = "42000"
)

// TimedOut is the error of a statement that ran longer than its session lets it.
func (f Flavor) TimedOut() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{Code: erStatementTimeout, State: stateInterrupted, Message: "Query execution was interrupted (max_statement_time exceeded)"}
	}
	return &mysql.MyError{Code: erQueryTimeout, State: stateGeneral, Message: "Query execution was interrupted, maximum statement execution time exceeded"}
}

// KilledConnection is the error of a statement that ends its own connection.
func (f Flavor) KilledConnection() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{Code: erConnectionKilled, State: stateInterrupted, Message: "Connection was killed"}
	}
	return &mysql.MyError{Code: mysql.ER_QUERY_INTERRUPTED, State: stateInterrupted, Message: "Query execution was interrupted"}
}

// NoLocalFiles is what a server says whose local_infile is off.
func (f Flavor) NoLocalFiles() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{
			Code: erLocalInfileMariaDB, State: stateGeneral,
			Message: "The used command is not allowed because the MariaDB server or client has disabled the local infile capability",
		}
	}
	return &mysql.MyError{Code: erLocalInfile, State: stateNotAllowed, Message: "Loading local data is disabled; this must be enabled on both the client and server sides"}
}

// WrongArguments is what a server says of parameters of COM_STMT_EXECUTE that don't fit.
func (f Flavor) WrongArguments() *mysql.MyError {
	command := "COM_STMT_EXECUTE"
	if f == MariaDB {
		command = "mysqld_stmt_execute"
	}
	return &mysql.MyError{Code: erWrongArguments, State: stateGeneral, Message: "Incorrect arguments to " + command}
}

// CutOff is what stands behind a text that a syntax error quotes only the beginning of.
func (f Flavor) CutOff() string {
	if f == MariaDB {
		return "..."
	}
	return ""
}
