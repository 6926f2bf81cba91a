package exec

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// CodeOf is the number of what a shard answered; of a connection that was lost, that of
// the error that the client gets for it.
func CodeOf(err error) uint16 {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return e.Code
	}
	return wire.ErNetRead
}

// Unreached tells a shard's refusal of the proxy's own login, which is no answer
// to the client.
func Unreached(err error) bool {
	login, ok := errors.AsType[*backend.LoginError](err)
	if !ok {
		return false
	}
	e, refused := errors.AsType[*mysql.MyError](login)
	return !refused || e.Code != mysql.ER_QUERY_INTERRUPTED
}
