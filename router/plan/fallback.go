package plan

import (
	"errors"
	"slices"
	"strings"

	"locus/router/stmt"
)

// fallback plans a text that the parser refuses.
func fallback(l *stmt.Lexed, ctx Context, reason error) (Plan, error) {
	p, err := passedOn(l, ctx, reason)
	if err == nil {
		facts := p.About()
		facts.Reserved = reserved(facts.Statement, facts.Writes, ctx)
	}
	return p, err
}

// passedOn is fallback without the check for the schema locus. The server may know it: if its
// first words are those of a statement that touches only what it names, and it
// names nothing that is elsewhere than on the first shard, and nothing that would
// stay behind on the connection, it goes there as it is, and the server answers in
// its own words.
func passedOn(l *stmt.Lexed, ctx Context, reason error) (Plan, error) {
	var syntax *stmt.SyntaxError
	if !errors.As(reason, &syntax) {
		return nil, reason
	}
	if p, err := ctx.beforeWords(l, syntax); p != nil || err != nil {
		return p, err
	}
	text := wordsOf(l)
	if charset, ok := strings.CutPrefix(syntax.Reason, "[parser:1115]"); ok && text.bare[text.verb()] == "set" { // no server's: the parser knows theirs
		return nil, &Unknown{Number: 1115, Message: charset}
	}
	if err := judged(l); err != nil {
		return nil, err
	}
	if err := ctx.unreadable(l, syntax, text); err != nil {
		return nil, err
	}
	reach := l.Reach()
	object, name := text.created()
	state := text.state()
	if object == "event" || object == "program" {
		state = "" // what its body says is done later, or elsewhere
		if err := ctx.program(l, &reach); err != nil {
			return nil, err
		}
	}
	mention := mentioned(l, ctx)
	if text.dropsProgram() {
		mention = ""
	}
	switch {
	case mention != "":
		return nil, refuse(Unreadable, "%s; it names %s, so it can't be passed on unread", syntax.Error(), mention)
	case l.Err != nil: // no server reads on behind a quote that does not end: it refuses in its own words
		r := refuse(Unreadable, "%s", syntax.Error())
		r.Unread = true
		return nil, r
	case !reach.Passes:
		return nil, text.notPassed(syntax)
	case !ctx.Rewritten && text.namesTheServers(ctx):
		return nil, refuse(NotAllowed, "%s; it may name the server's own tables: connect to the shard for it", syntax.Error())
	case reach.Dynamic != "":
		return nil, refuse(NotAllowed, "%s; with %s in it, it runs texts of its own making, whose tables can't be known: write its statements as they are", syntax.Error(), reach.Dynamic)
	case reach.Server != "":
		return nil, refuse(NotAllowed, "%s; %s in it reaches the server rather than tables: connect to the shard for it", syntax.Error(), reach.Server)
	case object == "database":
		return &Schema{Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: stmt.CreateSchema, Schema: name})}}, nil
	case object == "new database": // in place of one that there may be
		return &Schema{Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: stmt.CreateSchema, Features: stmt.DropsSchema, Schema: name})}}, nil
	case text.pins() != 0:
		return &OneShard{Facts: Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: text.pins()})}, Shard: ctx.Catalog.First()}, nil
	case object == "program" && text.assignsFromTrigger():
		return nil, refuse(Unsupported, "a trigger that names user variables: what it assigns to them would be lost to the session; use a column")
	case text.loadsXML() && !slices.Contains(text.bare[2:min(len(text.bare), 4)], "local"):
		return nil, refuse(NotAllowed, "LOAD XML of a file on a server reaches that rather than tables: use LOAD XML LOCAL")
	case text.loadsXML():
		s := text.left(object)
		s.Kind = stmt.LoadData
		l.Note(s)
		return &OneShard{Facts: Facts{Writes: true, KeepsInsertID: true, Statement: s, Leaves: text.leaves(s, ctx)}, Shard: ctx.Catalog.First()}, nil
	case state != "":
		r := refuse(Unsupported, "%s; with %s in it, it may depend on the connection or change its state, so it can't be passed on unread", syntax.Error(), state)
		r.Unread = true
		return nil, r
	}
	facts := unreadFacts(l, ctx, text, object)
	if p, err := ctx.routine(l, facts); p != nil || err != nil {
		return p, err
	}
	p := &OneShard{Shard: ctx.Catalog.First(), Alike: ctx.Alike, Facts: facts}
	readsForRoutines(p)
	return p, nil
}

// unreadable refuses what a text that the parser refuses may not have in it, whatever it does.
func (c Context) unreadable(l *stmt.Lexed, syntax *stmt.SyntaxError, text unread) error {
	if err := undeclared(l, syntax); err != nil {
		return err
	}
	if err := c.notCopiedUnread(l, text.bare); err != nil {
		return err
	}
	return hinted(l.Hints())
}

// beforeWords plans or refuses a text that the parser refuses by what else is known of it than its words. It returns nil, nil if they decide.
func (c Context) beforeWords(l *stmt.Lexed, syntax *stmt.SyntaxError) (Plan, error) {
	if l.Blank() { // comments alone, whatever they name: the server says that there is nothing to do
		return &OneShard{Facts: Facts{Statement: &stmt.Statement{Kind: stmt.Other}, Leaves: LeavesNothing}, Shard: c.Catalog.First()}, nil
	}
	if p := c.altersView(l); p != nil {
		return p, nil
	}
	if err := c.Rights.unread(syntax); err != nil {
		return nil, err
	}
	if c.Shard != "" {
		r := refuse(ShardNamed, "%s; %s", syntax.Error(), beyondNamed)
		r.Unread = true
		return nil, r
	}
	return c.maintained(l)
}

// unreadFacts are those of a text that shards get unread.
func unreadFacts(l *stmt.Lexed, ctx Context, text unread, object string) Facts {
	left := noted(l, text.left(object))
	return Facts{
		Writes: true, KeepsInsertID: true,
		ReadsInsertID: slices.Contains(text.bare, "last_insert_id") || slices.Contains(text.bare, "returning"), // rows don't say what was generated
		Statement:     left, Leaves: text.leaves(left, ctx),
	}
}

// noted is a statement with what its words alone tell of it.
func noted(l *stmt.Lexed, s *stmt.Statement) *stmt.Statement {
	l.Note(s)
	return s
}

// Unknown is a statement that names what no server has. Nothing of it happened.
// Number and text are MySQL's.
type Unknown struct {
	Number  uint16
	State   string // empty: 42000
	Message string
}

func (u *Unknown) Error() string { return u.Message }

// assignsFromTrigger tells a trigger whose body names a user variable: no session
// hears of what it assigns.
func (u unread) assignsFromTrigger() bool {
	bare := u.bare[u.verb():]
	trigger := slices.Index(bare, "trigger")
	return trigger > 0 && trigger < 8 && slices.ContainsFunc(bare[trigger:], func(w string) bool {
		return len(w) > 1 && w[0] == '@' && w[1] != '@'
	})
}

// loadsXML tells LOAD XML, which leaves on its connection what LOAD DATA does.
func (u unread) loadsXML() bool { return len(u.bare) > 2 && u.bare[0] == "load" && u.bare[1] == "xml" }

// left is a statement of which no more is known than what it may leave on its
// connection.
func (u unread) left(object string) *stmt.Statement {
	s := &stmt.Statement{Kind: stmt.Other}
	if u.program == stmt.Compound {
		s.Kind = stmt.Call
	}
	if object != "" {
		return s
	}
	for i, w := range u.bare {
		switch {
		case w == "get_lock", w == "release_lock", w == "release_all_locks":
			s.Features |= stmt.NamedLock
			s.Locks = []stmt.Operand{{Slot: -1}} // of an unknown name
		case strings.HasPrefix(w, "@"): // it may be assigned
			s.Features |= stmt.UnknownFunction
		case w == "temporary" && i > 0 && i < 4 && u.bare[u.verb()] == "create":
			s.Kind = stmt.DDL
			s.Features |= stmt.TemporaryTable
		}
	}
	return s
}

// bare gives a word in lower case, without quotes.
func bare(word []byte) string { return stmt.Unquoted(word) }

// dropsProgram tells DROP of a routine, trigger or event: it does none of what that does.
func (u unread) dropsProgram() bool {
	if len(u.bare) < 3 || u.bare[0] != "drop" {
		return false
	}
	switch u.bare[1] {
	case "procedure", "function", "package", "trigger", "event":
		return true
	}
	return false
}

// mentioned gives a name in a client's text that is not the first shard's alone, or "".
// Words in strings and comments count: what a server reads there need not be what
// the parser, which gave up, has read.
func mentioned(l *stmt.Lexed, ctx Context) string {
	var all []string
	if !ctx.Rewritten {
		l.AnyWords(func(word string) { all = append(all, word) })
	}
	l.Words(func(word []byte) { all = append(all, bare(word)) })
	name, _ := ctx.Catalog.Mentions(ctx.Schema, all)
	return name
}

func words(list ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range list {
		out[w] = true
	}
	return out
}

// unread is the words of a text that the parser refuses, in lower case and
// without quotes, as they were written, and whether a parenthesis follows.
type unread struct {
	bare, written []string
	called        []bool
	program       stmt.ProgramKind
}

func wordsOf(l *stmt.Lexed) (u unread) {
	u.program = l.Programs()
	l.Calls(func(word []byte, called bool) {
		u.bare = append(u.bare, bare(word))
		u.called = append(u.called, called)
		u.written = append(u.written, string(word))
	})
	return u
}

// verb is the place of the word that says what is done. SET STATEMENT sets its
// variables for no longer than what follows FOR.
func (u unread) verb() int {
	if len(u.bare) > 1 && u.bare[0] == "set" && u.bare[1] == "statement" {
		if i := slices.Index(u.bare, "for"); i >= 0 && i+1 < len(u.bare) {
			return i + 1
		}
	}
	return 0
}

// state gives a word for which the text can't be run on a borrowed connection,
// or "".
func (u unread) state() string {
	verb, program := u.verb(), u.program == stmt.Compound
	for i, w := range u.bare {
		if stateful[w] && (u.called[i] || w == "sql_calc_found_rows") || i == verb && stays[w] && !program {
			return w
		}
	}
	return ""
}

// created gives what a CREATE or ALTER DATABASE or EVENT is about: "database",
// "new database" if it may replace one, with its name; or "event".
func (u unread) created() (object, name string) {
	bare, written := u.bare[u.verb():], u.written[u.verb():]
	switch {
	case len(bare) == 0 || bare[0] != "create" && bare[0] != "alter":
		return "", ""
	case len(bare) > 4 && bare[1] == "or" && bare[2] == "replace" && (bare[3] == "database" || bare[3] == "schema"):
		return "new database", strings.ReplaceAll(strings.Trim(written[4], "`"), "``", "`")
	case len(bare) > 1 && (bare[1] == "database" || bare[1] == "schema"): // with a character set that the parser doesn't know
		return "database", ""
	}
	switch u.program {
	case stmt.Scheduled:
		return "event", ""
	case stmt.Stored:
		return "program", ""
	case stmt.Compound, stmt.NoProgram:
	}
	return "", ""
}

// stateful are words that depend on the connection wherever they stand.
var stateful = words("found_rows", "row_count", "sql_calc_found_rows", "connection_id")

// pins gives the kind of a statement for which the session keeps the connection;
// 0 is any other.
func (u unread) pins() stmt.Kind {
	switch bare := u.bare[u.verb():]; {
	case len(bare) < 2:
	case bare[0] == "handler":
		return stmt.Handler
	case bare[0] == "xa":
		return stmt.XA
	case bare[0] == "lock" && (bare[1] == "tables" || bare[1] == "table"):
		return stmt.Lock
	}
	return 0
}

// stays are first words of statements that leave something behind: a
// transaction, a setting, a lock, a handler, an account, another binary log.
var stays = words("begin", "start", "commit", "rollback", "savepoint", "release", "set", "use", "lock", "unlock", "xa", "handler",
	"prepare", "execute", "deallocate", "kill", "shutdown", "restart", "flush", "reset", "purge", "change", "stop", "install", "uninstall",
	"grant", "revoke", "backup", "clone", "binlog", "load", "import", "cache", "get", "delimiter")

// single tells a text whose semicolons all stand in the body of a program, but
// for one behind which there are only comments.
func single(l *stmt.Lexed) bool {
	_, next := stmt.First(l.Text, l.Mode)
	return stmt.Blank(l.Text[next:])
}
