package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/ddl"
	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/proxy/interrupt"
	"locus/proxy/observe"
	"locus/proxy/reply"
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
		s.gate.NoteReported()
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
	if fault, ok := errors.AsType[*planningFault](err); ok {
		s.Log.Error("planning a statement has panicked", "session", s.id, "panic", fault.why, "stack", string(fault.stack))
		return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "locus: %v", err)
	}
	s.Log.Error("statement failed", "session", s.id, "error", err)
	return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "locus: %v", err)
}

// writeError writes an error to the client. If the transaction was lost with the failed statement, the session ends. With MySQL
// the transaction ends with its connection too. No later statement of the client may run as if the transaction were open.
func (s *Session) writeError(err error) error {
	e := s.clientError(err)
	var end error
	if s.conns.Lost() {
		e = wire.Errorf(e.Code, e.State, "%s; the transaction was rolled back and this connection is closed", e.Message)
		end = exec.ErrTransactionLost
	}
	if state := s.conns.LostState(); state != "" {
		e = wire.Errorf(e.Code, e.State, "%s; with it the session lost what it had there (%s), and this connection is closed", e.Message, state)
		end = exec.ErrTransactionLost
	}
	if s.engine.Unreadable != nil {
		e = wire.Errorf(e.Code, e.State, "%s; this connection is closed", e.Message)
		end = exec.ErrTransactionLost
	}
	s.engine.NoteError(e)
	s.observer.Failed = true
	s.vars.TakeChanges()
	s.vars.RowCount = -1
	return errors.Join(s.client.Error(e), end)
}

// finalEnding returns the ending that an answer gets after last. For a cancelled statement it replaces an error by the reason.
// For a statement before others of the same text, it makes a syntax error quote those too. Otherwise it returns last itself.
func (s *Session) finalEnding(last reply.Ending) reply.Ending {
	if !s.interrupts.Cancelled() && len(s.behind) == 0 {
		return last
	}
	return func(dst, packet []byte) ([]byte, error) {
		switch {
		case wire.IsERR(packet[wire.HeaderSize:]):
			e, err := wire.ParseERR(packet[wire.HeaderSize:])
			if err != nil {
				return nil, err
			}
			_, seq := wire.Header(packet)
			dst, _ = wire.AppendERR(dst, seq, s.quoteRest(s.reworded(e)), s.client.Capabilities)
			return dst, nil
		case last == nil:
			return append(dst, packet...), nil
		}
		return last(dst, packet)
	}
}

// Refusals counts refused statements by their codes.
type Refusals struct{ counts [mostCodes]atomic.Uint64 }

// The codes of refusals begin at firstCode. mostCodes is an upper bound for their number.
const (
	firstCode = 1000
	mostCodes = 400
)

// add counts a refusal. It ignores a code that is out of range.
func (r *Refusals) add(c plan.Code) {
	if at := int(c) - firstCode; at >= 0 && at < mostCodes {
		r.counts[at].Add(1)
	}
}

// All yields each code that has occurred and its count, in the order of the codes.
func (r *Refusals) All(yield func(plan.Code, uint64) bool) {
	for at := range r.counts {
		if n := r.counts[at].Load(); n > 0 && !yield(plan.Code(firstCode+at), n) {
			return
		}
	}
}

// logRefusal logs a refusal at the debug level. It logs the statement without its literals.
func (s *Session) logRefusal(e *plan.Refusal) {
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("statement refused", "session", s.id, "code", e.Code.String(), "statement", s.lexed.Digest(observe.DigestText).Text)
}
