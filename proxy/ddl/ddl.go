package ddl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/snapshot"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Services are the parts of a process that definitions use. All its sessions share them.
type Services struct {
	Snapshot func() *snapshot.Snapshot
	// Redefined makes all proxies read the changes of a definition, and waits until they have. The error names
	// the proxies that may not have read them yet. If nil, proxies poll the tables.
	Redefined func(ctx context.Context, change catalog.Change) error
	// Settled is Redefined that also waits until all statements have ended that began before, except
	// definitions, which check themselves whether their plan is still valid. If nil, this can't be determined.
	Settled func(ctx context.Context, change catalog.Change) error
	// Declarations changes the cluster's declarations; nil: nothing can be declared in SQL.
	Declarations Declarations
	// Renames renames declared tables; nil: no table that is on every shard can be renamed.
	Renames Renames
	// Renumber resumes the numbers of a table above the greatest one on the shards, after a definition that changes it. It may set them
	// back. The error is the reason why they were not set back. Nil: no table is numbered.
	Renumber func(ctx context.Context, t *catalog.Table) error
	// Made records a definition that at least one shard has made. It returns at once. May be nil.
	Made func(Made)
}

// Session is the part of a client's session that its definitions use. It belongs to the goroutine of the session.
type Session struct {
	*Services
	Context     context.Context // ends with the session
	User        string
	Conns       *txn.Connections
	Observer    Observer
	Diagnostics Diagnostics
	// Servers are the versions of all servers.
	Servers []stmt.Server
	// Commit ends the session's transaction, as a server does before a definition.
	Commit func() error
	// Message returns the text by which a client reads an error.
	Message func(error) string
}

// Observer records the effects of a statement on shards.
type Observer interface {
	Sent(txn.Lease)
	// Trace is the statement's trace; nil: it is not traced.
	Trace() *trace.Statement
}

// Diagnostics receives the conditions that SHOW WARNINGS returns after the statement.
type Diagnostics interface {
	// Keep adds the warnings of a shard.
	Keep(rows *backend.Rows)
	Warn(message string)
	Note(code uint16, message string)
	// NoteServerError adds a server's error as a note.
	NoteServerError(*mysql.MyError)
}

// Statement is a client's definition.
type Statement struct {
	Plan     *plan.Definition // nil: it defines a database
	Facts    *plan.Facts
	Values   *plan.Values
	Under    *snapshot.Snapshot // the snapshot that the plan is made for
	Schema   string             // the default database
	Settings *backend.Settings  // the session's, under which shards run it
}

// FullName returns the name of a table that the statement names.
func (s *Statement) FullName(t stmt.TableName) catalog.TableName { return plan.FullName(t, s.Schema) }

// quoted returns a table's full name in SQL.
func (s *Statement) quoted(t stmt.TableName) string {
	full := s.FullName(t)
	return plan.Quote(full.Schema) + "." + plan.Quote(full.Name)
}

// Change returns the possible changes of the statement on some shards: the names in it, if the parser knows all
// of them. Without shards, the change covers everything.
func (s *Statement) Change(shards ...router.ShardName) (c catalog.Change) {
	st := s.Facts.Statement
	if st.Defined != nil {
		return catalog.Change{Shards: shards, Routines: []catalog.TableName{s.FullName(st.Defined.Name)}}
	}
	if st.Trigger != nil {
		if on := s.triggered(); on != (catalog.TableName{}) {
			return catalog.Change{Shards: shards, Tables: []catalog.TableName{on}, Alone: []catalog.TableName{on}}
		}
		return catalog.Anything
	}
	if st.Kind != stmt.DDL || st.Features&stmt.Program != 0 {
		return catalog.Anything
	}
	names, alone := st.Redefined()
	for _, name := range names {
		one := catalog.Change{Shards: shards, Tables: []catalog.TableName{s.FullName(name)}}
		if alone {
			one.Alone = one.Tables
		}
		c = c.And(one)
	}
	if c.Empty() {
		return catalog.Anything
	}
	return c
}

// FoundNothing reports whether the OK of a shard, with this number of warnings, shows that a DROP with IF EXISTS has dropped nothing. The server
// warns once about each object that it lacks, and the catalog doesn't have them either.
func (s *Statement) FoundNothing(shard router.ShardName, warnings uint16) bool {
	st, c := s.Facts.Statement, s.Under.Catalog
	switch {
	case st.Verb != "DROP" || c.Listings()[shard] == nil:
		return false
	case st.Trigger != nil:
		return st.Trigger.IfExists && warnings == 1 && s.triggered() == catalog.TableName{}
	case st.Defined != nil:
		name := s.FullName(st.Defined.Name)
		_, lack := c.StoredOn(name.Schema, name.Schema, name.Name)
		return st.Defined.IfExists && warnings == 1 && slices.Contains(lack, shard)
	}
	return st.IfExists && len(st.Dropped) > 0 && int(warnings) == len(st.Dropped) &&
		!slices.ContainsFunc(st.Dropped, func(t stmt.TableName) bool { return c.Knows(s.FullName(t)) })
}

// FailsPartly reports whether the statement may have had an effect although a server returned an error. MariaDB drops the tables of a list that
// exist.
func (s *Statement) FailsPartly() bool {
	st := s.Facts.Statement
	return st.Verb == "DROP" && len(st.Tables) > 1
}

// triggered returns the table of the trigger that the statement creates or drops, or no name if the catalog doesn't have the trigger.
func (s *Statement) triggered() (on catalog.TableName) {
	t := s.Facts.Statement.Trigger
	if t.Creates {
		return s.FullName(t.On)
	}
	return s.Under.Catalog.Triggered(s.FullName(t.Name))
}

// Error is the error of a definition together with the state that it left. The client reads Before, the error's text, and After.
type Error struct {
	Err           error
	Before, After string
}

func (e *Error) Error() string { return e.Before + e.Err.Error() + e.After }
func (e *Error) Unwrap() error { return e.Err }

// with adds a text to a definition's error. If alone is true, it replaces the error's own text.
func with(err error, after string, alone bool) error {
	e, is := err.(*Error) //nolint:errorlint // it is never wrapped
	switch {
	case after == "":
		return err
	case !is:
		return &Error{Err: err, After: after}
	case alone:
		return &Error{e.Err, e.Before, after}
	}
	return &Error{e.Err, e.Before, e.After + after}
}

const changingTable = "changing the definition of a table"

func undeclarable(format string, args ...any) error {
	return &plan.Refusal{Code: plan.Undeclarable, Message: fmt.Sprintf(format, args...)}
}

// Reread makes all proxies read the changes of a definition on some shard. A failure is only a warning, because
// the definition has been made.
func (s *Session) Reread(change catalog.Change) {
	if s.Redefined == nil {
		return
	}
	if err := s.Redefined(s.Conns.Waits(), change); err != nil {
		s.Diagnostics.Warn("the definition is made, and not known to every proxy yet: " + err.Error())
	}
}

// Define runs CREATE TABLE, ALTER TABLE and similar statements on tables, views and routines that are on every shard, and returns the OK
// for the client. No transaction can undo them. They are refused while genes are being moved, except CREATE TABLE IF NOT EXISTS of an
// existing table, which changes nothing: applications run it when they start.
func (s *Session) Define(st Statement) (wire.OK, error) {
	d := &definition{Session: s, Statement: st, catalog: st.Under.Catalog, began: time.Now(), withdrawn: map[catalog.TableName]catalog.Declaration{}}
	if st.Plan.Renames != nil {
		err := d.rename()
		if err == nil {
			d.made(Outcome{Done: d.catalog.Shards})
		}
		return wire.OK{}, err
	}
	if err := d.refused(); err != nil {
		return wire.OK{}, err
	}
	if err := d.checkDropped(); err != nil {
		return wire.OK{}, err
	}
	if err := s.Commit(); err != nil {
		return wire.OK{}, err
	}
	declares := &declaring{definition: d, Declaring: st.Plan.Declares}
	d.ready = func() error {
		if err := d.stillDeclared(); err != nil {
			return err
		}
		if err := d.unindex(); err != nil {
			return err
		}
		return declares.begin()
	}
	d.may = func() error {
		if err := d.stillDeclared(); err != nil || s.Snapshot().Map.Moving().Empty() {
			return err
		}
		return plan.DisturbsMove(changingTable)
	}
	var ok wire.OK
	still := "" // a note about look-up tables that could not be dropped
	d.finish = func(out Outcome) {
		if out.Err != nil {
			still = d.reindex()
		}
		d.made(out)
		ok = d.note(out)
		declares.end(out)
		d.spreadViews(out)
	}
	if err := d.inTurn(d.course()); err != nil {
		return wire.OK{}, with(with(err, declares.left, declares.stands), still, false)
	}
	if declares.refused != nil {
		return wire.OK{}, declares.refused
	}
	ok.Warnings += d.notes + d.warnImmovable()
	return ok, nil
}

// refused returns why the definition must not begin, or nil. Moves touch no routines.
func (d *definition) refused() error {
	st := d.Facts.Statement
	if d.Under.Map.Moving().Empty() || st.Defined != nil || st.IfNotExists != nil && d.madeEverywhere() {
		return nil
	}
	return plan.DisturbsMove(changingTable)
}

// checkDropped returns the server's error if a DROP TABLE of several tables, without IF EXISTS, names one that does not exist.
// It assumes that the statement repeats an earlier one that did not reach all shards if another of the tables is missing on
// some shards only. Missing tables are then left out.
func (d *definition) checkDropped() error {
	list := d.Plan.Dropping
	if list == nil || list.IfExists {
		return nil
	}
	missing, partly := "", false
	for _, t := range list.Tables {
		shards := d.catalog.Shards
		if t.Shard != "" {
			shards = []router.ShardName{t.Shard}
		}
		have := 0
		for _, shard := range shards {
			lines, err := d.definitionOn(shard, plan.Quote(t.Schema)+"."+plan.Quote(t.Name))
			if err != nil {
				return undone(err)
			}
			if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "CREATE TABLE ") }) { // the object may be a view
				have++
			}
		}
		if have == 0 && missing == "" {
			missing = t.String()
		}
		partly = partly || have > 0 && have < len(shards)
	}
	if missing == "" || partly {
		return nil
	}
	return undone(wire.Errorf(mysql.ER_BAD_TABLE_ERROR, "42S02", "Unknown table '%s'", missing))
}

// madeEverywhere reports whether every shard has the table that the statement creates.
func (d *definition) madeEverywhere() bool {
	for _, shard := range d.catalog.Shards {
		if lines, err := d.definitionOn(shard, d.quoted(d.Facts.Statement.Tables[0])); err != nil || lines == nil {
			return false
		}
	}
	return true
}

// course returns the way in which the shards run the definition. A session that holds locks itself can't wait
// for them on other connections.
func (d *definition) course() func() error {
	switch {
	case d.Plan.Course == plan.AtOnce, d.Plan.Declares != nil, d.mayHoldTables():
		return d.define
	case d.Plan.Adds != nil && !slices.ContainsFunc(d.Servers, func(server stmt.Server) bool { return !server.HidesColumns() }):
		return d.addColumns
	}
	return d.alter
}

// mayHoldTables reports whether the session has something on a connection for which a lock of a table must wait. Named locks, which
// migration tools take, are not among it.
func (d *definition) mayHoldTables() bool {
	return slices.ContainsFunc(txn.Reasons(), func(r txn.Reason) bool {
		return r != txn.NamedLock && r != txn.TemporaryTable && d.Conns.Reserved(r)
	})
}

// stillDeclared refuses a definition if the declarations of its tables have changed since it was planned. It may have waited while they
// were renamed.
func (d *definition) stillDeclared() error {
	now := d.Snapshot().Catalog
	for _, name := range d.Facts.Statement.Tables {
		full := d.FullName(name)
		was, declared := d.catalog.Declared(full)
		if !declared || slices.Contains(d.unindexed, full) {
			continue
		}
		if renaming := beingRenamed(now, full); renaming != nil {
			return &plan.Refusal{Code: plan.BrokenTable, Message: renaming.Error()}
		}
		if is, still := now.Declared(full); !still || !reflect.DeepEqual(was, is) {
			return undeclarable("table %s has been renamed or declared differently in the meantime: repeat the statement if it still applies", full)
		}
	}
	return nil
}

func beingRenamed(c *catalog.Catalog, name catalog.TableName) *catalog.RenamingError {
	unfit := c.Unfit(name)
	if unfit == nil {
		return nil
	}
	e, _ := errors.AsType[*catalog.RenamingError](unfit.Err)
	return e
}

// note records an outcome in the diagnostics, makes the proxies read what changed, and returns the OK for the client.
func (d *definition) note(out Outcome) wire.OK {
	if len(out.Done) == 0 && len(out.Passed) > 0 { // IF NOT EXISTS
		d.Diagnostics.NoteServerError(out.Passed[0].Said)
		return wire.OK{Warnings: 1}
	}
	for _, p := range out.Passed {
		d.Diagnostics.Note(p.Said.Code, "skipped shard "+string(p.Shard)+": "+p.Said.Message)
	}
	out.OK.Warnings += uint16(len(out.Passed))
	if len(out.Done) > 0 {
		d.Reread(d.Change())
		out.OK.Warnings += d.renumber()
	}
	return out.OK
}

// renumber sets the next AUTO_INCREMENT number of tables to the number that one server with all their rows would use after the
// definition. It returns the number of warnings.
func (d *definition) renumber() (warnings uint16) {
	if d.Renumber == nil || !d.Facts.Statement.Renumbers {
		return 0
	}
	for _, name := range d.Facts.Statement.Tables {
		t, err := d.Snapshot().Catalog.Find(d.FullName(name))
		if err != nil || t == nil || t.Kind == catalog.Single || t.Numbered() < 0 {
			continue
		}
		if err := d.Renumber(d.Conns.Waits(), t); err != nil {
			d.Diagnostics.Warn(fmt.Sprintf("the definition is made, but the numbers of %s continue from where they were: %v: ALTER TABLE … AUTO_INCREMENT = 1 resets them later", t.TableName, err))
			warnings++
		}
	}
	return warnings
}

// warnImmovable warns of everything in the new definition that prevents rows from being moved later, and returns the number of warnings. A
// definition that declares a table may be planned again once the table is declared, so it also warns of what the table had before.
func (d *definition) warnImmovable() (n uint16) {
	st, now := d.Facts.Statement, d.Snapshot().Catalog
	declares := false
	if st.Comment != nil {
		_, declares = catalog.CommentWords(*st.Comment)
	}
	var known []catalog.Obstacle
	for i, name := range st.Tables {
		t, err := now.Find(d.FullName(name))
		if err != nil || t == nil {
			continue
		}
		if was, err := d.catalog.Find(t.TableName); err == nil && was != nil && (i > 0 || !declares) {
			known = append(known, d.catalog.Obstacles(was)...)
		}
		for _, o := range now.Obstacles(t) {
			if !slices.Contains(known, o) {
				known = append(known, o)
				d.Diagnostics.Warn(o.String())
				n++
			}
		}
	}
	return n
}
