package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// explain answers EXPLAIN with the route, and with what each shard's server answers to EXPLAIN of its part. If a statement runs
// on one shard whatever its values are, that shard explains the whole statement. So it does if the client has named the form of the
// answer, because programs read that form. Prepared statements are excepted: their columns were announced without the values.
func (s *Session) explain(r *exec.Execution) error {
	var x explaining
	if err := s.read(&x.lexed, r.Values.Text[r.Facts.Statement.Inner:]); err != nil {
		return err
	}
	var err error
	if x.plan, err = s.planUnder(&x.lexed, s.planContext(r.Snapshot)); err != nil {
		return err
	}
	var rows [][]string
	for {
		text, is := expandedText(x.plan)
		if !is {
			break
		}
		rows = append(rows, []string{x.plan.(*plan.Rewritten).What, string(text)})
		if x.plan, err = s.planAgain(&x.lexed, s.planContext(r.Snapshot), text); err != nil {
			return err
		}
	}
	if err := s.mayRun(x.plan.About()); err != nil { // with ANALYZE servers execute the statement, and for EXPLAIN they read constant tables
		return err
	}
	if on, one := s.explainedAt(r.Snapshot, x.plan); one && rows == nil {
		r.Facts = x.facts(r.Facts)
		return r.RunAnywhere(on, true, nil)
	}
	if r.Facts.Statement.Formatted && r.Prepared == nil && rows == nil {
		if done, err := s.explainInForm(r, &x); done || err != nil {
			return err
		}
	}
	var args stmt.Args
	args.Reset(&x.lexed, r.Values.Bound)
	values := plan.Values{Args: &args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell}
	for _, line := range plan.Explain(x.plan, r.Snapshot.Map, &values, &x.route) {
		rows = append(rows, []string{line.Part, line.Detail})
	}
	plans, err := s.serverPlans(r, &x)
	if err != nil {
		return err
	}
	rows = append(rows, plans...)
	return s.engine.WriteTexts(reply.TextColumns(explained, rows), rows)
}

// explained contains the column names of a route.
var explained = []string{"locus", "detail"}

// explainedAt returns the shards that can explain a statement of one shard. Any of them may do it.
func (s *Session) explainedAt(w *snapshot.Snapshot, p plan.Plan) (on exec.Candidates, ok bool) {
	switch p := p.(type) {
	case *plan.OneShard:
		switch {
		case p.Named: // the answer must show that the statement goes to this shard
			return on, false
		case p.Alike:
			return s.engine.StandIns(w), true
		}
		return exec.Candidates{Shards: []router.ShardName{p.Shard}}, true
	case *plan.AnyShard:
		return s.engine.StandIns(w), true
	}
	return on, false
}

// explainInForm has a shard answer EXPLAIN of a statement that runs on this shard alone. It returns false if the statement doesn't.
func (s *Session) explainInForm(r *exec.Execution, x *explaining) (done bool, err error) {
	if one, is := x.plan.(*plan.OneShard); is && one.Named {
		return false, nil
	}
	parts, err := s.partsToExplain(r, x)
	if err != nil || len(parts) != 1 {
		return false, err
	}
	text := slices.Concat(r.Values.Text[:r.Facts.Statement.Inner], parts[0].Text)
	r.Facts = x.facts(r.Facts)
	r.Outside = true // a plan is no part of the transaction, which may be limited to another shard
	return true, r.RunTextOn(parts[0].Shard, text)
}

// explaining is a statement that EXPLAIN explains.
type explaining struct {
	lexed stmt.Lexed
	plan  plan.Plan
	route plan.Route
}

// facts returns the facts of an EXPLAIN, given its own, for the server that answers it.
func (x *explaining) facts(own *plan.Facts) *plan.Facts {
	if own.Statement.Analyzes { // the statement runs
		return x.plan.About()
	}
	facts := *own
	facts.Leaves = x.plan.About().Leaves // servers may compute constant expressions
	return &facts
}

// serverPlans returns the servers' plans for their parts of the statement, one line for each row. If a shard
// can't be queried, its line contains the error.
func (s *Session) serverPlans(r *exec.Execution, x *explaining) (lines [][]string, err error) {
	parts, err := s.partsToExplain(r, x)
	if err != nil {
		return nil, err
	}
	if r.Facts.Statement.Analyzes && len(parts) > 1 && !x.route.Whole() {
		if err := s.engine.Account.MayScatter(len(parts), &s.vars.Diagnostics); err != nil {
			return nil, err
		}
	}
	how := string(r.Values.Text[:r.Facts.Statement.Inner])
	for _, part := range parts {
		answer, err := s.serverPlan(r, part.Shard, how+string(part.Text), txn.Effects(x.plan.About()))
		refusal, answered := errors.AsType[*backend.ServerError](err)
		switch {
		case err == nil:
		case answered && refusal.Code == mysql.ER_PARSE_ERROR, s.interrupts.Unwanted() != nil: // no server accepts this form of EXPLAIN
			return nil, err
		default:
			answer = []string{err.Error()}
		}
		for _, line := range answer {
			lines = append(lines, []string{"plan on " + string(part.Shard), line})
		}
	}
	return lines, nil
}

// partsToExplain returns the texts that the servers may explain. There are none for a statement that would be refused.
func (s *Session) partsToExplain(r *exec.Execution, x *explaining) ([]exec.Part, error) {
	if r.Facts.Statement.Analyzes && !exec.ReadsAlone(x.plan.About()) {
		return nil, &plan.Refusal{Code: plan.Unsupported, Message: "what is analyzed is run, and of sharded and global tables only reads are that lock, assign and call nothing: EXPLAIN it without ANALYZE"}
	}
	parts, err := s.explainedParts(r, x)
	if _, refused := err.(*plan.Refusal); refused { //nolint:errorlint // it is never wrapped
		return nil, nil // the route contains the refusal
	}
	return parts, err
}

// explainedParts returns the texts that the shards of the route would be sent, with the values of placeholders in them. There are
// none for a statement that is gathered, stamped, or run on every shard. The error is a *plan.Refusal if the statement would not
// be run either.
func (s *Session) explainedParts(r *exec.Execution, x *explaining) ([]exec.Part, error) {
	lexed, p := &x.lexed, x.plan
	if r.Prepared != nil && lexed.Params > 0 {
		text, err := r.WithLiterals(lexed.Text, lexed.Literals)
		if err != nil {
			return nil, err
		}
		lexed = new(stmt.Lexed)
		if p, err = s.planAgain(lexed, s.planContext(r.Snapshot), text); err != nil {
			return nil, err
		}
	}
	var args stmt.Args
	args.Reset(lexed, nil)
	w := &exec.Execution{Engine: s.engine, Plan: p, Facts: p.About(), Snapshot: r.Snapshot, Values: &plan.Values{Args: &args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell}}
	switch p := p.(type) {
	case *plan.OneShard:
		return []exec.Part{{Shard: p.Shard, Text: s.explainedText(w, p.Added)}}, nil
	case *plan.Read:
		if err := p.Route(r.Snapshot.Map, w.Values, &x.route); err != nil {
			return nil, err
		}
		parts, err := w.ReadParts(p, &x.route)
		for i := range parts {
			parts[i].Text = slices.Clone(parts[i].Text)
		}
		return parts, err
	case *plan.Change:
		if err := p.Route(r.Snapshot.Map, w.Values, &x.route); err != nil {
			return nil, err
		}
		var parts []exec.Part
		for _, shard := range x.route.Shards {
			added, err := p.AppendOwned(r.Snapshot.Map, &x.route, shard, p.Added)
			if err != nil {
				return nil, err
			}
			parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(shard), Text: s.explainedText(w, added)})
		}
		return parts, nil
	}
	return nil, nil
}

// explainedText returns the text of a part.
func (s *Session) explainedText(w *exec.Execution, added []plan.Splice) []byte {
	if text := w.Spliced(added); text != nil {
		return slices.Clone(text)
	}
	return w.Values.Text
}

// serverPlan returns a server's answer to EXPLAIN: its only text unchanged, or a line for each row of its table.
func (s *Session) serverPlan(r *exec.Execution, shard router.ShardName, text string, leaves backend.Leaves) (lines []string, err error) {
	l, err := r.LendApart(shard, r.AcquireMode, s.vars.Settings)
	if err != nil {
		return nil, err
	}
	l.Conn.Note(leaves)
	answer, err := l.Conn.Query(s.ctx, text)
	if err != nil {
		l.Fail(err)
		return nil, err
	}
	l.Done(l.Conn.Status())
	for _, row := range answer.Rows {
		if len(row) == 1 {
			lines = append(lines, string(row[0]))
			continue
		}
		var fields []string
		for i, value := range row {
			if value != nil {
				fields = append(fields, fmt.Sprintf("%s=%s", answer.Columns[i].Name, value))
			}
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return lines, nil
}
