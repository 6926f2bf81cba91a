package session

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// runPrepared runs a text that was given to PREPARE. If only the first shard runs it, that shard prepares and executes the text
// itself. There the values of USING keep their types, which literals can't express in all cases. Otherwise the values are written
// into the text as literals, so that it can be routed.
func (s *Session) runPrepared(r *exec.Execution, t *kept.Text, p *stmt.TextPrepared) error {
	lexed := new(stmt.Lexed)
	if err := s.readBy(lexed, []byte(t.Text), t.Reading.Mode); err != nil {
		return err
	}
	inner, err := s.planUnder(lexed, s.preparedContext(r.Snapshot, &t.Reading))
	if err != nil || !s.runsThere(r.Snapshot, t, lexed, inner, p) {
		if s.engine.ReadsDifferently(&t.Reading) {
			return exec.StaleReading()
		}
		bound, err := s.boundText(t.Text, p)
		if err != nil {
			return err
		}
		return s.runChanged(r, bound, s.planContext(r.Snapshot))
	}
	s.vars.Commands.Count(inner.About().Statement)
	args := new(stmt.Args)
	args.Foreign = s.vars.Foreign || t.Reading.Foreign
	args.Reset(lexed, nil)
	return s.run(&exec.Execution{
		Engine: s.engine, Plan: inner, Facts: inner.About(), Snapshot: r.Snapshot, Textual: t, Payload: append([]byte{mysql.COM_QUERY}, executeText(p)...),
		Values: &plan.Values{Args: args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell},
	})
}

// runsThere reports whether the first shard can be sent the text unchanged.
func (s *Session) runsThere(w *snapshot.Snapshot, t *kept.Text, l *stmt.Lexed, inner plan.Plan, p *stmt.TextPrepared) bool {
	if !s.readsAlike(w, &t.Reading, t.Text, inner) {
		return false
	}
	switch inner.About().Statement.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Call, stmt.DDL:
	default:
		return false
	}
	_, onFirst := inner.(*plan.AnyShard)
	if one, ok := inner.(*plan.OneShard); ok {
		onFirst = one.Shard == w.Catalog.First() && len(one.Added) == 0 && len(one.Summed) == 0
	}
	plain := l.Params == len(p.Using)+len(p.Values) && (l.Params > 0 || s.engine.ReadsDifferently(&t.Reading))
	readable := utf8.ValidString(t.Text) && (!s.vars.Foreign && !t.Reading.Foreign || exec.IsASCII(t.Text))
	return onFirst && plain && readable && len(s.conns.Shards()) <= 1 && !sysvars.Wide(s.vars.Settings)
}

// executeText returns the EXECUTE statement that a shard is sent.
func executeText(p *stmt.TextPrepared) string {
	list := slices.Clip(p.Values) // other sessions share the plan
	for _, name := range p.Using {
		list = append(list, "@`"+strings.ReplaceAll(name, "`", "``")+"`")
	}
	if len(list) == 0 {
		return "EXECUTE " + exec.TextualName
	}
	return "EXECUTE " + exec.TextualName + " USING " + strings.Join(list, ", ")
}
