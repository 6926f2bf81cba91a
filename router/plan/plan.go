package plan

import (
	"bytes"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Place says where a statement runs.
type Place uint8

const (
	// Session: the session itself answers it (SET, BEGIN, USE …).
	Session Place = iota
	// Fixed: on the shard named by Plan.Shard.
	Fixed
	// Any: on whichever shard is at hand, since each would answer alike.
	Any
	// Everywhere: on all registered shards.
	Everywhere
	// Keyed: where the genes of its keys are.
	Keyed
	// Stamped: an INSERT into a sharded table, by the genes of its rows.
	Stamped
	// Rewritten: the session puts what it knows itself into the text, and plans
	// that.
	Rewritten
)

var placeWords = [...]string{"session", "fixed", "any", "everywhere", "keyed", "stamped", "rewritten"}

func (p Place) String() string { return placeWords[p] }

// Plan says what is done with every statement of one key. It is immutable.
type Plan struct {
	Place     Place
	Shard     router.ShardName // Fixed
	Statement *stmt.Statement
	// Writes: rows or schemas change.
	Writes bool
	// Reserved: it changes what the proxies themselves keep in the schema locus.
	Reserved bool
	// Metadata reads take no part in a transaction.
	Metadata bool
	// ReadsInsertID and KeepsInsertID: LAST_INSERT_ID() must be right before the
	// statement runs, or may have changed by it.
	ReadsInsertID, KeepsInsertID bool
	// Cacheable: the plan holds for every text of the key.
	Cacheable bool
	// Insert is the rest of a Stamped plan.
	Insert *Insertion
	// Query is where the rows of an INSERT come from, if not from its text and not
	// from where they go.
	Query *Query
	// Load is the rest of a LOAD DATA whose rows go to several shards.
	Load *Load
	// Merge says how several shards' answers become one; nil if they can't, for
	// the reason NoMerge.
	Merge   *Merge
	NoMerge *Refusal
	// Gather says how several shards' rows are read where there is no Merge, or
	// where they must be joined with each other; nil if they can't be.
	Gather *Gathering
	// Spreads: a change that may run on several shards, each of its own rows, where
	// the user may do that.
	Spreads bool
	// Stays: it may not run while genes are on the move.
	Stays bool
	// Unfiltered: an UPDATE or DELETE without a condition.
	Unfiltered bool
	// Added is spliced into the text wherever it runs.
	Added []Splice
	// LockTables is what LOCK TABLES locks on each shard.
	LockTables map[router.ShardName][]stmt.LockTable

	// Owned narrows the statement to the rows that their shards own; nil where
	// that has no place in the text.
	Owned *Owned

	classes []class
	agree   []agreement
	pinned  router.ShardName // the shard of single tables beside sharded ones
	apart   *Refusal         // why no shard can have all tables
}

// Splice is text put at a place of the statement's.
type Splice struct {
	At   stmt.Anchor
	Text string
}

// Context is what a plan depends on beside the text.
type Context struct {
	Catalog *catalog.Catalog
	// Schema is the session's default; may be empty.
	Schema string
	// Rights bound what is planned; nil: nothing does.
	Rights *Rights
	// Owned tells what the session answers itself, by the names of
	// stmt.Owned and of stmt.Shown. May be nil: nothing.
	Owned map[string]bool
}

// rewrites tells whether anything of the statement is the session's to answer.
// LAST_INSERT_ID() is, where no shard is told of it.
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

// Make reads and plans the text in l. The error is a *Refusal, or a
// *stmt.SyntaxError that the server should put in its own words (see Fallback).
func Make(l *stmt.Lexed, ctx Context) (*Plan, error) {
	if l.Several && !single(l) {
		return nil, several(l)
	}
	s, err := stmt.Parse(l)
	if err != nil {
		return fallback(l, ctx, err)
	}
	if s.Features&stmt.Program != 0 {
		if mention := mentioned(l, ctx); mention != "" {
			return nil, refuse(Unsupported, "a stored program that names the declared table %s, which it would find on one shard only: create it on every shard", mention)
		}
	}
	if ctx.rewrites(s) {
		return &Plan{Place: Rewritten, Statement: s}, nil
	}
	p, err := build(s, ctx)
	if err != nil {
		p = &Plan{Place: Fixed} // what may not be done need not be explained
	}
	p.Statement = s
	if denied := ctx.Rights.check(l, p, ctx); denied != nil {
		return nil, denied
	}
	if denied := ctx.Rights.narrow(l, p, ctx); denied != nil {
		return nil, denied
	}
	if err != nil {
		return nil, err
	}
	if l.Executable && p.Place != Session {
		if err := executable(s, ctx); err != nil {
			return nil, err
		}
	}
	p.gather(l, ctx)
	if err := p.gatherQuery(l, ctx); err != nil {
		return nil, err
	}
	p.Reserved = p.Writes && reserved(s, ctx)
	p.Cacheable = p.Cacheable && !l.Uncacheable && !s.Verbatim
	return p, nil
}

// several refuses what stands behind the first statement, as servers do.
func several(l *stmt.Lexed) *Refusal {
	_, next := stmt.First(l.Text, l.Mode)
	r := refuse(SeveralStatements, "several statements in one text: send them one by one, or have the driver ask for CLIENT_MULTI_STATEMENTS")
	r.Near = &Near{Text: string(bytes.TrimRight(l.Text[next:], "; \t\r\n")), Line: 1 + bytes.Count(l.Text[:next], []byte("\n"))}
	return r
}

// reserved tells whether a statement names the proxies' own schema.
func reserved(s *stmt.Statement, ctx Context) bool {
	for _, name := range tablesOf(s) {
		if strings.EqualFold(ctx.schemaOf(name), stmt.Own) {
			return true
		}
	}
	return s.Kind == stmt.CreateSchema && strings.EqualFold(s.Schema, stmt.Own)
}

// executable refuses /*! … */ beside declared tables: which server runs what is
// in it, and so what the statement is, is not known here.
func executable(s *stmt.Statement, ctx Context) error {
	for _, name := range s.Tables {
		if t, err := ctx.find(name); err != nil || t != nil {
			return refuse(Unsupported, "executable comments (/*! … */) in a statement on the declared table %s: write the text without them", name.Name)
		}
	}
	return nil
}

func build(s *stmt.Statement, ctx Context) (*Plan, error) {
	if err := unsupported(s); err != nil {
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
		return &Plan{Place: Everywhere, Writes: true}, nil
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock:
		return &Plan{Place: Session, Cacheable: true}, nil
	case stmt.Set, stmt.Use, stmt.Explain, stmt.Kill, stmt.TextPrepare, stmt.Diagnose: // their values are read from the text
		return &Plan{Place: Session}, nil
	case stmt.Lock:
		return planLock(s, ctx)
	case stmt.DDL, stmt.Other, stmt.Call, stmt.LoadData, stmt.Account, stmt.Admin, stmt.Handler, stmt.XA:
	}
	return planOther(s, ctx)
}

// unsupported refuses what would leave something behind on a borrowed
// connection, or would speak of it instead of the session.
func unsupported(s *stmt.Statement) error {
	switch {
	case s.Features&stmt.IntoTarget != 0:
		return refuse(Unsupported, "SELECT … INTO a file: it would be the shard's; read the rows and write them where they are wanted")
	}
	switch s.Kind {
	default:
	case stmt.Admin:
		return refuse(Unsupported, "FLUSH, SHUTDOWN and their kin: connect to the shard for them")
	case stmt.Account:
		return refuse(Unsupported, "accounts are declared: edit users in cluster.yaml and run locus apply")
	}
	return nil
}

// planShow sends SHOW and DESCRIBE to the first shard, which has every schema
// and every table but the single ones of other shards.
func planShow(s *stmt.Statement, ctx Context) (*Plan, error) {
	shard := ctx.Catalog.First()
	if len(s.Tables) == 1 {
		if t, err := ctx.find(s.Tables[0]); err == nil && t != nil && t.Kind == catalog.Single {
			shard = t.Shard
		}
	}
	return &Plan{Place: Fixed, Shard: shard, Metadata: true, Cacheable: true}, nil
}

// planOther takes statements of which the tables are all that is known.
func planOther(s *stmt.Statement, ctx Context) (*Plan, error) {
	if s.Features&stmt.TemporaryTable != 0 {
		return planTemporary(s, ctx)
	}
	if all, err := ctx.allSpread(s); err != nil || all {
		return &Plan{Place: Everywhere, Writes: true, Stays: true}, err
	}
	shard := router.ShardName("")
	for _, name := range s.Tables {
		t, err := ctx.find(name)
		if err != nil {
			return nil, err
		}
		on := ctx.Catalog.First()
		switch {
		case t == nil:
		case s.Features&stmt.SwitchesKeys != 0 && t.Kind != catalog.Single:
			// InnoDB has no such switch; a dump has it around its rows.
			return &Plan{Place: Session}, nil
		case s.Kind == stmt.LoadData && t.Kind != catalog.Single:
			return planLoad(s, t)
		case t.Kind != catalog.Single:
			return nil, refuse(Unsupported, "this statement on %s table %s: run it on every shard; proxies see it within seconds", t.Kind, t.TableName)
		default:
			on = t.Shard
		}
		if shard != "" && shard != on {
			return nil, refuse(CrossShard, "it names tables that live on shards %s and %s: write one statement for each", shard, on)
		}
		shard = on
	}
	if shard == "" {
		shard = ctx.Catalog.First()
	}
	return &Plan{Place: Fixed, Shard: shard, Writes: true, KeepsInsertID: true}, nil
}

// allSpread tells whether a definition changes sharded and global tables alone: also
// those that no longer fit, which a definition that was done on some shards leaves.
func (c Context) allSpread(s *stmt.Statement) (bool, error) {
	if s.Kind != stmt.DDL || s.Features&stmt.Redefines == 0 || s.Features&stmt.SwitchesKeys != 0 || len(s.Tables) == 0 {
		return false, nil
	}
	for _, name := range s.Tables {
		if kind, unfit := c.Catalog.Unfit(catalog.TableName{Schema: c.schemaOf(name), Name: name.Name}); unfit && kind != catalog.Single {
			continue
		}
		t, err := c.find(name)
		if err != nil || t == nil || t.Kind == catalog.Single {
			return false, err
		}
	}
	return true, nil
}

// schemaOf gives the schema of a table's name: of an unqualified one it is the
// session's.
func (c Context) schemaOf(name stmt.TableName) string {
	if name.Schema != "" {
		return name.Schema
	}
	return c.Schema
}

// find resolves a table's name.
func (c Context) find(name stmt.TableName) (*catalog.Table, error) {
	full := catalog.TableName{Schema: c.schemaOf(name), Name: name.Name}
	t, err := c.Catalog.Find(full)
	if err != nil {
		return nil, &Refusal{Code: BrokenTable, Message: err.Error()}
	}
	if declared, ok := c.Catalog.Misspelled(full); ok && t == nil {
		return nil, refuse(BrokenTable, "Table '%s' doesn't exist; the declared one is %s, and letter case counts", full, declared)
	}
	return t, nil
}
