package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// set runs SET. On MariaDB, a SET without warnings keeps the warnings of the previous statement.
func (s *Session) set(r *exec.Execution) error {
	if done, err := s.setByQuery(r); done || err != nil {
		return err
	}
	before := s.vars.TakeConditions()
	if err := s.assignAll(r); err != nil {
		return s.writeError(err)
	}
	warned := len(s.vars.Conditions)
	if r.Snapshot.Flavor.KeepsWarnings() {
		s.vars.RestoreConditions(before)
	}
	return s.engine.WriteOK(wire.OK{Warnings: uint16(min(warned, sysvars.MostWarnings))})
}

// assignAll makes all of the assignments, or none.
func (s *Session) assignAll(r *exec.Execution) error {
	if err := s.refuseDeclared(r); err != nil {
		return err
	}
	assigned := r.Facts.Statement.Variables
	next := s.eval.Set(sysvars.Transaction{Active: s.conns.Active(), Running: s.conns.Running()})
	for _, v := range assigned {
		if err := s.interrupts.Unwanted(); err != nil {
			return err
		}
		if err := kept.Settable(next.Settings); err != nil {
			return err
		}
		if err := next.Assign(v); err != nil {
			return err
		}
	}
	if err := s.checkShardName(next, r.Snapshot.Catalog.Shards); err != nil {
		return err
	}
	next.Finish()
	if err := s.adopt(next); err != nil {
		return err
	}
	s.eval.TrackVariables(assigned)
	return nil
}

// refuseDeclared refuses values that are read from declared tables. The first shard computes expressions, and it has all
// undeclared tables.
func (s *Session) refuseDeclared(r *exec.Execution) error {
	if name := s.declaredTable(r); name != nil {
		return &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf("SET of several or other variables, or while sql_select_limit is set, to a value that is read from the declared table %s: use SELECT … INTO for each user variable", name)}
	}
	return nil
}

// adopt applies the assignments of a SET to the session, after a shard has accepted them.
func (s *Session) adopt(next *sysvars.Set) error {
	if err := s.engine.Carriable(next.Settings); err != nil {
		return err
	}
	scope := s.conns.Next()
	for _, c := range next.Characteristics {
		scope = s.conns.Characterize(scope, c)
	}
	if next.Autocommit && (!s.vars.Autocommit || s.conns.SwitchedOff() && next.AssignsAutocommit()) {
		if err := s.conns.Commit(); err != nil { // as MySQL does
			return err
		}
	}
	if err := s.eval.Apply(next, s.Snapshot().Sets); err != nil {
		return err
	}
	s.vars.Values = next.Values
	s.engine.Carry(next.Settings)
	s.limitWaits()
	s.conns.SetNext(scope)
	return nil
}

// limitWaits sets the time limits for waiting for the client: the session's timeouts, or those of the process.
func (s *Session) limitWaits() {
	s.interrupts.LimitIdle(s.vars.IdleLimit())
	s.client.Stream.LimitWrites(cmp.Or(s.vars.WriteLimit(), s.Timeouts.Write))
	s.client.Stream.LimitReads(cmp.Or(s.vars.ReadLimit(), s.Timeouts.Read))
}

// trySettings gives the session the settings, after the first shard has accepted them.
func (s *Session) trySettings(next *backend.Settings) error {
	if next == s.vars.Settings {
		return nil
	}
	if err := s.engine.Carriable(next); err != nil {
		return err
	}
	if err := s.eval.Try(next); err != nil {
		return err
	}
	s.engine.Carry(next)
	return nil
}

// checkShardName refuses a SET of locus_shard to a shard that does not exist.
func (s *Session) checkShardName(next *sysvars.Set, shards []router.ShardName) error {
	if next.Shard == "" || next.Shard == s.vars.Shard || slices.Contains(shards, next.Shard) {
		return nil
	}
	names := make([]string, len(shards))
	for i, shard := range shards {
		names[i] = string(shard)
	}
	return wire.Errorf(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "Variable 'locus_shard' can't be set to the value of '%s': the shards are %s", next.Shard, strings.Join(names, ", "))
}
