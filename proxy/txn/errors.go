package txn

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

const (
	erCommitError = 1180
	erSavepoint   = 1305
	erXABarred    = 1399 // XAER_RMFAIL
)

// ErrUnread is the reason for closing a connection whose answer was not read to the end.
var ErrUnread = errors.New("its answer was not read to the end")

// refusal returns a server's error, after which the connection stays usable.
func refusal(err error) (*backend.ServerError, bool) { return errors.AsType[*backend.ServerError](err) }

// isLost reports whether the connection was lost with an error.
func isLost(err error) bool {
	_, ok := errors.AsType[*backend.LostError](err)
	return ok
}

// CodeOf returns the number of a server's error, or 0 if err is nil. For a lost connection it returns the number that the client gets.
func CodeOf(err error) uint16 {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return e.Code
	}
	return wire.ErNetRead
}

// Unregistered returns the error of a shard that has no pool.
func Unregistered(shard router.ShardName) error {
	return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "shard %s is not registered: declare it in cluster.yaml and run locus apply", shard)
}

func spansShards(have, want router.ShardName) error {
	return &plan.Refusal{Code: plan.TransactionSpans, Message: fmt.Sprintf(
		"this transaction is on shard %s and the statement needs shard %s: commit first, or set `transactions: xa` in the proxy's configuration", have, want)}
}

// cannotSpan returns the error of a transaction that cannot span two shards. If a shard cannot be checked now, the client may repeat the
// statement. The transaction is unchanged.
func cannotSpan(home, shard router.ShardName, err error) error {
	message := fmt.Sprintf("this transaction is on shard %s and the statement needs shard %s, and it can't be committed on both at once: %v", home, shard, err)
	if _, lacks := errors.AsType[*twophase.LackError](err); lacks {
		return &plan.Refusal{Code: plan.TransactionUnsafe, Message: message}
	}
	if twophase.Busy(err) {
		return wire.Errorf(mysql.ER_LOCK_WAIT_TIMEOUT, wire.StateGeneral, "%s; the statement was not run", message)
	}
	return wire.Errorf(wire.ErNetRead, wire.StateLink, "%s; the statement was not run", message)
}

// temporaryWithin returns the error for a limit of MySQL. A shard that joins later does so by XA, and MySQL has no temporary tables within XA.
func temporaryWithin(home, shard router.ShardName) error {
	return &plan.Refusal{Code: plan.TransactionUnsafe, Message: fmt.Sprintf(
		"this transaction began on shard %s, and temporary tables are on shard %s, where MySQL has none within a transaction of several shards: commit first, or begin the transaction with a statement on them", home, shard)}
}

func endsByItself(home router.ShardName) error {
	return &plan.Refusal{Code: plan.TransactionUnsafe, Message: fmt.Sprintf(
		"this transaction is on several shards, and a procedure, or a statement that may commit by itself, could end it on shard %s alone: commit first", home)}
}

func noSavepoint(name string) error {
	return wire.Errorf(erSavepoint, "42000", "SAVEPOINT %s does not exist", name)
}

// checkRoom returns an error if a session may keep no further name of a kind. some is the number that it has.
func checkRoom(what string, some int) error {
	if some < mostNames {
		return nil
	}
	return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf("this session has %d %s, as many as it may: release some", some, what)}
}

// mostNames limits the savepoints, the named locks and the temporary tables of a session, each by itself. longestMark limits the name of a
// savepoint in bytes. The servers limit the other names.
const (
	mostNames   = 4096
	longestMark = 1 << 10
)
