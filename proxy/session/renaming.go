package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
)

// Renames renames tables in what the cluster declares, on behalf of a user.
type Renames interface {
	// Begin declares tables by their new names too, and has nobody served by either name. Resumed: just these renames were under
	// way. The error says why they can't be; with changed set it may have been written all the same.
	Begin(ctx context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error)
	// End takes the former names away, Undo the new ones. They do nothing if these renames are not under way.
	End(ctx context.Context, list []catalog.Rename, by string) error
	Undo(ctx context.Context, list []catalog.Rename, by string) error
}

// renaming is RENAME TABLE of tables that are on every shard.
//
// The tables are declared by both names first, and served by none. Once all proxies know that, and nothing that they let on before is
// under way, no statement can reach a shard by a name that means another table there, or a part of one. Then the shards rename them,
// and what is declared follows.
type renaming struct {
	*Session
	at   *exec.Request
	list []catalog.Rename
}

func (s *Session) runRename(r *exec.Request, list []catalog.Rename) error {
	if !r.Map.Moving().Empty() {
		return moving("renaming a table")
	}
	if s.Renames == nil || s.Settled == nil {
		return undeclarable("no table that is on every shard can be renamed through this proxy")
	}
	if err := s.conns.Commit(); err != nil {
		return err
	}
	s.env.TellLeft(r.Work)
	n := &renaming{s, r, list}
	err := r.Rename(exec.Renaming{List: list, Resumes: n.resumes(), Begin: n.begin, End: n.end, Undo: n.undo})
	if e, is := err.(*exec.DefinitionError); is { //nolint:errorlint // it is never wrapped
		said := s.clientError(e.Err)
		return wire.Errorf(said.Code, said.State, "%s%s%s", e.Before, said.Message, e.After)
	}
	if err != nil {
		return err
	}
	return s.done(wire.OK{})
}

// changed returns what the renames change.
func (n *renaming) changed() (c catalog.Change) {
	for _, one := range n.list {
		c = c.And(catalog.Change{Tables: []catalog.TableName{one.From, one.To}})
	}
	return c
}

// resumes tells whether the tables are being renamed, as far as this proxy knows.
func (n *renaming) resumes() bool {
	return beingRenamed(n.at.Catalog, n.list[0].To) != nil
}

func beingRenamed(c *catalog.Catalog, name catalog.TableName) *catalog.RenamingError {
	unfit := c.Unfit(name)
	if unfit == nil {
		return nil
	}
	e, _ := errors.AsType[*catalog.RenamingError](unfit.Err)
	return e
}

func (n *renaming) begin() (resumed bool, err error) {
	ctx, cancel := context.WithTimeout(n.at.Conns.Waits(), declareTime)
	defer cancel()
	resumed, changed, err := n.Renames.Begin(ctx, n.list, n.user)
	if err == nil {
		err = n.settle()
	}
	if err == nil {
		return resumed, nil
	}
	if changed {
		if undone := n.undo(); undone != nil {
			err = fmt.Errorf("%w; %w", err, undone)
		}
	}
	return resumed, undeclarable("%v", err)
}

// settle waits until no proxy lets anything reach the tables.
func (n *renaming) settle() error {
	if err := n.Settled(n.at.Conns.Waits(), n.changed()); err != nil {
		return fmt.Errorf("not every proxy knows that tables are being renamed: %w", err)
	}
	switch now := n.Snapshot(); {
	case !now.Map.Moving().Empty():
		return errors.New("genes are on the move: wait until locus jobs shows the move to be over")
	case !slices.Equal(now.Catalog.Shards, n.at.Catalog.Shards):
		return errors.New("the shards have become others meanwhile: repeat the statement")
	}
	return nil
}

func (n *renaming) end() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.at.Context), txn.UndoTime)
	defer cancel()
	if err := n.Renames.End(ctx, n.list, n.user); err != nil {
		return undeclarable("%v", err)
	}
	n.reread(n.changed())
	return nil
}

// undo takes the new names back. All proxies are told; one that doesn't hear of it refuses the tables until it looks by itself.
func (n *renaming) undo() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.at.Context), txn.UndoTime)
	defer cancel()
	if err := n.Renames.Undo(ctx, n.list, n.user); err != nil {
		return fmt.Errorf("the new names could not be taken back (%w): statements on both names are refused until the statement is repeated", err)
	}
	_ = n.Redefined(ctx, n.changed()) // it logs which proxies don't know
	return nil
}

// stillDeclared refuses a definition whose tables are others by now than when it was planned: it may have waited while they
// were renamed.
func (s *Session) stillDeclared(r *exec.Request) error {
	now := s.Snapshot().Catalog
	for _, name := range r.Facts.Statement.Tables {
		full := s.env.FullName(r.Work, name)
		was, declared := r.Catalog.Declared(full)
		if !declared {
			continue
		}
		if renaming := beingRenamed(now, full); renaming != nil {
			return &plan.Refusal{Code: plan.BrokenTable, Message: renaming.Error()}
		}
		if is, still := now.Declared(full); !still || !reflect.DeepEqual(was, is) {
			return undeclarable("table %s has been renamed or declared otherwise meanwhile: repeat the statement if it is still meant", full)
		}
	}
	return nil
}
