package session

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/ddl"
	"locus/proxy/fence"
	"locus/proxy/interrupt"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// MySQL's error numbers for which the library has no name.
const (
	erConCount       = 1040
	erNotLocked      = 1100
	erUnknownCommand = 1047
	erTooLarge       = 1153
	erDeadlock       = 1213
	erWrongArguments = 1210
	erNoCursor       = 1421
	erNoSuchThread   = 1094
	erKillDenied     = 1095
	erNoProcedure    = 1305
	erArgumentCount  = 1318
	erRoutineDenied  = 1370
)

// clientError returns the error that the client gets for any error. Errors that are not listed here are internal: the client gets
// only their text, and they are logged.
func (s *Session) clientError(err error) *mysql.MyError {
	if e, ok := err.(*ddl.Error); ok { //nolint:errorlint // it is never wrapped
		inner := s.clientError(e.Err)
		return wire.Errorf(inner.Code, inner.State, "%s%s%s", e.Before, inner.Message, e.After)
	}
	if e, ok := errors.AsType[*mysql.MyError](err); ok && !backend.Unreached(err) {
		return s.quoteRest(s.reworded(e))
	}
	if e, ok := errors.AsType[*plan.Refusal](err); ok {
		s.Counts.Refused.add(e.Code)
		s.logRefusal(e)
		code, state := e.MySQL()
		if e.Near != nil {
			return s.syntaxError(*e.Near)
		}
		return wire.Errorf(code, state, "%s", e.Error())
	}
	if e, ok := errors.AsType[*plan.Denied](err); ok {
		s.Counts.Denied.Add(1)
		return wire.Errorf(e.Number, "42000", "%s", e.Message)
	}
	if e, ok := errors.AsType[*plan.Unknown](err); ok {
		return wire.Errorf(e.Number, cmp.Or(e.State, "42000"), "%s", e.Message)
	}
	if e, ok := errors.AsType[*stmt.SyntaxError](err); ok {
		return wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "%s", e.Error())
	}
	if e, ok := errors.AsType[*fence.HeldError](err); ok {
		return wire.Errorf(erDeadlock, "40001", "%v; try restarting transaction", e)
	}
	s.Counts.Failed.Add(1)
	return s.failure(err)
}

// reworded replaces a shard's error by the reason for which the proxy ended the statement. The shard itself reports only that the
// query was interrupted.
func (s *Session) reworded(e *mysql.MyError) *mysql.MyError {
	r := s.interrupts.Reason()
	if r != 0 && e.Code == mysql.ER_QUERY_INTERRUPTED {
		if why := r.Error(s.flavor()); !strings.Contains(e.Message, why.Message) { // otherwise it contains the reason
			e = why
		}
	}
	if r == interrupt.Preempted && e.Code == erDeadlock { // only this error reports that the transaction is rolled back
		s.gate.Tell()
	}
	return e
}

// failure returns the error for a failed statement. The error reports what is known of the statement's effect.
func (s *Session) failure(err error) *mysql.MyError {
	if e, ok := errors.AsType[*backend.ExhaustedError](err); ok && e.Unleased {
		return wire.Errorf(wire.ErNetRead, wire.StateLink, "%v; the statement was not run", e)
	} else if ok {
		return wire.Errorf(erConCount, "08004", "%v; the statement was not run", e)
	}
	if e, ok := errors.AsType[*backend.LostError](err); ok {
		return wire.Errorf(wire.ErNetRead, wire.StateLink, "%v", e) // the error reports its effect
	}
	var unavailable *backend.UnavailableError
	var login *backend.LoginError
	if errors.As(err, &unavailable) || errors.As(err, &login) || errors.Is(err, backend.ErrClosed) {
		return wire.Errorf(wire.ErNetRead, wire.StateLink, "%v; the statement was not run", err)
	}
	if errors.Is(err, orderid.ErrSequenceExhausted) {
		return wire.Errorf(mysql.ER_AUTOINC_READ_FAILED, wire.StateGeneral, "%v; the statement was not run", err)
	}
	if errors.Is(err, context.Canceled) {
		return wire.Errorf(mysql.ER_SERVER_SHUTDOWN, wire.StateLink, "locus is shutting down; the statement was interrupted")
	}
	s.Log.Error("statement failed", "session", s.id, "error", err)
	return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "locus: %v", err)
}
