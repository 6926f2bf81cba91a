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

// explain answers EXPLAIN with the route, and beside it with what the server of each shard says of its part. What is one shard's
// whatever its values is that one's to explain.
func (s *Session) explain(r *exec.Work) error {
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
	if err := s.mayRun(x.plan.About()); err != nil { // servers run what they analyze, and read what is constant
		return err
	}
	if on, one := s.explainedAt(r.Snapshot, x.plan); one && rows == nil {
		if r.Facts.Statement.Analyzes { // it runs
			r.Facts = x.plan.About()
		} else {
			facts := *r.Facts
			facts.Leaves = x.plan.About().Leaves // servers may compute what is constant
			r.Facts = &facts
		}
		return s.runAnywhere(r, on, true, nil)
	}
	var args stmt.Args
	args.Reset(&x.lexed, s.boundOf(r))
	values := plan.Values{Args: &args, InsertID: s.vars.InsertID}
	for _, line := range plan.Explain(x.plan, r.Snapshot.Map, &values, &x.route) {
		rows = append(rows, []string{line.Part, line.Detail})
	}
	said, err := s.saidByServers(r, &x)
	if err != nil {
		return err
	}
	rows = append(rows, said...)
	return s.writeTexts(reply.TextColumns(explained, rows), rows)
}

// explained are the columns of a route.
var explained = []string{"locus", "detail"}

// explainedAt gives the shards any of which explains a statement of one shard by itself.
func (s *Session) explainedAt(w *snapshot.Snapshot, p plan.Plan) (on exec.Candidates, ok bool) {
	switch p := p.(type) {
	case *plan.OneShard:
		switch {
		case p.Named: // that it goes there is to be told
			return on, false
		case p.Alike:
			return s.env.StandIns(w), true
		}
		return exec.Candidates{Shards: []router.ShardName{p.Shard}}, true
	case *plan.AnyShard:
		return s.env.StandIns(w), true
	}
	return on, false
}

// boundOf gives the values of a prepared statement's placeholders.
func (s *Session) boundOf(r *exec.Work) []stmt.Value {
	if r.Prepared == nil {
		return nil
	}
	return s.bound
}

// explaining is a statement that EXPLAIN explains.
type explaining struct {
	lexed stmt.Lexed
	plan  plan.Plan
	route plan.Route
}

// saidByServers is what the servers of the shards say of their parts, a line for each row of theirs. A shard that can't be asked
// is no error of the rest.
func (s *Session) saidByServers(r *exec.Work, x *explaining) (lines [][]string, err error) {
	analyzes := r.Facts.Statement.Analyzes
	if analyzes && !readsAlone(x.plan.About()) {
		return nil, &plan.Refusal{Code: plan.Unsupported, Message: "what is analyzed is run, and of sharded and global tables only reads are that lock, assign and call nothing: EXPLAIN it without ANALYZE"}
	}
	parts, err := s.explainedParts(r, x)
	if err != nil {
		if _, refused := err.(*plan.Refusal); refused { //nolint:errorlint // it is never wrapped
			return nil, nil // the route has said it
		}
		return nil, err
	}
	if analyzes && len(parts) > 1 && !x.route.Whole() {
		if err := s.account.MayScatter(len(parts), &s.vars.Diagnostics); err != nil {
			return nil, err
		}
	}
	how := string(r.Values.Text[:r.Facts.Statement.Inner])
	for _, part := range parts {
		said, err := s.saidBy(r, part.Shard, how+string(part.Text), txn.Effects(x.plan.About()))
		wrong, answered := errors.AsType[*backend.ServerError](err)
		switch {
		case err == nil:
		case answered && wrong.Code == mysql.ER_PARSE_ERROR, s.interrupts.Unwanted() != nil: // no server of ours explains so
			return nil, err
		default:
			said = []string{err.Error()}
		}
		for _, line := range said {
			lines = append(lines, []string{"plan on " + string(part.Shard), line})
		}
	}
	return lines, nil
}

// explainedParts are the texts that the shards of the route would be sent, with the values of placeholders in them. There are none
// of what is gathered, stamped or made everywhere. The error is a *plan.Refusal of what isn't run either.
func (s *Session) explainedParts(r *exec.Work, x *explaining) ([]exec.Part, error) {
	lexed, p := &x.lexed, x.plan
	if r.Prepared != nil && lexed.Params > 0 {
		text, err := s.withLiterals(lexed.Text, lexed.Literals)
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
	w := &exec.Work{Plan: p, Facts: p.About(), Snapshot: r.Snapshot, Values: &plan.Values{Args: &args, InsertID: s.vars.InsertID}}
	switch p := p.(type) {
	case *plan.OneShard:
		return []exec.Part{{Shard: p.Shard, Text: s.explainedText(w, p.Added)}}, nil
	case *plan.Read:
		if err := p.Route(r.Snapshot.Map, w.Values, &x.route); err != nil {
			return nil, err
		}
		parts, err := s.env.ReadParts(w, p, &x.route)
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
			added, err := p.Own(r.Snapshot.Map, &x.route, shard, p.Added)
			if err != nil {
				return nil, err
			}
			parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(shard), Text: s.explainedText(w, added)})
		}
		return parts, nil
	}
	return nil, nil
}

func (s *Session) explainedText(w *exec.Work, added []plan.Splice) []byte {
	if text := s.env.Spliced(w, added); text != nil {
		return slices.Clone(text)
	}
	return w.Values.Text
}

// saidBy is a server's answer to EXPLAIN: its one text, as it is, or a line for each row of its table.
func (s *Session) saidBy(r *exec.Work, shard router.ShardName, text string, leaves backend.Leaves) (lines []string, err error) {
	l, err := s.env.Request(r).Apart(shard, s.vars.Settings)
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
