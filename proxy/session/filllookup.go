package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/proxy/reply"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// fillProcedure is the name of the procedure that fills a look-up table.
const fillProcedure = "fill_lookup"

// These limit the repetitions of a part of the filling that a fence holds, or that loses to other transactions.
const (
	fillTries = 100
	fillPause = 100 * time.Millisecond
)

// fillLookup answers CALL locus.fill_lookup('database.table'). It inserts the missing entries of a look-up table, and declares the table as filled.
// From then on statements use it. A call that was interrupted can be repeated.
func (s *Session) fillLookup(args []stmt.Value) error {
	if len(args) != 1 || args[0].Kind != stmt.String {
		return procedureError(fillProcedure, &BadArguments{Given: len(args), Takes: "locus." + fillProcedure + "(table)"})
	}
	name, err := catalog.ParseTableName(string(args[0].Text))
	if err != nil {
		return procedureError(fillProcedure, &BadArguments{Takes: "locus." + fillProcedure + "(table)", Argument: err.Error()})
	}
	switch {
	case s.conns.Running():
		return wire.Errorf(mysql.ER_CANT_DO_THIS_DURING_AN_TRANSACTION, "25000", "CALL %s.%s in a transaction: commit it first", stmt.Own, fillProcedure)
	case !s.vars.Autocommit || s.conns.Reserved(txn.LockedTables) || s.conns.Reserved(txn.ReadLock):
		return &plan.Refusal{Code: plan.Unsupported, Message: "CALL locus." + fillProcedure + ", which commits after each part, in a session without autocommit or with locked tables: use a session of its own"}
	case s.conns.Spanning != txn.XA && len(s.snapshot().Map.Shards()) > 1:
		return &plan.Refusal{Code: plan.Unsupported, Message: "a look-up index takes transactions that commit on all shards or none: set transactions: xa"}
	case s.Definitions.Declarations == nil || s.Definitions.Settled == nil:
		return &plan.Refusal{Code: plan.Unsupported, Message: "nothing can be declared through this proxy"}
	}
	s.gate.Step(false)
	if err := s.emptyLookup(name); err != nil {
		return err
	}
	if err := s.declareLookup(name, false); err != nil {
		return err
	}
	s.defining.Store(true) // other sessions that wait for statements don't wait for this one
	defer s.defining.Store(false)
	// Transactions that have written rows without their entries are waited for by the locking reads. Statements are waited for here.
	if err := s.Definitions.Settled(s.ctx, catalog.Change{Tables: []catalog.TableName{name}}); err != nil {
		return fmt.Errorf("look-up table %s: not every proxy keeps it yet: %w; repeat the call", name, err)
	}
	filled, err := s.fillEntries(name)
	if err == nil && filled.Duplicates != nil {
		more := ""
		if filled.More > 0 {
			more = fmt.Sprintf(" and %d others", filled.More)
		}
		err = wire.Errorf(mysql.ER_DUP_ENTRY, "23000", "look-up table %s is not used: other rows have the values %s%s as well: change them, and repeat the call", name, strings.Join(filled.Duplicates, ", "), more)
	}
	if err == nil {
		err = s.declareLookup(name, true)
	}
	if err != nil {
		return err
	}
	s.Log.Info("a look-up table was filled", slog.String("table", name.String()), slog.Int("rows", filled.Rows), slog.Int("made", filled.Made), slog.String("by", s.user))
	row := []string{name.String(), fmt.Sprint(filled.Rows), fmt.Sprint(filled.Made)}
	return s.engine.WriteTexts(reply.TextColumns([]string{"table", "rows", "entries_made"}, [][]string{row}), [][]string{row})
}

// fillEntries reads all rows of the indexed table and inserts the missing entries. If genes get another owner meanwhile, it begins again, because
// their rows may have come to a shard that was read before.
func (s *Session) fillEntries(name catalog.TableName) (f exec.Filled, err error) {
	s.interrupts.Unlimited()
	for shard, under, last := 0, s.snapshot().Map, false; ; {
		w := s.snapshot()
		l, err := findLookup(w.Catalog, name)
		switch {
		case err != nil:
			return f, err
		case !w.Map.Moving().Empty():
			return f, plan.DisturbsMove("filling a look-up table")
		case w.Map.Version() != under.Version():
			f, shard, under, last = exec.Filled{}, 0, w.Map, false
		}
		if last {
			f.Restart()
			if shard++; shard == len(w.Map.Shards()) {
				return f, nil
			}
		}
		last, err = s.fillOnce(l, under, shard, &f)
		if err != nil && s.snapshot().Map.Version() == under.Version() {
			return f, err
		}
	}
}

// fillOnce inserts the missing entries of some rows, and repeats that if other statements come first. It does nothing under another map.
func (s *Session) fillOnce(l *catalog.Lookup, under *router.Map, shard int, f *exec.Filled) (last bool, err error) {
	for try := 0; ; try++ {
		w := s.snapshot()
		if w.Map.Version() != under.Version() {
			return false, nil
		}
		p := plan.EntryWrite(stmt.Insert)
		x := &exec.Execution{Engine: s.engine, Plan: p, Facts: p.About(), Snapshot: w, Values: &plan.Values{Args: new(stmt.Args)}}
		last, err = x.FillEntries(l, shard, f)
		s.gate.Step(false)
		if err == nil || try == fillTries || !fillsAgain(err) {
			return last, err
		}
		select {
		case <-s.ctx.Done():
			return false, context.Cause(s.ctx)
		case <-time.After(fillPause):
		}
	}
}

// fillsAgain reports whether a part of the filling failed without effect for a reason that passes.
func fillsAgain(err error) bool {
	if _, held := errors.AsType[*fence.HeldError](err); held {
		return true
	}
	e, is := errors.AsType[*backend.ServerError](err)
	return is && (e.Code == mysql.ER_LOCK_DEADLOCK || e.Code == mysql.ER_LOCK_WAIT_TIMEOUT || e.Code == mysql.ER_DUP_ENTRY)
}

// findLookup returns the look-up index whose entries a table contains.
func findLookup(c *catalog.Catalog, name catalog.TableName) (*catalog.Lookup, error) {
	t, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	if t == nil || t.Lookup == nil {
		return nil, &plan.Refusal{Code: plan.Undeclarable, Message: fmt.Sprintf("table %s is no look-up table: its comment says 'locus: lookup=TABLE.COLUMN'", name)}
	}
	if l := c.LookupOf(t); l != nil {
		return l, nil
	}
	why := c.UnfitLookup(name)
	if why == nil {
		return nil, &plan.Refusal{Code: plan.Undeclarable, Message: fmt.Sprintf("look-up table %s has changed meanwhile: repeat the call", name)}
	}
	return nil, &plan.Refusal{Code: plan.Undeclarable, Message: why.Error()}
}

// emptied is the number of entries that one statement deletes.
const emptied = 10_000

// emptyLookup deletes the entries of a look-up table that statements don't maintain. Their rows may have changed since they
// were written.
func (s *Session) emptyLookup(name catalog.TableName) error {
	w := s.snapshot()
	s.gate.Step(false)
	l, err := findLookup(w.Catalog, name)
	if err != nil || l.Entries.Lookup.Kept || l.Entries.Lookup.Filled {
		return err
	}
	if !w.Map.Moving().Empty() {
		return plan.DisturbsMove("filling a look-up table")
	}
	table := plan.Quote(name.Schema) + "." + plan.Quote(name.Name)
	for _, shard := range w.Catalog.Shards {
		for {
			rows, err := s.conns.Ask(shard, 0, backend.Default, "SELECT 1 FROM "+table+" LIMIT 1")
			if err == nil && len(rows.Rows) == 0 {
				break
			}
			if err == nil {
				err = s.conns.Exec(s.ctx, shard, backend.Default, fmt.Sprintf("DELETE FROM %s LIMIT %d", table, emptied))
			}
			if err != nil {
				return fmt.Errorf("look-up table %s: its old entries could not be deleted: %w; repeat the call", name, err)
			}
		}
	}
	return nil
}

// declareLookup declares that every proxy maintains a look-up table, and whether the table has the entries of all rows.
func (s *Session) declareLookup(name catalog.TableName, filled bool) error {
	w := s.snapshot()
	s.gate.Step(false)
	if _, err := findLookup(w.Catalog, name); err != nil {
		return err
	}
	d, _ := w.Catalog.Declared(name)
	if filled && !d.Lookup.Kept {
		return fmt.Errorf("look-up table %s has been created again meanwhile: repeat the call", name)
	}
	next := d
	next.Lookup = &catalog.LookupOf{Table: d.Lookup.Table, Column: d.Lookup.Column, Kept: true, Filled: filled || d.Lookup.Filled}
	if err := s.Definitions.Declarations.Redeclare(s.ctx, name, d, next, s.user); err != nil {
		return fmt.Errorf("look-up table %s could not be declared as one that is kept: %w; repeat the call", name, err)
	}
	if err := s.Definitions.Redefined(s.ctx, catalog.Change{Declared: true}); err != nil {
		if !filled {
			return fmt.Errorf("look-up table %s: not every proxy keeps it yet: %w; repeat the call", name, err)
		}
		s.vars.Warn("not every proxy uses the look-up table yet: " + err.Error())
	}
	return nil
}
