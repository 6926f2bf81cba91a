package session

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

// runPrepared runs a text that PREPARE was given. Where the first shard alone is
// asked it prepares and executes the text itself: there the values of USING keep
// their types, which literals in their place can't in all cases. Else they are
// written into the text, for routing to see.
func (s *Session) runPrepared(r *request, text string, p *stmt.TextPrepared) error {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), s.mode)
	inner, err := plan.Make(lexed, s.planContext(r.world))
	if err != nil || !s.runsThere(r.world, text, lexed, inner, p) {
		bound, err := s.boundText(text, p)
		if err != nil {
			return err
		}
		return s.runChanged(r, bound, s.planContext(r.world))
	}
	s.countCommand(inner.Statement)
	args := new(stmt.Args)
	args.Foreign = s.foreign
	args.Reset(lexed, nil)
	return s.run(&request{
		plan: inner, world: r.world, textual: text, payload: append([]byte{mysql.COM_QUERY}, executing(p)...),
		values: &plan.Values{Args: args, InsertID: s.insertID},
	})
}

// runsThere tells whether the first shard can be given a text as it is.
func (s *Session) runsThere(w *World, text string, l *stmt.Lexed, inner *plan.Plan, p *stmt.TextPrepared) bool {
	switch inner.Statement.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Call, stmt.DDL:
	default:
		return false
	}
	there := inner.Place == plan.Any || inner.Place == plan.Fixed && inner.Shard == w.Catalog.First()
	plain := len(inner.Added) == 0 && l.Params == len(p.Using)+len(p.Values) && l.Params > 0
	readable := utf8.ValidString(text) && (!s.foreign || isASCII(text))
	return there && plain && readable && len(s.txn.branches) <= 1 && !wide(s.settings)
}

// textualName is what connections know a text by that they are about to execute.
// It is prepared anew each time.
const textualName = "locus_text"

func executing(p *stmt.TextPrepared) string {
	list := slices.Clip(p.Values) // of a plan that others use too
	for _, name := range p.Using {
		list = append(list, "@`"+strings.ReplaceAll(name, "`", "``")+"`")
	}
	return "EXECUTE " + textualName + " USING " + strings.Join(list, ", ")
}

// prepareTextual has a connection prepare what an EXECUTE is about to run on it.
func (s *Session) prepareTextual(l lease, r *request) error {
	if r.textual == "" {
		return nil
	}
	text := strings.ReplaceAll(r.textual, "'", "''")
	if s.mode&stmt.NoBackslash == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	_, err := l.conn.Exec(s.ctx, "PREPARE "+textualName+" FROM '"+text+"'")
	return err
}
