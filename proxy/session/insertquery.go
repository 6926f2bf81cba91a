package session

import (
	"strings"

	"locus/proxy/exec"
	"locus/router/plan"
	"locus/router/stmt"
)

// runInsertQuery runs an INSERT whose query's rows are not where they go: the
// query is answered over gathered rows, as a SELECT would be, and its rows are
// inserted as they come.
func (s *Session) runInsertQuery(r *request, q *plan.InsertQuery) error {
	if err := s.mayReadAll(r); err != nil {
		return err
	}
	if err := s.writable(); err != nil {
		return err
	}
	read := q.Lex(r.values.Lexed)
	args := new(stmt.Args)
	args.Foreign = s.vars.Foreign
	args.Reset(read, s.boundOf(r))
	own := *r
	own.values = &plan.Values{Args: args, InsertID: s.vars.InsertID, UserVariable: r.values.UserVariable}
	var b *bulk
	err := s.gathered(&own, q.Gather, func(g *exec.Gathering) error {
		head := string(r.values.Text[:r.values.Offset(q.Start)])
		var err error
		if b, err = s.bulk(&own, strings.TrimRight(head, blanks)); err != nil {
			return err
		}
		b.tail = " " + string(r.values.Text[r.values.Offset(q.End):])
		text := string(s.edited(own.values.Text, g.Edits()))
		return b.run(func() error { return g.Copy(text, g.Bound(), q.Destination, b.add) })
	})
	if err != nil {
		return err
	}
	return b.tell(r.facts.Statement.Insert.Ignore)
}

// writable refuses what could not be written into a text as it is.
func (s *Session) writable() error {
	if !s.vars.QuotesUTF8() {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows from elsewhere for several shards, for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
	}
	return nil
}
