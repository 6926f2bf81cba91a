package plan

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Plan describes how every statement of one cache key is run. It is implemented by the types of this package that embed [Facts].
// It is immutable.
type Plan interface {
	// About returns the facts that every plan has.
	About() *Facts
	// String returns the kind of destination in one word, for logs and traces.
	String() string
	explain(e *explainer)
}

// Facts contains the facts about its statement that every plan has.
type Facts struct {
	Statement *stmt.Statement
	// Writes is true if rows or schemas change.
	Writes bool
	// Reserved is true if the statement names objects that the proxies keep in the schema locus. Only an admin may run it.
	Reserved bool
	// Metadata is true for a read of metadata, which takes no part in a transaction.
	Metadata bool
	// ReadsInsertID is true if LAST_INSERT_ID() must be set before the statement runs. KeepsInsertID is true if the statement may
	// change it.
	ReadsInsertID, KeepsInsertID bool
	// Cacheable is true if the plan is valid for every text of the key.
	Cacheable bool
	// Clock is true if the statement may write the current time into rows. All shards that change rows must then be sent the same
	// time.
	Clock bool
	// Leaves is the session state that the statement leaves on its connections.
	Leaves Leaves
	// Unfiltered is true for an UPDATE or DELETE without a condition.
	Unfiltered bool
	// Figures belongs to the package that counts the cost of such statements. This package doesn't read it.
	Figures any
}

// About implements Plan.
func (f *Facts) About() *Facts { return f }

// Splice is a text that is inserted at a place in the statement.
type Splice struct {
	At   stmt.Anchor
	Text string
}

// Context contains what a plan depends on in addition to the text.
type Context struct {
	Catalog *catalog.Catalog
	// Schema is the session's default database. It may be empty.
	Schema string
	// Rights limit what may be planned. Nil means no limits.
	Rights *Rights
	// Temporary are the session's temporary tables whose names are known.
	Temporary []catalog.TableName
	// Owned contains the expressions and SHOW statements that the session answers itself, by the names of stmt.Owned and
	// stmt.Shown. Nil means none.
	Owned map[string]bool
	// Rewritten is true if the text was made from a client's text that was planned before, with the session's answers in it. It
	// may contain values that are no part of the client's text, such as a list of statements.
	Rewritten bool
	// Alike is true if no part of the result depends on the shard, so that every shard would return the same.
	Alike bool
	// SourceNames is true if the shards name a field as its column is named in a derived table, in whatever letter case the
	// statement writes it.
	SourceNames bool
	// Shard is the shard that the session has chosen for its statements. Empty means none.
	Shard router.ShardName
}

// rewrites reports whether the session answers some part of the statement itself. LAST_INSERT_ID() is such a part if no shard is
// sent its value.
func (c Context) rewrites(s *stmt.Statement) bool {
	if s.Shown != nil && s.Kind == stmt.Show {
		return c.Owned["show "+s.Shown.What]
	}
	for _, o := range s.Owned {
		if c.Owned[o.Name] || s.Kind == stmt.Set && c.Owned["set "+o.Name] {
			return true
		}
	}
	return false
}

// Make reads and plans the text in l. The error is a *Refusal, an *Unknown, or a *stmt.SyntaxError.
func Make(l *stmt.Lexed, ctx Context) (Plan, error) {
	if u, ok := errors.AsType[*stmt.Uncertain](l.Err); ok {
		return nil, refuse(UncertainText, "%s", u.Error())
	}
	if l.Several && !isOneStatement(l) {
		return nil, refuseSeveral(l)
	}
	defer l.Planned()
	l.Within = ctx.Schema
	s, err := stmt.Parse(l)
	if size, ok := errors.AsType[*stmt.SizeError](err); ok {
		return nil, refuse(TooLarge, "%v", size)
	}
	if err != nil {
		return fallback(l, ctx, err)
	}
	if s.Features&stmt.Program != 0 {
		err = ctx.checkProgram(l, s.Unread)
	}
	if err == nil {
		err = checkHints(s.Hints)
	}
	if err != nil {
		return nil, err
	}
	ctx.noteStored(s)
	if s.Reaches != "" {
		return nil, refuse(NotAllowed, "%s() reaches the server rather than tables: connect to the shard for it", s.Reaches)
	}
	if ctx.rewrites(s) {
		if err := checkSystemTables(s, false, ctx); err != nil {
			return nil, err
		}
		return &Rewritten{Facts: Facts{Statement: s}}, nil
	}
	if p := ctx.planViews(l, s); p != nil {
		return p, nil
	}
	p, err := ctx.planStatement(l, s)
	if err == nil {
		err = ctx.checkDefinition(l, s)
	}
	if err != nil {
		p = &OneShard{} // a statement that is refused needs no explanation
	}
	facts := p.About()
	facts.Statement, facts.Leaves = s, leaves(s, ctx)
	trackInsertID(p)
	if denied := ctx.Rights.check(l, facts, ctx); denied != nil && !ctx.truncatesOwn(s) { // only an admin may run it
		return nil, denied
	}
	if denied := ctx.Rights.narrow(l, p, ctx); denied != nil {
		return nil, denied
	}
	if err != nil {
		return nil, err
	}
	if err := checkSystemTables(s, facts.Writes, ctx); err != nil {
		return nil, err
	}
	if ctx.Shard == "" {
		if named, err := ctx.planStars(l, s); named != nil || err != nil {
			return named, err
		}
	}
	if err := ctx.planGathering(p, l); err != nil {
		return nil, err
	}
	facts.Reserved = reserved(s, facts.Writes, ctx)
	facts.Cacheable = facts.Cacheable && !l.Uncacheable && !s.Verbatim
	return p, nil
}

// planStatement returns the plan of a statement, which may be a stored program that is routed by its text.
func (c Context) planStatement(l *stmt.Lexed, s *stmt.Statement) (Plan, error) {
	if s.Features&stmt.Program != 0 && c.Shard == "" {
		if p, err := c.planRoutine(l, Facts{Writes: true, Statement: s}); p != nil || err != nil {
			return p, err
		}
	}
	return build(s, c)
}

// planGathering plans how rows are gathered for a plan that needs it.
func (c Context) planGathering(p Plan, l *stmt.Lexed) error {
	switch p := p.(type) {
	case *Read:
		return p.gather(l, c)
	case *Change:
		return p.gather(l, c)
	case *InsertQuery:
		return p.gather(l, c)
	case *TemporaryCopy:
		return p.gather(l, c)
	}
	return nil
}

// checkDefinition refuses a definition that would change the meaning of tables, or of the views over them.
func (c Context) checkDefinition(l *stmt.Lexed, s *stmt.Statement) error {
	if c.viewEverywhere(s) {
		if err := c.checkViewable(s); err != nil {
			return err
		}
	}
	if s.Kind == stmt.DDL {
		if err := c.checkIndexedTables(s); err != nil {
			return err
		}
		return c.checkKeptColumns(l, s)
	}
	return nil
}

// checkProgram refuses a stored program that would do something that no statement of a client may do.
func (c Context) checkProgram(l *stmt.Lexed, reach *stmt.Reach) error {
	if err := c.checkProgramReach(l, reach); err != nil {
		return err
	}
	switch {
	case reach.Server != "":
		return refuse(NotAllowed, "a stored program with %s in it reaches the server rather than tables: connect to the shard for it", reach.Server)
	case !c.Rewritten && wordsOf(l).namesSystemTables(c):
		return refuse(NotAllowed, "a stored program that may name the server's own tables: connect to the shard for it")
	}
	return nil
}

// refuseSeveral refuses a text with more than one statement. It sets Near to the text after the first statement, as servers do.
func refuseSeveral(l *stmt.Lexed) *Refusal {
	_, next := stmt.First(l.Text, l.Mode)
	r := refuse(SeveralStatements, "several statements in one text: send them one by one, or have the driver ask for CLIENT_MULTI_STATEMENTS")
	r.Near = &Near{Text: string(bytes.TrimRight(l.Text[next:], "; \t\r\n")), Line: 1 + bytes.Count(l.Text[:next], []byte("\n"))}
	return r
}

// reserved reports whether a statement names a table that the proxies keep in the schema locus, other than to describe it.
func reserved(s *stmt.Statement, writes bool, ctx Context) bool {
	switch s.Kind {
	case stmt.Show, stmt.Use, stmt.Procedure:
		return false
	case stmt.CreateSchema:
		if s.Unread == nil {
			return strings.EqualFold(ctx.schemaOf(stmt.TableName{Schema: s.Schema}), stmt.Own)
		}
	default: // its tables decide
	}
	return s.Unread != nil && s.Unread.Own || slices.ContainsFunc(TablesOf(s), func(name stmt.TableName) bool {
		return strings.EqualFold(ctx.schemaOf(name), stmt.Own) && (writes || !stmt.OwnTables[strings.ToLower(name.Name)])
	})
}

func build(s *stmt.Statement, ctx Context) (Plan, error) {
	if err := ctx.checkSupported(s); err != nil {
		return nil, err
	}
	if ctx.Shard != "" {
		if p, err := ctx.planNamed(s); p != nil || err != nil {
			return p, err
		}
	}
	if err := ctx.checkNames(s); err != nil {
		return nil, err
	}
	switch s.Kind {
	case stmt.Select, stmt.Update, stmt.Delete:
		return planQuery(s, ctx)
	case stmt.Insert, stmt.Replace:
		return planInsert(s, ctx)
	case stmt.Show:
		return planShow(s, ctx)
	case stmt.CreateSchema:
		return &Schema{Facts{Writes: true}}, nil
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock:
		return &Local{Facts: Facts{Cacheable: true}}, nil
	case stmt.Set, stmt.Use, stmt.Explain, stmt.Kill, stmt.Procedure, stmt.TextPrepare, stmt.Diagnose, stmt.LockServers: // their values are read from the text
		return &Local{}, nil
	case stmt.Lock:
		return planLock(s, ctx)
	case stmt.DDL, stmt.Other, stmt.Call, stmt.LoadData, stmt.Account, stmt.Admin, stmt.Handler, stmt.XA:
	}
	return planOther(s, ctx)
}

// checkSupported refuses a statement that would leave state on a borrowed connection, or would act on the connection instead of the
// session.
func (c Context) checkSupported(s *stmt.Statement) error {
	switch {
	case s.Features&stmt.IntoTarget != 0:
		return refuse(NotAllowed, "SELECT … INTO a file: it would be a file of the shard; read the rows and write them at the client")
	}
	switch s.Kind {
	default:
	case stmt.LoadData:
		return checkLoad(s.Load)
	case stmt.Admin:
		if s.Replicates {
			return ReplicationRefused(c.Catalog)
		}
		return refuse(NotAllowed, "FLUSH, SHUTDOWN, ALTER INSTANCE, EXPLAIN FOR CONNECTION and their kin reach the server rather than tables: connect to the shard for them")
	case stmt.Account:
		return refuse(NotAllowed, "%s", declaredAccounts)
	}
	return nil
}

// planShow sends SHOW and DESCRIBE to the first shard, which has every schema and every table except the single tables of other
// shards. For a table that is on every shard, all shards return the same.
func planShow(s *stmt.Statement, ctx Context) (Plan, error) {
	facts := Facts{Metadata: true, Cacheable: true}
	if s.BuiltIn {
		return &AnyShard{Facts: facts}, nil
	}
	one := &OneShard{Facts: facts, Shard: ctx.Catalog.First()}
	switch {
	case len(s.Tables) == 1:
		t, err := ctx.find(s.Tables[0])
		switch {
		case err != nil || t == nil:
		case t.Kind == catalog.Single:
			one.Shard = t.Shard
		default:
			one.Alike, one.Hides = true, t.MakesGene()
		}
	case s.Listed != nil:
		one.Alike = s.Listed.What != "databases" && s.Listed.What != "open tables" && ctx.Catalog.Uniform()
		one.Totals = s.Listed.What == "table status" && ctx.Catalog.HasSharded(cmp.Or(s.Schema, ctx.Schema))
		if one.Totals {
			return one, checkTotalledCondition(s.Listed)
		}
	}
	return one, nil
}

// checkTotalledCondition refuses a condition of SHOW TABLE STATUS on a column whose value on one shard differs from the total of all shards.
func checkTotalledCondition(l *stmt.Listed) error {
	for _, column := range []string{"Rows", "Data_length", "Index_length", "Data_free", "Avg_row_length", "Auto_increment", "Update_time"} {
		if slices.ContainsFunc(l.Columns, func(name string) bool { return strings.EqualFold(name, column) }) {
			return refuse(Unsupported, "SHOW TABLE STATUS with a condition on %s, of a database with sharded tables, whose sizes are added up: leave the condition out, or use one on Name", column)
		}
	}
	return nil
}

// schemaOf returns the schema of a table's name. An unqualified name is in the session's schema.
func (c Context) schemaOf(name stmt.TableName) string {
	if name.Schema != "" {
		return name.Schema
	}
	return c.Schema
}

// find returns the table with a name, or nil if it is not declared or is a temporary table of the session. The error is an *Unknown
// or a *Refusal.
func (c Context) find(name stmt.TableName) (*catalog.Table, error) {
	full := c.fullName(name)
	if c.isTemporary(full) {
		return nil, nil
	}
	t, err := c.Catalog.Find(full)
	if _, nowhere := errors.AsType[*catalog.MissingTableError](err); nowhere { // a server returns the same error
		return nil, &Unknown{Number: erNoSuchTable, State: stateNoTable, Message: "Table '" + full.String() + "' doesn't exist"}
	}
	if err != nil {
		return nil, &Refusal{Code: BrokenTable, Table: full, Message: err.Error()}
	}
	if declared, ok := c.Catalog.OtherCase(full); ok && t == nil {
		return nil, refuse(BrokenTable, "%v", &catalog.MisspelledError{Name: full, Declared: declared})
	}
	return t, nil
}
