package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// textPrepared runs PREPARE, EXECUTE and DEALLOCATE PREPARE. The session keeps the texts. EXECUTE plans the text with the values
// of the variables in it like any other text.
func (s *Session) textPrepared(r *exec.Execution) error {
	p := r.Facts.Statement.Prepared
	if (p.Expression != "" || len(p.Values) > 0) && !r.Snapshot.Flavor.PreparesExpressions() {
		return wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "You have an error in your SQL syntax: MySQL takes a text or a user variable here")
	}
	switch p.Verb {
	case "prepare":
		if err := s.prepareText(r, p); err != nil {
			return err
		}
		return s.engine.WriteOK(wire.OK{Info: []byte("Statement prepared")})
	case "immediate":
		return s.runImmediate(r, p)
	case "execute":
		t := s.kept.Named(p.Name)
		if t == nil {
			return kept.UnknownName(p.Name, "EXECUTE")
		}
		return s.runPrepared(r, t, p)
	}
	if s.kept.Named(p.Name) == nil {
		return kept.UnknownName(p.Name, "DEALLOCATE PREPARE")
	}
	s.kept.Forget(p.Name)
	return s.answer(nil)
}

// prepareText runs PREPARE. A shard prepares the text too, to find the errors that only a server finds.
func (s *Session) prepareText(r *exec.Execution, p *stmt.TextPrepared) error {
	s.kept.Forget(p.Name)
	text, err := s.preparedText(p)
	if err != nil {
		return err
	}
	if err := s.kept.FullOfNames(); err != nil {
		return err
	}
	lexed := new(stmt.Lexed)
	if err := s.read(lexed, []byte(text)); err != nil {
		return err
	}
	text = string(lexed.Text)
	inner, w, err := s.planned(r.Snapshot, lexed, s.planContext(r.Snapshot))
	if err != nil {
		return err
	}
	r.Snapshot = w
	st := inner.About().Statement
	_, here := inner.(*plan.Local)
	switch {
	case st.Kind == stmt.TextPrepare:
		return unpreparableError()
	case !r.Snapshot.Flavor.PreparesAll() && textOnly[st.Kind]:
		return s.unpreparedError(r.Snapshot, st, text)
	case !here:
		if _, _, _, err := s.prepareAnywhere(r.Snapshot, inner, text); err != nil {
			return err
		}
	}
	return s.kept.Name(p.Name, kept.Text{Text: text, Reading: s.reading()})
}

// preparedText returns the text to prepare.
func (s *Session) preparedText(p *stmt.TextPrepared) (string, error) {
	switch {
	case p.Expression != "":
		literal, err := s.eval.ComputeValue("CONVERT(" + p.Expression + " USING utf8mb4)")
		if err != nil {
			return "", err
		}
		return sysvars.LiteralText(literal, p.Expression)
	case p.Variable != "":
		return s.eval.UserText(p.Variable)
	}
	return p.Text, nil
}

// runImmediate runs EXECUTE IMMEDIATE: it prepares a text, runs it, and forgets it.
func (s *Session) runImmediate(r *exec.Execution, p *stmt.TextPrepared) error {
	text, err := s.preparedText(p)
	if err != nil {
		return err
	}
	lexed := new(stmt.Lexed)
	if err := s.read(lexed, []byte(text)); err != nil {
		return err
	}
	text = string(lexed.Text)
	inner, w, err := s.planned(r.Snapshot, lexed, s.planContext(r.Snapshot))
	if err != nil {
		return err
	}
	r.Snapshot = w
	if inner.About().Statement.Kind == stmt.TextPrepare { // the text could name itself
		return unpreparableError()
	}
	return s.runPrepared(r, &kept.Text{Text: text, Reading: s.reading()}, p)
}

// boundText returns a text with the values of USING in place of its placeholders.
func (s *Session) boundText(text string, p *stmt.TextPrepared) ([]byte, error) {
	var values []string
	for _, name := range p.Using {
		values = append(values, s.vars.UserVariable(name))
	}
	for _, expression := range p.Values {
		literal, err := s.eval.ComputeValue(expression)
		if err != nil {
			return nil, err
		}
		values = append(values, sysvars.Uncollated(literal))
	}
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), s.vars.Mode)
	if lexed.Params != len(values) {
		return nil, wire.Errorf(mysql.ER_WRONG_ARGUMENTS, wire.StateGeneral, "Incorrect arguments to EXECUTE")
	}
	var edits []stmt.Edit
	for _, literal := range lexed.Literals {
		if literal.Kind == stmt.ParamLiteral {
			edits = append(edits, stmt.Edit{From: int(literal.Start), To: int(literal.End), Text: values[literal.Param]})
		}
	}
	for _, field := range stmt.UnnamedFields(lexed) {
		inside := func(e stmt.Edit) bool { return field.Start <= e.From && e.To <= field.End }
		if slices.ContainsFunc(edits, inside) {
			edits = append(edits, stmt.Edit{From: field.End, To: field.End, Text: string(s.vars.AppendAlias(nil, lexed.Text[field.Start:field.End]))})
		}
	}
	slices.SortStableFunc(edits, func(a, b stmt.Edit) int { return a.From - b.From })
	return stmt.AppendEdited(nil, lexed.Text, edits), nil
}
