package exec

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

const (
	erNetRead    = 1158
	stateGeneral = "HY000"
)

func fail(code uint16, state, format string, args ...any) *mysql.MyError {
	return &mysql.MyError{Code: code, State: state, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the number of what a shard answered; of a connection that was lost, that of
// the error that the client gets for it.
func CodeOf(err error) uint16 {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return e.Code
	}
	return erNetRead
}
