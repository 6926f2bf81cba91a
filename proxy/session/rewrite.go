package session

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/flavor"
	"locus/router/plan"
	"locus/router/stmt"
)

// runRewritten runs a statement that speaks of the session: what the session
// knows is written into the text as values, and that is planned and run like any
// other statement, wherever it leads.
func (s *Session) runRewritten(r *request) error {
	if done, err := s.showPatched(r); done || err != nil {
		return err
	}
	text, err := s.rewritten(r)
	if err != nil {
		return err
	}
	under := s.rewrittenContext(r)
	if !r.world.Flavor.KeepsWarnings() || !readsDiagnostics(r.plan.Statement) {
		return s.runChanged(r, text, under)
	}
	kept := slices.Clone(s.warnings)
	err = s.runChanged(r, text, under)
	if len(s.warnings) == 0 {
		s.warnings = kept
	}
	return err
}

// rewrittenContext is what a rewritten text is planned in.
func (s *Session) rewrittenContext(r *request) plan.Context {
	under := s.planContext(r.world)
	under.Owned, under.Rewritten = nil, true // nothing is left of it
	if st := r.plan.Statement; st.Kind == stmt.Show && len(st.Tables) == 0 {
		under.Rights = nil // the text is ours
	}
	return under
}

// readsDiagnostics tells a statement that asks for the number of warnings, which
// leaves them as they are.
func readsDiagnostics(st *stmt.Statement) bool {
	return slices.ContainsFunc(st.Owned, func(o stmt.Owned) bool { return o.Name == "@@warning_count" || o.Name == "@@error_count" })
}

func (s *Session) rewritten(r *request) ([]byte, error) {
	st := r.plan.Statement
	if st.Kind == stmt.Show {
		return s.shown(st.Shown)
	}
	text, from := r.values.Text, 0
	var out []byte
	var replaced []stmt.Owned
	fields := st.Unnamed
	name := func(upTo int) {
		for ; len(fields) > 0 && fields[0].End <= upTo; fields = fields[1:] {
			f := fields[0]
			if !within(replaced, f) {
				continue
			}
			out = append(out, text[from:f.End]...)
			out, from = appendAlias(out, text[f.Start:f.End]), f.End
		}
	}
	for _, o := range st.Owned {
		name(o.Start)
		sql, ok := s.ownAnswer(o)
		if o.Name == "is_used_lock()" {
			sql, ok = s.holder(string(text[o.Start:o.End])), true
		}
		table, isTable := strings.CutPrefix(o.Name, "table ")
		if isTable && (o.Statement && s.flavor() == flavor.MariaDB || !s.hasTable(table, text[o.Start:o.End])) {
			continue // the shard says so
		}
		if isTable {
			var err error
			if sql, err = s.ownTable(table, r); err != nil {
				return nil, err
			}
			if o.Statement {
				sql = "SELECT * FROM " + sql
			}
			if ok = true; o.Statement || !r.values.Aliased(o.End) {
				sql += " AS `" + table[strings.IndexByte(table, '.')+1:] + "`"
			}
		}
		switch {
		case !ok, isTable, st.Kind == stmt.Set:
		case tableless(st) && !untyped[o.Name]:
			sql = typed(sql, o, string(text[o.Start:o.End]))
		default:
			sql = ownNumber(sql)
		}
		if ok {
			out = append(append(out, text[from:o.Start]...), sql...)
			from, replaced = o.End, append(replaced, o)
		}
	}
	name(len(text))
	return append(out, text[from:]...), nil
}

// holder gives whose lock it is: sessions of this process are known by the connections
// that they have pinned.
func (s *Session) holder(call string) string {
	var b strings.Builder
	for _, p := range s.Processes() {
		if p.Pinned != 0 {
			b.WriteString(" WHEN " + uitoa(uint64(p.Pinned)) + " THEN " + uitoa(uint64(p.ID)))
		}
	}
	if b.Len() == 0 {
		return call
	}
	return "CASE " + call + b.String() + " ELSE " + call + " END"
}

// hasTable tells whether the servers have a table under the name that is written:
// MySQL has those of variables and of status in performance_schema alone.
func (s *Session) hasTable(table string, written []byte) bool {
	return s.flavor().HasStatusTable(table) || !bytes.Contains(bytes.ToLower(written), []byte("information_schema"))
}

// tableless tells a query of no rows, such as SELECT ROW_COUNT().
func tableless(st *stmt.Statement) bool {
	return st.Kind == stmt.Select && !slices.ContainsFunc(st.Blocks, func(b *stmt.Block) bool { return len(b.Tables) > 0 })
}

// untyped are answers that no shard has one of its own for, or whose asking has
// effects.
var untyped = map[string]bool{"@@locus_context": true, "@@locus_read": true, "release_all_locks()": true}

// typed gives a value the type that the shard's own, which was asked for, has.
func typed(sql string, o stmt.Owned, asked string) string {
	if strings.HasPrefix(o.Name, "@@") {
		asked = o.Name // in whatever scope the shard has it
	}
	signed := o.Name == "row_count()" || o.Name == "found_rows()"
	if _, err := strconv.ParseUint(sql, 10, 64); err == nil && !signed {
		sql = "CAST(" + sql + " AS UNSIGNED)"
	}
	return "IF(TRUE, " + sql + ", " + asked + ")"
}

// ownNumber makes a number one that ORDER BY doesn't take for a field's.
func ownNumber(sql string) string {
	if _, err := strconv.ParseInt(sql, 10, 64); err != nil {
		return sql
	}
	return "CAST(" + sql + " AS SIGNED)"
}

// within tells whether something was replaced in a field.
func within(replaced []stmt.Owned, f stmt.Unnamed) bool {
	for _, o := range replaced {
		if f.Start <= o.Start && o.End <= f.End {
			return true
		}
	}
	return false
}

// longestName is that of an alias, in characters.
const longestName = 256

// appendAlias names a field by the text that it had.
func appendAlias(out, name []byte) []byte {
	if len(name) > longestName {
		return out
	}
	out = append(out, " AS `"...)
	out = append(out, bytes.ReplaceAll(name, []byte("`"), []byte("``"))...)
	return append(out, '`')
}

// runChanged runs another text in place of the client's, with the client's own
// parameters.
func (s *Session) runChanged(r *request, text []byte, under plan.Context) error {
	lexed, read := new(stmt.Lexed), s.reading()
	if r.statement != nil {
		read = r.statement.read
		under.Schema = read.settings.Database()
	}
	if err := s.readBy(lexed, text, read.mode); err != nil {
		return err
	}
	p, err := s.planUnder(lexed, under)
	if err != nil {
		return err
	}
	if r.statement != nil && !s.readsAsThen(r.world, &read, string(text), p) {
		return outlived()
	}
	if r.plan.Statement.Kind == stmt.TextPrepare {
		s.countCommand(p.Statement) // servers count EXECUTE and what it runs
	}
	args := new(stmt.Args)
	args.Foreign = s.foreign
	next := &request{plan: p, world: r.world, payload: r.payload, values: &plan.Values{Args: args, InsertID: s.insertID}}
	if r.statement == nil {
		args.Reset(lexed, nil)
		next.payload = append([]byte{mysql.COM_QUERY}, text...)
		return s.run(next)
	}
	next.statement = &prepared{text: string(text), params: lexed.Params, added: r.statement.added, read: read, types: r.statement.types, long: r.statement.long, plan: p}
	next.statement.lexed = *lexed
	args.Reset(&next.statement.lexed, s.bound)
	return s.run(next)
}
