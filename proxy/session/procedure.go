package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Procedures runs the procedures of the schema locus, by which operators send commands in SQL.
type Procedures interface {
	// Call runs a procedure on behalf of a user, within a time limit of its own. It returns ErrNoProcedure, a *BadArguments, or an error which reports that
	// nothing was changed, or that the effect is unknown.
	Call(ctx context.Context, procedure string, args []stmt.Value, by string) (Answer, error)
}

// Answer contains a row to show, and the warnings for SHOW WARNINGS.
type Answer struct{ Columns, Row, Warnings []string }

// ErrNoProcedure means that the schema locus has no procedure of the name.
var ErrNoProcedure = errors.New("no such procedure")

// BadArguments is the error for arguments that the procedure does not accept.
type BadArguments struct {
	Given    int
	Takes    string // the procedure's description of its arguments
	Argument string // the problem with one argument; empty if the number of arguments is wrong
}

func (b *BadArguments) Error() string {
	if b.Argument != "" {
		return fmt.Sprintf("%s: %s", b.Takes, b.Argument)
	}
	return fmt.Sprintf("%s: got %d arguments", b.Takes, b.Given)
}

// procedureTime is the longest time limit of a call. Most procedures have a shorter one of their own.
const procedureTime = 10 * time.Minute

// procedure answers CALL locus.…. The call takes effect at once and is not part of a transaction, because it changes data in
// etcd.
func (s *Session) procedure(r *exec.Execution) error {
	call := r.Facts.Statement.OwnCall
	if !s.engine.Account.Admin {
		return &plan.Denied{Number: erRoutineDenied, Message: fmt.Sprintf("execute command denied to user '%s'@'%%' for routine '%s.%s': it takes admin: true", s.user, stmt.Own, call.Procedure)}
	}
	var args []stmt.Value
	for i, o := range call.Args {
		v := r.Values.Operand(&o)
		if v.Kind == stmt.Unknown || v.Kind == stmt.Default {
			return wire.Errorf(erWrongArguments, wire.StateGeneral, "Incorrect arguments to %s.%s: argument %d is no plain text or number", stmt.Own, call.Procedure, i+1)
		}
		args = append(args, v)
	}
	if call.Procedure == fillProcedure {
		return s.fillLookup(args)
	}
	if s.Procedures == nil {
		return noProcedure(call.Procedure)
	}
	ctx, cancel := context.WithTimeout(s.ctx, procedureTime)
	defer cancel()
	s.gate.Step(s.conns.Running()) // a procedure may wait until nothing runs under an older map, and the call itself runs nothing
	answer, err := s.Procedures.Call(ctx, call.Procedure, args, s.user)
	if err != nil {
		return procedureError(call.Procedure, err)
	}
	for _, warning := range answer.Warnings {
		s.vars.Warn(warning)
	}
	rows := [][]string{answer.Row}
	return s.engine.WriteTexts(reply.TextColumns(answer.Columns, rows), rows)
}

// noProcedure returns the servers' error for an unknown procedure.
func noProcedure(name string) error {
	return wire.Errorf(erNoProcedure, "42000", "PROCEDURE %s.%s does not exist", stmt.Own, name)
}

// procedureError returns the servers' error for a failed call. An error that the procedure returned becomes the error of a
// SIGNAL.
func procedureError(name string, err error) error {
	bad, isBad := errors.AsType[*BadArguments](err)
	switch {
	case errors.Is(err, ErrNoProcedure):
		return noProcedure(name)
	case isBad && bad.Argument == "":
		return wire.Errorf(erArgumentCount, "42000", "Incorrect number of arguments for PROCEDURE %s.%s; got %d, and it is %s", stmt.Own, name, bad.Given, bad.Takes)
	case isBad:
		return wire.Errorf(erWrongArguments, wire.StateGeneral, "Incorrect arguments to %s.%s: %s; it is %s", stmt.Own, name, bad.Argument, bad.Takes)
	}
	return wire.Errorf(mysql.ER_SIGNAL_EXCEPTION, "45000", "%v", err)
}
