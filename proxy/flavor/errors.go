package flavor

import "github.com/go-mysql-org/go-mysql/mysql"

// Error codes that only one of the servers has, or that the library doesn't name.
const (
	erWrongArguments     = 1210
	erConnectionKilled   = 1927 // MariaDB's
	erStatementTimeout   = 1969 // MariaDB's
	erQueryTimeout       = 3024 // MySQL's
	erLocalInfile        = 3948 // MySQL's
	erLocalInfileMariaDB = 4166
)

// SQLSTATEs.
const (
	stateGeneral     = "HY000"
	stateInterrupted = "70100"
	stateNotAllowed  = "42000"
)

// TimedOut returns the error for a statement that exceeded its session's time limit.
func (f Flavor) TimedOut() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{Code: erStatementTimeout, State: stateInterrupted, Message: "Query execution was interrupted (max_statement_time exceeded)"}
	}
	return &mysql.MyError{Code: erQueryTimeout, State: stateGeneral, Message: "Query execution was interrupted, maximum statement execution time exceeded"}
}

// KilledConnection returns the error for a statement that kills its own connection.
func (f Flavor) KilledConnection() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{Code: erConnectionKilled, State: stateInterrupted, Message: "Connection was killed"}
	}
	return &mysql.MyError{Code: mysql.ER_QUERY_INTERRUPTED, State: stateInterrupted, Message: "Query execution was interrupted"}
}

// NoLocalFiles returns the error of a server with local_infile off.
func (f Flavor) NoLocalFiles() *mysql.MyError {
	if f == MariaDB {
		return &mysql.MyError{
			Code: erLocalInfileMariaDB, State: stateGeneral,
			Message: "The used command is not allowed because the MariaDB server or client has disabled the local infile capability",
		}
	}
	return &mysql.MyError{Code: erLocalInfile, State: stateNotAllowed, Message: "Loading local data is disabled; this must be enabled on both the client and server sides"}
}

// WrongArguments returns the error for invalid parameters of COM_STMT_EXECUTE.
func (f Flavor) WrongArguments() *mysql.MyError {
	command := "COM_STMT_EXECUTE"
	if f == MariaDB {
		command = "mysqld_stmt_execute"
	}
	return &mysql.MyError{Code: erWrongArguments, State: stateGeneral, Message: "Incorrect arguments to " + command}
}

// CutOff returns the suffix of a text that a syntax error quotes only in part.
func (f Flavor) CutOff() string {
	if f == MariaDB {
		return "..."
	}
	return ""
}
