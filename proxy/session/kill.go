package session

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/interrupt"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Sessions is the set of sessions in this process.
type Sessions interface {
	// Kill ends another session on behalf of a user. With Query set, it ends only the statement that the
	// session runs. It returns ErrNoSession, ErrOtherUsers, or an error which reports that a shard continues
	// the statement.
	Kill(ctx context.Context, k KillRequest) error
}

// KillRequest describes a KILL.
type KillRequest struct {
	ID    uint64
	Query bool
	By    string // the user that requests it
	Any   bool   // the session may belong to another user
}

var (
	// ErrNoSession means that no session has the ID.
	ErrNoSession = errors.New("no such session")
	// ErrOtherUsers means that the session belongs to another user.
	ErrOtherUsers = errors.New("the session is another user's")
)

// killTime is the time limit of a kill.
const killTime = 5 * time.Second

// killText answers KILL.
func (s *Session) killText(r *exec.Execution) error {
	k := r.Facts.Statement.Kill
	if k == nil {
		return &plan.Refusal{Code: plan.Unsupported, Message: "KILL of anything but a connection's ID: give the number that SHOW PROCESSLIST or CONNECTION_ID() shows"}
	}
	killing := *k
	if k.Expression != "" {
		literal, err := s.eval.ComputeValue("CAST(" + k.Expression + " AS UNSIGNED)")
		if err != nil {
			return err
		}
		killing.ID, _ = strconv.ParseUint(literal, 10, 64) // NULL is no session's ID
	}
	return s.kill(killing)
}

// processKill answers COM_PROCESS_KILL.
func (s *Session) processKill(payload []byte) error {
	if len(payload) != 5 {
		return s.writeError(wire.Errorf(wire.ErMalformed, wire.StateGeneral, "COM_PROCESS_KILL of %d bytes", len(payload)))
	}
	return s.finish(s.kill(stmt.Killing{ID: uint64(binary.LittleEndian.Uint32(payload[1:]))}))
}

// kill ends another session or its statement. If the ID is the session's own, it returns the error of a killed session or
// statement.
func (s *Session) kill(k stmt.Killing) error {
	if k.Own || k.ID == uint64(s.id) {
		if k.Query {
			return interrupt.Killed.Error(s.flavor())
		}
		s.interrupts.KillSelf()
		return s.flavor().KilledConnection()
	}
	ctx, cancel := context.WithTimeout(s.ctx, killTime)
	defer cancel()
	err := s.Sessions.Kill(ctx, KillRequest{ID: k.ID, Query: k.Query, By: s.user, Any: s.engine.Account.Admin})
	switch {
	case errors.Is(err, ErrNoSession):
		return wire.Errorf(erNoSuchThread, wire.StateGeneral, "Unknown thread id: %d", k.ID)
	case errors.Is(err, ErrOtherUsers):
		return wire.Errorf(erKillDenied, wire.StateGeneral, "You are not owner of thread %d", k.ID)
	case err != nil:
		return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "kill %d: %v; it may still run there", k.ID, err)
	}
	return s.engine.Done(wire.OK{})
}
