package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// prepareLocally answers COM_STMT_PREPARE for a statement that the session runs itself.
func (s *Session) prepareLocally(p *kept.Statement, columns []wire.Column) error {
	s.kept.Add(p)
	out, seq := wire.AppendPrepared(s.client.Out[:0], s.client.Seq, wire.Prepared{Statement: p.ID, Columns: uint16(len(columns)), Params: uint16(p.Given())})
	params := make([]wire.Column, p.Given())
	for i := range params {
		params[i] = wire.Column{Name: []byte("?"), Charset: exec.BinaryCollation, Type: mysql.MYSQL_TYPE_VAR_STRING, Flags: mysql.BINARY_FLAG}
	}
	out, seq = s.client.AppendDefinitions(out, seq, s.engine.Definitions(params), s.engine.Status())
	out, _ = s.client.AppendDefinitions(out, seq, s.engine.Definitions(columns), s.engine.Status())
	return s.client.Flush(out)
}

// preparable returns the text and the plan that a shard must prepare for a statement. If the session writes values into the
// statement, these are the resulting text and its plan. The plan is nil for a statement that the session runs itself. Its answer
// has the returned columns.
func (s *Session) preparable(w *snapshot.Snapshot, p *kept.Statement) (text string, shardPlan plan.Plan, columns []wire.Column, err error) {
	r := &exec.Execution{Engine: s.engine, Plan: p.Plan, Facts: p.Plan.About(), Snapshot: w, Values: &plan.Values{Args: new(stmt.Args), InsertID: s.vars.InsertID}}
	r.Values.Reset(&p.Lexed, nil)
	text, shardPlan = p.Text, p.Plan
	for {
		changed, under, err := s.replacement(r, shardPlan)
		if err != nil {
			return "", nil, nil, err
		}
		if changed == nil {
			break
		}
		lexed := new(stmt.Lexed)
		if shardPlan, err = s.planAgain(lexed, under, changed); err != nil {
			return "", nil, nil, err
		}
		text = string(changed)
		r.Follow(shardPlan)
		r.Values.Reset(lexed, nil)
	}
	if _, ok := shardPlan.(*plan.Local); !ok {
		if listed := r.Spliced(plan.Listing(shardPlan)); listed != nil {
			text = string(listed)
		}
		return text, shardPlan, nil, nil
	}
	st := shardPlan.About().Statement
	if !w.Flavor.PreparesAll() && textOnly[st.Kind] {
		return "", nil, nil, s.unpreparedError(w, st, text)
	}
	switch st.Kind {
	case stmt.ShowWarnings:
		columns = s.eval.DiagnosticColumns(st.Shown)
	case stmt.Explain:
		var lexed stmt.Lexed
		if err := s.read(&lexed, []byte(text)[st.Inner:]); err != nil {
			return "", nil, nil, err
		}
		inner, err := s.planUnder(&lexed, s.planContext(w))
		if err != nil {
			return "", nil, nil, err
		}
		if _, one := s.explainedAt(w, inner); one {
			return text, inner, nil, nil
		}
		columns = reply.TextColumns(explained, nil)
	case stmt.TextPrepare:
		return "", nil, nil, unpreparableError()
	default:
	}
	return text, nil, columns, nil
}

// textOnly contains the kinds of statements that MySQL does not prepare. Clients that get the error send the text instead.
var textOnly = map[stmt.Kind]bool{
	stmt.Use: true, stmt.Begin: true, stmt.Savepoint: true, stmt.Lock: true, stmt.Unlock: true, stmt.ShowWarnings: true,
	stmt.Diagnose: true,
}

// unpreparedError returns the error for a statement that MySQL does not prepare. LOCK TABLES of tables that can't be locked gets
// the server's error, which servers find first.
func (s *Session) unpreparedError(w *snapshot.Snapshot, st *stmt.Statement, text string) error {
	if st.Kind == stmt.Lock {
		if refused := s.readByServer(w, text); txn.IsRefusal(refused) {
			return refused
		}
	}
	return unpreparableError()
}

// unpreparableError returns MySQL's error for a statement that can't be prepared.
func unpreparableError() error {
	return wire.Errorf(mysql.ER_UNSUPPORTED_PS, wire.StateGeneral, "This command is not supported in the prepared statement protocol yet")
}

// replacement returns the text that replaces a statement, and the context in which that is planned. The text contains values of
// the session, or the queries of views. It is nil if the statement is not replaced.
func (s *Session) replacement(r *exec.Execution, p plan.Plan) (text []byte, under plan.Context, err error) {
	if text, expanded := expandedText(p); expanded {
		return text, s.planContext(r.Snapshot), nil
	}
	if _, is := p.(*plan.Rewritten); is {
		return s.rewritten(r, s.answers())
	}
	return nil, under, nil
}

// planAgain plans a text that replaces a statement.
func (s *Session) planAgain(lexed *stmt.Lexed, under plan.Context, text []byte) (plan.Plan, error) {
	if err := s.read(lexed, text); err != nil {
		return nil, err
	}
	return s.planUnder(lexed, under)
}

// runBound runs a statement that the session answers itself, with the values of its placeholders in the text.
func (s *Session) runBound(r *exec.Execution) error {
	text, err := r.WithValues()
	if err != nil {
		return err
	}
	bound := *r
	bound.Prepared, bound.Params = nil, nil
	return s.runChanged(&bound, text, s.planContext(r.Snapshot))
}
