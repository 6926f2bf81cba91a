package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

// textPrepared runs PREPARE, EXECUTE and DEALLOCATE PREPARE. The session keeps
// the texts; what is executed is the text with the variables' values in it,
// planned like any other.
func (s *Session) textPrepared(r *request) error {
	p := r.plan.Statement.Prepared
	switch p.Verb {
	case "prepare":
		return s.answer(s.prepareText(r, p))
	case "execute":
		text, err := s.executedText(p)
		if err != nil {
			return err
		}
		return s.runChanged(r, text, s.planContext(r.world))
	}
	if _, ok := s.texts[p.Name]; !ok {
		return unknownText(p.Name, "DEALLOCATE PREPARE")
	}
	delete(s.texts, p.Name)
	return s.answer(nil)
}

func unknownText(name, to string) error {
	return fail(erUnknownStmt, stateGeneral, "Unknown prepared statement handler (%s) given to %s", name, to)
}

// prepareText has a shard read the text, for the errors that a server finds.
func (s *Session) prepareText(r *request, p *stmt.TextPrepared) error {
	delete(s.texts, p.Name)
	text := p.Text
	if p.Variable != "" {
		var err error
		if text, err = s.userText(p.Variable); err != nil {
			return err
		}
	}
	if len(s.texts)+len(s.prepared) >= mostPrepared {
		return fail(mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED, "42000", "this session has %d prepared statements: close some", mostPrepared)
	}
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), s.mode)
	inner, err := plan.Make(lexed, s.planContext(r.world))
	if err != nil {
		return err
	}
	switch {
	case inner.Statement.Kind == stmt.TextPrepare:
		return fail(mysql.ER_UNSUPPORTED_PS, stateGeneral, "This command is not supported in the prepared statement protocol yet")
	case inner.Place != plan.Session:
		if _, _, err := s.prepareAt(s.prepareShard(r.world, inner), text); err != nil {
			return err
		}
	}
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	s.texts[p.Name] = text
	return nil
}

// executedText puts the values of USING in the places of the placeholders.
func (s *Session) executedText(p *stmt.TextPrepared) ([]byte, error) {
	text, ok := s.texts[p.Name]
	if !ok {
		return nil, unknownText(p.Name, "EXECUTE")
	}
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), s.mode)
	if lexed.Params != len(p.Using) {
		return nil, fail(mysql.ER_WRONG_ARGUMENTS, stateGeneral, "Incorrect arguments to EXECUTE")
	}
	var out []byte
	from := 0
	for _, literal := range lexed.Literals {
		if literal.Kind == stmt.ParamLiteral {
			out = append(out, text[from:literal.Start]...)
			out = append(out, s.userVariable(p.Using[literal.Param])...)
			from = int(literal.End)
		}
	}
	return append(out, text[from:]...), nil
}
