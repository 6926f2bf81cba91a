package twophase

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func is(err error, codes ...uint16) bool {
	e, ok := errors.AsType[*mysql.MyError](err)
	for _, code := range codes {
		if ok && e.Code == code {
			return true
		}
	}
	return false
}

// Busy tells the errors with which a statement gives way to others' locks.
func Busy(err error) bool { return is(err, mysql.ER_LOCK_DEADLOCK, mysql.ER_LOCK_WAIT_TIMEOUT) }

// passing tells the errors of a server that shuts down or is no primary, and of a
// statement that was interrupted.
func passing(err error) bool {
	const erReadOnlyMode, erConnectionKilled = 1836, 1927
	return is(err, mysql.ER_SERVER_SHUTDOWN, mysql.ER_QUERY_INTERRUPTED, mysql.ER_OPTION_PREVENTS_STATEMENT, erReadOnlyMode, erConnectionKilled)
}

// Gone tells the error about a branch that somebody else has finished, or, on
// MariaDB, that another connection holds.
func Gone(err error) bool { return is(err, mysql.ER_XAER_NOTA) }

// Forbidden tells the error about a decision that recovery has made impossible.
func Forbidden(err error) bool { return is(err, mysql.ER_DUP_ENTRY) }

// EndsTransaction tells the errors with which a server has rolled back a whole
// transaction: of a deadlock, and those that a branch answers with after one.
func EndsTransaction(code uint16) bool {
	switch code {
	case mysql.ER_LOCK_DEADLOCK, mysql.ER_XA_RBDEADLOCK, mysql.ER_XA_RBROLLBACK, mysql.ER_XA_RBTIMEOUT:
		return true
	}
	return false
}

// MayEndTransaction tells the errors with which some servers, by their settings
// or their replication, roll back a whole transaction, and others a statement.
func MayEndTransaction(code uint16) bool {
	const erReplicationRollback = 3101
	switch code {
	case mysql.ER_LOCK_WAIT_TIMEOUT, mysql.ER_LOCK_TABLE_FULL, mysql.ER_ERROR_DURING_COMMIT, mysql.ER_CHECKREAD, erReplicationRollback:
		return true
	}
	return false
}
