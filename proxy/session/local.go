package session

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// local answers the statements that concern the session alone.
func (s *Session) local(r *exec.Execution, p *plan.Local) error {
	st := r.Facts.Statement
	if r.Prepared != nil && r.Prepared.Params > 0 && st.Kind != stmt.Explain {
		return s.runBound(r)
	}
	switch st.Kind {
	case stmt.Begin:
		return s.answer(s.begin(r))
	case stmt.Commit:
		return s.complete(st, s.conns.Commit)
	case stmt.Rollback:
		return s.complete(st, func() error { s.conns.RollBack(); return nil })
	case stmt.Savepoint:
		return s.answer(s.conns.Savepoint(*st.Mark))
	case stmt.Use:
		return s.answer(s.use(st.Schema))
	case stmt.Set:
		return s.set(r)
	case stmt.Kill:
		return s.killText(r)
	case stmt.Procedure:
		return s.procedure(r)
	case stmt.ShowWarnings:
		return s.showWarnings(r)
	case stmt.Diagnose:
		return s.diagnose(r)
	case stmt.Lock:
		return s.answer(s.lockTables(r, p))
	case stmt.Unlock:
		return s.answer(s.unlockTables())
	case stmt.LockServers:
		return s.answer(s.lockServers(r))
	case stmt.TextPrepare:
		return s.textPrepared(r)
	case stmt.DDL:
		return s.answer(s.defineLocally(st))
	case stmt.Explain:
		return s.explain(r)
	default:
	}
	return &plan.Refusal{Code: plan.Unsupported, Message: "this statement"}
}

// defineLocally runs a definition that concerns no shard. This is ALTER TABLE … DISABLE KEYS, which none of the supported engines
// implements, or TRUNCATE of a table of the schema locus.
func (s *Session) defineLocally(st *stmt.Statement) error {
	if err := s.conns.Commit(); err != nil || st.Verb != "TRUNCATE" {
		return err
	}
	return s.answers().Empty(strings.ToLower(st.Tables[0].Name))
}

// complete ends a transaction by calling end. It implements AND CHAIN and RELEASE as MySQL does.
func (s *Session) complete(st *stmt.Statement, end func() error) error {
	begin := s.conns.Chained()
	for _, shard := range s.conns.Shards() {
		s.observer.Queried(shard)
	}
	if err := end(); err != nil {
		return err
	}
	if st.Features&stmt.AndChain != 0 {
		if err := begin(); err != nil {
			return err
		}
		s.vars.Restate()
	}
	if err := s.engine.WriteOK(wire.OK{}); err != nil {
		return &reply.GoneError{Err: err}
	}
	if st.Features&stmt.Release != 0 {
		return &reply.GoneError{Err: errQuit}
	}
	return nil
}

// use makes a database current after the first shard has accepted it.
func (s *Session) use(database string) error {
	s.refreshAccount(s.Snapshot())
	if err := s.engine.Account.Rights.Database(database); err != nil {
		return err
	}
	if database == "" { // settings with an empty name have no database
		return wire.Errorf(mysql.ER_NO_DB_ERROR, "3D000", "No database selected")
	}
	converted, err := s.nameInUTF8(database)
	if err != nil {
		return err
	}
	next := s.vars.Settings.WithDatabase(converted)
	if err := s.eval.Try(next); err != nil {
		return err
	}
	s.engine.Carry(next)
	s.vars.TrackSchema()
	return nil
}

// nameInUTF8 returns a database's name in UTF-8, the encoding in which the settings contain it.
func (s *Session) nameInUTF8(name string) (string, error) {
	if !s.vars.Foreign || exec.IsASCII(name) {
		return name, nil
	}
	rows, err := s.eval.Ask(fmt.Sprintf("SELECT HEX(CONVERT(_%s X'%X' USING utf8mb4))", s.vars.Charset(), name))
	if err != nil || len(rows.Rows) != 1 {
		return name, err
	}
	converted, err := hex.DecodeString(string(rows.Rows[0][0]))
	return string(converted), err
}
