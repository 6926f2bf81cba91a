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

// Busy reports whether a statement failed because of others' locks.
func Busy(err error) bool { return is(err, mysql.ER_LOCK_DEADLOCK, mysql.ER_LOCK_WAIT_TIMEOUT) }

// passing reports whether a server is shutting down or isn't the primary, or a statement was interrupted.
func passing(err error) bool {
	const erReadOnlyMode, erConnectionKilled = 1836, 1927
	return is(err, mysql.ER_SERVER_SHUTDOWN, mysql.ER_QUERY_INTERRUPTED, mysql.ER_OPTION_PREVENTS_STATEMENT, erReadOnlyMode, erConnectionKilled)
}

// Gone reports whether a branch was finished by another connection or, on MariaDB, is held by one.
func Gone(err error) bool { return is(err, mysql.ER_XAER_NOTA) }

// Forbidden reports whether recovery has made a decision impossible.
func Forbidden(err error) bool { return is(err, mysql.ER_DUP_ENTRY) }

// EndsTransaction reports whether a server rolls back the whole transaction with this error: a deadlock, or a branch's
// error after one.
func EndsTransaction(code uint16) bool {
	switch code {
	case mysql.ER_LOCK_DEADLOCK, mysql.ER_XA_RBDEADLOCK, mysql.ER_XA_RBROLLBACK, mysql.ER_XA_RBTIMEOUT:
		return true
	}
	return false
}

// MayEndTransaction reports whether servers may roll back a whole transaction with this error, or only a statement,
// depending on their settings or replication.
func MayEndTransaction(code uint16) bool {
	const erReplicationRollback = 3101
	switch code {
	case mysql.ER_LOCK_WAIT_TIMEOUT, mysql.ER_LOCK_TABLE_FULL, mysql.ER_ERROR_DURING_COMMIT, mysql.ER_CHECKREAD, erReplicationRollback:
		return true
	}
	return false
}
