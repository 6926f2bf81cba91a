package plan

import (
	"errors"
	"slices"
	"strings"

	"locus/router/stmt"
)

// fallback plans a text that the parser can't read.
func fallback(l *stmt.Lexed, ctx Context, reason error) (Plan, error) {
	p, err := passThrough(l, ctx, reason)
	if err == nil {
		facts := p.About()
		facts.Reserved = reserved(facts.Statement, facts.Writes, ctx)
	}
	return p, err
}

// passThrough returns the plan of a text that the parser can't read, and does not set Reserved. A server may know the statement. The
// text is sent to the first shard unchanged, and the server answers in its own words, on three conditions:
//
// 1. Its first words are those of a statement that touches only what it names.
// 2. It names only what is on the first shard.
// 3. It leaves no state on the connection.
func passThrough(l *stmt.Lexed, ctx Context, reason error) (Plan, error) {
	var syntax *stmt.SyntaxError
	if !errors.As(reason, &syntax) {
		return nil, reason
	}
	if p, err := ctx.planWithoutWords(l, syntax); p != nil || err != nil {
		return p, err
	}
	text := wordsOf(l)
	if charset, ok := strings.CutPrefix(syntax.Reason, "[parser:1115]"); ok && text.bare[text.verb()] == "set" { // no server knows it
		return nil, &Unknown{Number: 1115, Message: charset}
	}
	if err := checkSetStatement(l); err != nil {
		return nil, err
	}
	if err := ctx.checkUnreadable(l, syntax, text); err != nil {
		return nil, err
	}
	reach := l.Reach()
	object, name := text.createdObject()
	state := text.connectionState()
	if object == "event" || object == "program" {
		state = "" // the program's body runs later, or on another connection
		if err := ctx.checkProgramReach(l, &reach); err != nil {
			return nil, err
		}
	}
	facts := unreadFacts(l, ctx, text, object)
	mention := mentioned(l, ctx)
	if text.dropsProgram() {
		mention = ""
	}
	switch {
	case mention != "" && l.SetsForOne():
		return nil, refuse(Unsupported, "SET STATEMENT of a variable that an answer may depend on, before a statement that names %s: SET it for the session, then the statement", mention)
	case mention != "":
		return nil, refuse(Unreadable, "%s; it names %s, so it can't be passed on unread", syntax.Error(), mention)
	case l.Err != nil: // no server reads beyond a quote that does not end, so the text is refused with the server's error
		r := refuse(Unreadable, "%s", syntax.Error())
		r.Unread = true
		return nil, r
	case !reach.Passes:
		return nil, text.refusal(syntax, ctx)
	case !ctx.Rewritten && text.namesTheServers(ctx):
		return nil, refuse(NotAllowed, "%s; it may name the server's own tables: connect to the shard for it", syntax.Error())
	case reach.Dynamic != "":
		return nil, refuse(NotAllowed, "%s; with %s in it, it runs texts of its own making, whose tables can't be known: write its statements as they are", syntax.Error(), reach.Dynamic)
	case reach.Server != "":
		return nil, refuse(NotAllowed, "%s; %s in it reaches the server rather than tables: connect to the shard for it", syntax.Error(), reach.Server)
	case object == "database":
		return &Schema{Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: stmt.CreateSchema, Schema: name})}}, nil
	case object == "new database": // the object may replace an existing one
		return &Schema{Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: stmt.CreateSchema, Features: stmt.DropsSchema, Schema: name})}}, nil
	case text.pinningKind() != 0:
		return &OneShard{Facts: Facts{Writes: true, Statement: noted(l, &stmt.Statement{Kind: text.pinningKind()})}, Shard: ctx.Catalog.First()}, nil
	case object == "program" && text.assignsFromTrigger() && facts.Statement.Trigger == nil:
		return nil, refuse(Unsupported, "a trigger that names user variables, in a form in which its table can't be found: create it without SET STATEMENT, or use a column")
	case text.loadsXML() && !slices.Contains(text.bare[2:min(len(text.bare), 4)], "local"):
		return nil, refuse(NotAllowed, "LOAD XML of a file on a server reaches that rather than tables: use LOAD XML LOCAL")
	case text.loadsXML():
		s := text.statement(object)
		s.Kind = stmt.LoadData
		l.Note(s)
		return &OneShard{Facts: Facts{Writes: true, KeepsInsertID: true, Statement: s, Leaves: text.leaves(s, ctx)}, Shard: ctx.Catalog.First()}, nil
	case state != "":
		r := refuse(Unsupported, "%s; with %s in it, it may depend on the connection or change its state, so it can't be passed on unread", syntax.Error(), state)
		r.Unread = true
		return nil, r
	}
	if p, err := ctx.planRoutine(l, facts); p != nil || err != nil {
		return p, err
	}
	p := &OneShard{Shard: ctx.Catalog.First(), Alike: ctx.Alike, Facts: facts}
	trackInsertID(p)
	return p, nil
}

// checkUnreadable refuses a text that the parser can't read if it contains something that is forbidden in such texts.
func (c Context) checkUnreadable(l *stmt.Lexed, syntax *stmt.SyntaxError, text unread) error {
	if err := checkDeclaringComment(l, syntax); err != nil {
		return err
	}
	if err := c.checkOnlineCopyUnread(l, text.bare); err != nil {
		return err
	}
	return checkHints(l.Hints())
}

// planWithoutWords plans or refuses a text that the parser can't read without examining its words. It returns nil, nil if the words
// decide.
func (c Context) planWithoutWords(l *stmt.Lexed, syntax *stmt.SyntaxError) (Plan, error) {
	if l.Blank() { // comments only, whatever they name: the server returns its error for an empty query
		return &OneShard{Facts: Facts{Statement: &stmt.Statement{Kind: stmt.Other}, Leaves: LeavesNothing}, Shard: c.Catalog.First()}, nil
	}
	if p := c.planAlterView(l); p != nil {
		return p, nil
	}
	if err := c.Rights.denyUnread(syntax); err != nil {
		return nil, err
	}
	if c.Shard != "" {
		r := refuse(ShardNamed, "%s; %s", syntax.Error(), beyondNamed)
		r.Unread = true
		return nil, r
	}
	return c.planMaintained(l)
}

// unreadFacts returns the facts of a text that is sent to shards without being parsed.
func unreadFacts(l *stmt.Lexed, ctx Context, text unread, object string) Facts {
	left := noted(l, text.statement(object))
	if trigger, is := l.DefinesTrigger(); is {
		left.Trigger = &trigger
	}
	return Facts{
		Writes: true, KeepsInsertID: true,
		ReadsInsertID: slices.Contains(text.bare, "last_insert_id") || slices.Contains(text.bare, "returning"), // rows don't contain it
		Statement:     left, Leaves: text.leaves(left, ctx),
	}
}

// noted returns a statement, completed with the facts that its words alone show.
func noted(l *stmt.Lexed, s *stmt.Statement) *stmt.Statement {
	l.Note(s)
	return s
}

// Unknown is the error of a statement with a name that no server has. The statement has no effect. Number and Message are
// MySQL's.
type Unknown struct {
	Number  uint16
	State   string // empty: 42000
	Message string
}

func (u *Unknown) Error() string { return u.Message }

// assignsFromTrigger reports whether the text creates a trigger whose body names a user variable.
func (u unread) assignsFromTrigger() bool {
	bare := u.bare[u.verb():]
	trigger := slices.Index(bare, "trigger")
	return trigger > 0 && trigger < 8 && slices.ContainsFunc(bare[trigger:], func(w string) bool {
		return len(w) > 1 && w[0] == '@' && w[1] != '@'
	})
}

// loadsXML reports whether the text is LOAD XML, which leaves the same state on its connection as LOAD DATA.
func (u unread) loadsXML() bool { return len(u.bare) > 2 && u.bare[0] == "load" && u.bare[1] == "xml" }

// statement returns a statement that describes only the state that the text may leave on its connection.
func (u unread) statement(object string) *stmt.Statement {
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

// unquoted returns a word in lower case, without quotes.
func unquoted(word []byte) string { return stmt.Unquoted(word) }

// dropsProgram reports whether the text is DROP of a routine, trigger or event. It doesn't run the program.
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

// mentioned returns a name in a client's text of something that is not on the first shard alone, or "". Words in strings and
// comments count, because a server may read the text differently from the parser, which failed.
func mentioned(l *stmt.Lexed, ctx Context) string {
	var all []string
	if !ctx.Rewritten {
		l.AnyWords(func(word string) { all = append(all, word) })
	}
	l.Words(func(word []byte) { all = append(all, unquoted(word)) })
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

// unread contains the words of a text that the parser can't read. bare are in lower case and without quotes, written are as in
// the text, and called is true before a parenthesis.
type unread struct {
	bare, written []string
	called        []bool
	program       stmt.ProgramKind
}

func wordsOf(l *stmt.Lexed) (u unread) {
	u.program = l.Programs()
	l.Calls(func(word []byte, called bool) {
		u.bare = append(u.bare, unquoted(word))
		u.called = append(u.called, called)
		u.written = append(u.written, string(word))
	})
	return u
}

// verb returns the index of the word that determines the kind of statement. In SET STATEMENT … FOR that is the word after FOR,
// because the variables are set for that statement only.
func (u unread) verb() int {
	if len(u.bare) > 1 && u.bare[0] == "set" && u.bare[1] == "statement" {
		if i := slices.Index(u.bare, "for"); i >= 0 && i+1 < len(u.bare) {
			return i + 1
		}
	}
	return 0
}

// connectionState returns a word that prevents the text from running on a borrowed connection, or "".
func (u unread) connectionState() string {
	verb, program := u.verb(), u.program == stmt.Compound
	for i, w := range u.bare {
		if stateful[w] && (u.called[i] || w == "sql_calc_found_rows") || i == verb && stays[w] && !program {
			return w
		}
	}
	return ""
}

// createdObject returns the kind of object that a CREATE or ALTER is about: "database", "new database" with its name if it may replace
// one, "event" or "program".
func (u unread) createdObject() (object, name string) {
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

// stateful are words that depend on the connection wherever they are in a text.
var stateful = words("found_rows", "row_count", "sql_calc_found_rows", "connection_id")

// pinningKind returns the kind of a statement for which the session keeps the connection, or 0 for others.
func (u unread) pinningKind() stmt.Kind {
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

// stays are first words of statements that leave state: a transaction, a setting, a lock, a handler, an account, another binary
// log.
var stays = words("begin", "start", "commit", "rollback", "savepoint", "release", "set", "use", "lock", "unlock", "xa", "handler",
	"prepare", "execute", "deallocate", "kill", "shutdown", "restart", "flush", "reset", "purge", "change", "stop", "install", "uninstall",
	"grant", "revoke", "backup", "clone", "binlog", "load", "import", "cache", "get", "delimiter")

// isOneStatement reports whether all semicolons of a text are in the body of a program, except one that only comments follow.
func isOneStatement(l *stmt.Lexed) bool {
	_, next := stmt.First(l.Text, l.Mode)
	return stmt.Blank(l.Text[next:])
}
