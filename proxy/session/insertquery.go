package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// runInsertQuery runs an INSERT whose query returns rows for other shards than the one that has them. The query is answered over
// gathered rows, as a SELECT would be. Its rows are inserted as they arrive.
func (s *Session) runInsertQuery(r *exec.Execution, q *plan.InsertQuery) error {
	if err := s.guardAll(r); err != nil {
		return err
	}
	if err := s.requireUTF8(); err != nil {
		return err
	}
	if s.engine.ReadsOnly() { // if the query returns no rows, no server is sent an INSERT to refuse
		return wire.Errorf(mysql.ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, "25006", "Cannot execute statement in a READ ONLY transaction")
	}
	read := q.Lex(r.Values.Lexed)
	args := new(stmt.Args)
	args.Foreign = s.vars.Foreign
	args.Reset(read, s.boundOf(r))
	own := *r
	own.Values = &plan.Values{Args: args, InsertID: s.vars.InsertID, UserVariable: r.Values.UserVariable}
	var in exec.Inserted
	err := s.gatherFor(&own, q.Gather, func(g *exec.Gathering) (err error) {
		text := string(s.engine.Edited(g.Values.Text, g.Edits()))
		as := exec.Insertion{Rows: q.Around(r.Values), Plan: q.Batch}
		in, err = g.Insert(as, func(add exec.Add) error { return g.Copy(text, g.Bound(), q.Destination, add) })
		return err
	})
	if err != nil {
		return err
	}
	return s.writeInserted(in, insertInfo(in.Rows, in.Totals, r.Facts.Statement.Insert.Ignore))
}

// requireUTF8 refuses a client whose character set is not UTF-8, because values are written into the texts of INSERTs.
func (s *Session) requireUTF8() error {
	if !s.vars.QuotesUTF8() {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows from elsewhere for several shards, for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
	}
	return nil
}
