package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Renames renames tables in the cluster's declarations, on behalf of a user.
type Renames interface {
	// Begin declares tables by their new names too, so that no proxy serves either name. Resumed reports that the same renames were in
	// progress. The error says why the tables can't be renamed; if changed is true, the change may have been written nevertheless.
	Begin(ctx context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error)
	// End removes the former names, Undo the new ones. They do nothing if these renames are not in progress.
	End(ctx context.Context, list []catalog.Rename, by string) error
	Undo(ctx context.Context, list []catalog.Rename, by string) error
}

// renaming is RENAME TABLE of tables that are on every shard.
//
// The tables are declared by both names first, and served by neither. Once all proxies know that, and no statement from before is running,
// no statement can reach a shard by a name that means another table there, or a part of one. Then the shards rename the tables, and the
// declarations follow.
type renaming struct {
	*alteration
	list   []catalog.Rename
	states []renameState // by shard
}

// renameState is the state of the tables on a shard.
type renameState uint8

const (
	unknown renameState = iota
	former              // all have their former names
	renamed             // all have their new names
	neither
	gone // none has either name
)

// rename renames tables on all shards, or on none. Its error says which names each shard has. While shards have different names, no proxy
// serves either, and the same statement continues where it stopped. While another session has one of the tables locked, statements on the
// others continue.
func (d *definition) rename() error {
	if !d.Under.Map.Moving().Empty() {
		return plan.DisturbsMove("renaming a table")
	}
	if d.Renames == nil || d.Settled == nil {
		return undeclarable("no table that is on every shard can be renamed through this proxy")
	}
	if err := d.Commit(); err != nil {
		return err
	}
	return d.inTurn(d.renameInTurn)
}

func (d *definition) renameInTurn() error {
	n := &renaming{list: d.Plan.Renames}
	n.alteration = d.alteration(n.former())
	if err := n.lend(); err != nil {
		return undone(err)
	}
	defer n.end()
	for {
		if again, err := n.once(); !again {
			return err
		}
		if err := pause(n.Conns.Waits(), lockPause); err != nil {
			return n.nothingDone(err)
		}
	}
}

// former returns the names that the tables have now, in SQL.
func (n *renaming) former() (tables []string) {
	for name, role := range n.roles() {
		if role.from {
			tables = append(tables, plan.Quote(name.Schema)+"."+plan.Quote(name.Name))
		}
	}
	slices.Sort(tables)
	return tables
}

// free waits until no session has the tables locked. A shard that refuses for another reason will refuse the statement, too.
func (n *renaming) free() error {
	for {
		if err := n.awake(); err != nil {
			return err
		}
		var held error
		for i := range n.shards {
			on := &n.shards[i]
			if err := n.freed(on); isLockWait(err) {
				held = on.notGiven(err)
				break
			} else if err != nil && !txn.IsRefusal(err) {
				return on.notGiven(err)
			}
		}
		if held == nil || time.Now().After(n.until) {
			return held
		}
		if err := pause(n.Conns.Waits(), lockPause); err != nil {
			return err
		}
	}
}

// once tries to rename the tables. If another session has locked a table, it changes nothing and returns true,
// so that the caller may retry.
func (n *renaming) once() (again bool, err error) {
	resumed, err := n.begin()
	if err != nil {
		return false, n.nothingDone(err)
	}
	at, err := n.onShards()
	for resumed && isLockWait(err) && time.Now().Before(n.until) && pause(n.Conns.Waits(), lockPause) == nil {
		at, err = n.onShards() // a shard may have renamed them, so the former names can't be served again
	}
	if err != nil {
		unchanged, failure := n.takeBack(at, err)
		return unchanged && !resumed && isLockWait(err) && time.Now().Before(n.until), failure
	}
	if err := n.declareNew(); err != nil {
		return false, &Error{Err: err, After: "; the tables are renamed on every shard, and what is declared is not: they are refused until the statement is repeated, which finishes it"}
	}
	return false, nil
}

// begin reads the state of the shards before any statement is refused, and again once no session can change them.
func (n *renaming) begin() (resumed bool, err error) {
	if err := n.read(); err != nil {
		return false, err
	}
	if beingRenamed(n.catalog, n.list[0].To) == nil {
		if err := n.unfit(); err != nil {
			return false, err
		}
		if err := n.free(); err != nil {
			return false, err
		}
	}
	resumed, err = n.declareBoth()
	if err != nil {
		return false, err
	}
	err = n.read()
	switch {
	case err != nil:
	case resumed:
		err = n.stuck()
	default:
		err = n.unfit()
	}
	if err == nil || resumed && slices.ContainsFunc(n.states, func(s renameState) bool { return s != former && s != gone }) {
		return resumed, err
	}
	if undone := n.undo(); undone != nil {
		return resumed, fmt.Errorf("%w; and %w", err, undone)
	}
	return resumed, err
}

// read reads which names the tables have on every shard.
func (n *renaming) read() error {
	ctx, cancel := context.WithTimeout(n.Conns.Waits(), answerWait)
	defer cancel()
	n.states = make([]renameState, len(n.shards))
	for i, on := range n.shards {
		state, err := n.state(ctx, on.Lease)
		if err != nil {
			return err
		}
		n.states[i] = state
	}
	return nil
}

// state reads which names the tables have on one shard.
func (n *renaming) state(ctx context.Context, l txn.Lease) (renameState, error) {
	has, err := n.has(ctx, l)
	if err != nil {
		return unknown, err
	}
	isFormer, isRenamed, isGone := true, true, true
	for name, role := range n.roles() {
		there := has[name]
		isFormer = isFormer && there == role.from
		isRenamed = isRenamed && there == role.to
		isGone = isGone && !there
	}
	switch {
	case isFormer:
		return former, nil
	case isRenamed:
		return renamed, nil
	case isGone:
		return gone, nil
	}
	return neither, nil
}

// role describes whether a name exists before and after the renames.
type role struct{ from, to bool }

func (n *renaming) roles() map[catalog.TableName]role {
	roles := map[catalog.TableName]role{}
	for _, one := range n.list {
		roles[one.From] = role{true, roles[one.From].to}
		roles[one.To] = role{roles[one.To].from, true}
	}
	return roles
}

// has returns the names, former and new, that exist on a shard.
func (n *renaming) has(ctx context.Context, l txn.Lease) (map[catalog.TableName]bool, error) {
	var asked []string
	for _, name := range n.names() {
		asked = append(asked, "TABLE_SCHEMA = "+backend.Quote(name.Schema)+" AND TABLE_NAME = "+backend.Quote(name.Name))
	}
	rows, err := l.Conn.Own().Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE "+strings.Join(asked, " OR "))
	if err != nil {
		return nil, err
	}
	has := map[catalog.TableName]bool{}
	for _, row := range rows.Rows {
		if len(row) != 2 {
			return nil, fmt.Errorf("information_schema gave %d columns, 2 were asked for", len(row))
		}
		has[catalog.TableName{Schema: string(row[0]), Name: string(row[1])}] = true
	}
	return has, nil
}

// names returns all former and new names, each once.
func (n *renaming) names() (list []catalog.TableName) {
	for _, r := range n.list {
		for _, name := range []catalog.TableName{r.From, r.To} {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// unfit returns why the tables can't be renamed, if no shard may have the new names yet.
func (n *renaming) unfit() error {
	ctx, cancel := context.WithTimeout(n.Conns.Waits(), answerWait)
	defer cancel()
	roles := n.roles()
	for i, on := range n.shards {
		if n.states[i] == former {
			continue
		}
		has, err := n.has(ctx, on.Lease)
		if err != nil {
			return err
		}
		for _, name := range n.names() {
			switch {
			case has[name] && !roles[name].from:
				return wire.Errorf(mysql.ER_TABLE_EXISTS_ERROR, "42S01", "Table '%s' already exists on %s", name.Name, on.Shard)
			case !has[name] && roles[name].from:
				return wire.Errorf(mysql.ER_NO_SUCH_TABLE, "42S02", "Table '%s' doesn't exist on %s", name, on.Shard)
			}
		}
	}
	return nil
}

// stuck returns why a rename in progress can't continue: the tables were changed on the shards.
func (n *renaming) stuck() error {
	if !slices.ContainsFunc(n.states, func(s renameState) bool { return s == neither || s == gone }) {
		return nil
	}
	return wire.Errorf(mysql.ER_NO_SUCH_TABLE, "42S02", "the tables were changed on the shards while they were being renamed: %s; "+
		"connect to each shard and give all of them their former names, or all their new ones, then repeat the statement", n.standing())
}

// onShards renames the tables on every shard where they are not renamed yet. The error is the error of the first shard that
// fails.
func (n *renaming) onShards() (at router.ShardName, err error) {
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte(catalog.RenameStatement(n.list)))
	for i := range n.shards {
		on := &n.shards[i]
		if n.states[i] == renamed {
			continue
		}
		n.Observer.Sent(on.Lease)
		on.err = on.Conn.Send(packet, txn.Effects(n.Facts))
	}
	for i := range n.shards {
		on := &n.shards[i]
		if n.states[i] == renamed {
			continue
		}
		if on.err == nil {
			on.ok, on.err = on.Conn.Outcome()
		}
		n.Observer.Trace().Answered(string(on.Shard), 0, txn.CodeOf(on.err))
		failed := on.err
		n.states[i] = n.after(on)
		if n.states[i] != renamed && err == nil {
			at, err = on.Shard, failed
		}
	}
	return at, err
}

// after returns the state of a shard that was sent the renames. A shard that did not answer may still do it. One that refuses may have
// done it before.
func (n *renaming) after(on *onShard) renameState {
	if on.err == nil {
		return renamed
	}
	if !txn.IsRefusal(on.err) {
		return unknown
	}
	on.err = nil // the answer is read, and the connection stays usable
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context), txn.UndoTime)
	defer cancel()
	state, err := n.state(ctx, on.Lease)
	if err != nil {
		on.err = err
	}
	return state
}

// takeBack reverses the renames on the shards that have done them, after another shard has failed. It returns unchanged if all shards have
// the former names again, and the error for the client.
func (n *renaming) takeBack(at router.ShardName, err error) (unchanged bool, failure error) {
	done := n.in(renamed)
	back := make([]catalog.Rename, len(n.list))
	for i, r := range n.list {
		back[len(back)-1-i] = catalog.Rename{From: r.To, To: r.From}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context), txn.UndoTime)
	defer cancel()
	for i := range n.shards {
		on := &n.shards[i]
		if n.states[i] != renamed {
			continue
		}
		_, failed := on.Conn.Own().Exec(ctx, catalog.RenameStatement(back))
		for isLockWait(failed) && pause(ctx, lockPause) == nil {
			_, failed = on.Conn.Own().Exec(ctx, catalog.RenameStatement(back))
		}
		switch {
		case failed == nil:
			n.states[i] = former
		case !txn.IsRefusal(failed):
			n.states[i], on.err = unknown, failed
		}
	}
	out := &Error{Err: err, Before: "on shard " + string(at) + ": "}
	if len(n.in(former)) < len(n.shards) {
		out.After = "; " + n.standing() + ": statements on both names are refused until the statement is repeated, which finishes it"
		return false, out
	}
	if isLockWait(err) {
		out.After = held
	}
	if done != nil {
		out.After += "; it was done on " + catalog.List(done) + " and taken back there"
	}
	if undone := n.undo(); undone != nil {
		out.After += "; " + undone.Error()
		return false, out
	}
	if out.After == "" {
		return true, err
	}
	return true, out
}

// in returns the shards in a state.
func (n *renaming) in(state renameState) (shards []router.ShardName) {
	for i, on := range n.shards {
		if n.states[i] == state {
			shards = append(shards, on.Shard)
		}
	}
	return shards
}

// standing returns which names each shard has, for an error.
func (n *renaming) standing() string {
	var list []string
	for _, one := range []struct {
		state renameState
		says  string
	}{
		{renamed, "the new names are on "},
		{former, "the former names are on "},
		{unknown, "which names there are is not known of "},
		{neither, "there are some of both names on "},
		{gone, "neither is on "},
	} {
		if shards := n.in(one.state); shards != nil {
			list = append(list, one.says+catalog.List(shards))
		}
	}
	return strings.Join(list, ", ")
}

// changed returns the changes of the renames.
func (n *renaming) changed() (c catalog.Change) {
	for _, one := range n.list {
		c = c.And(catalog.Change{Tables: []catalog.TableName{one.From, one.To}})
	}
	return c
}

// declareBoth declares the tables by both names, and waits until no proxy serves either.
func (n *renaming) declareBoth() (resumed bool, err error) {
	ctx, cancel := context.WithTimeout(n.Conns.Waits(), declareTime)
	defer cancel()
	resumed, changed, err := n.Renames.Begin(ctx, n.list, n.User)
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

// settle waits until no statement can reach the tables through any proxy.
func (n *renaming) settle() error {
	if err := n.Settled(n.Conns.Waits(), n.changed()); err != nil {
		return fmt.Errorf("not every proxy knows that tables are being renamed: %w", err)
	}
	switch now := n.Snapshot(); {
	case !now.Map.Moving().Empty():
		return errors.New("genes are being moved: wait until locus jobs shows that the job has ended")
	case !slices.Equal(now.Catalog.Shards, n.catalog.Shards):
		return errors.New("the shards of the cluster have changed meanwhile: repeat the statement")
	}
	return nil
}

// declareNew declares the tables by their new names alone.
func (n *renaming) declareNew() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context), txn.UndoTime)
	defer cancel()
	if err := n.Renames.End(ctx, n.list, n.User); err != nil {
		return undeclarable("%v", err)
	}
	n.Reread(n.changed())
	return nil
}

// undo declares the tables by their former names alone. A proxy that is not notified refuses the tables until its next poll.
func (n *renaming) undo() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context), txn.UndoTime)
	defer cancel()
	if err := n.Renames.Undo(ctx, n.list, n.User); err != nil {
		return fmt.Errorf("the new names could not be taken back (%w): statements on both names are refused until the statement is repeated", err)
	}
	_ = n.Redefined(ctx, n.changed()) // Redefined logs which proxies have not read the change
	return nil
}
