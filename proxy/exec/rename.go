package exec

import (
	"context"
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

// Renaming is RENAME TABLE of tables that are on every shard.
type Renaming struct {
	List []catalog.Rename
	// Resumes: it was begun before, and some shards may have done it.
	Resumes bool
	// Begin has nobody served by any of the names; resumed says whether that was so before. After an error nothing has changed.
	Begin func() (resumed bool, err error)
	// End declares the tables by their new names alone, and Undo by their former ones alone.
	End, Undo func() error
}

// renaming is one under way.
type renaming struct {
	*alteration
	Renaming
	states []renameState // by shard
}

// renameState is how a shard has the tables.
type renameState uint8

const (
	unknown renameState = iota
	former              // all by their former names
	renamed             // all by their new ones
	neither
	gone // by no name
)

// Rename renames tables on all shards, or on none. Its error tells what stands where. As long as some shard has other names than
// others nobody is served by either, and the same statement again goes on from there. While somebody holds one of the tables, others
// are served as before.
func (r *Request) Rename(of Renaming) error {
	end, err := r.takeTurn()
	if err != nil {
		return undone(err)
	}
	defer end()
	n := &renaming{Renaming: of}
	n.alteration = r.alteration(n.former())
	if err := n.lend(); err != nil {
		return undone(err)
	}
	defer n.end()
	for {
		if held, err := n.once(); !held {
			return err
		}
		if err := pause(n.Conns.Waits(), lockPause); err != nil {
			return n.nothingDone(err)
		}
	}
}

// former are the names that the tables have now.
func (r Renaming) former() (tables []string) {
	for name, role := range r.roles() {
		if role.from {
			tables = append(tables, plan.Quote(name.Schema)+"."+plan.Quote(name.Name))
		}
	}
	slices.Sort(tables)
	return tables
}

// free waits until nobody holds the tables. What a shard refuses for another reason it will say of the statement, too.
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

// once tries it. Held: somebody has come to hold a table; all is as before, and it may be tried again.
func (n *renaming) once() (held bool, err error) {
	resumed, err := n.begin()
	if err != nil {
		return false, n.nothingDone(err)
	}
	at, err := n.onShards()
	for resumed && isLockWait(err) && time.Now().Before(n.until) && pause(n.Conns.Waits(), lockPause) == nil {
		at, err = n.onShards() // some shard may have done it: there is no way back to who serves the tables
	}
	if err != nil {
		before, told := n.takeBack(at, err)
		return before && !resumed && isLockWait(err) && time.Now().Before(n.until), told
	}
	if err := n.End(); err != nil {
		return false, &DefinitionError{Err: err, After: "; the tables are renamed on every shard, and what is declared is not: they are refused until the statement is repeated, which finishes it"}
	}
	return false, nil
}

// begin looks at the shards before anybody is refused, and again once nobody changes them any more.
func (n *renaming) begin() (resumed bool, err error) {
	if err := n.look(); err != nil {
		return false, err
	}
	if !n.Resumes {
		if err := n.unfit(); err != nil {
			return false, err
		}
		if err := n.free(); err != nil {
			return false, err
		}
	}
	resumed, err = n.Begin()
	if err != nil {
		return false, err
	}
	err = n.look()
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
	if undone := n.Undo(); undone != nil {
		return resumed, fmt.Errorf("%w; and %w", err, undone)
	}
	return resumed, err
}

// look asks every shard by which names it has the tables.
func (n *renaming) look() error {
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

// state asks one, over a connection that it has left.
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

// role says whether a name is there before, and afterwards.
type role struct{ from, to bool }

func (r Renaming) roles() map[catalog.TableName]role {
	roles := map[catalog.TableName]role{}
	for _, one := range r.List {
		roles[one.From] = role{true, roles[one.From].to}
		roles[one.To] = role{roles[one.To].from, true}
	}
	return roles
}

// has are those of the names that a shard has.
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

// names are all former and new names, each once.
func (n *renaming) names() (list []catalog.TableName) {
	for _, r := range n.List {
		for _, name := range []catalog.TableName{r.From, r.To} {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// unfit is why the tables can't be renamed of which no shard may have the new names yet.
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

// stuck is why tables that were begun to be renamed can't be: somebody has changed them on the shards.
func (n *renaming) stuck() error {
	if !slices.ContainsFunc(n.states, func(s renameState) bool { return s == neither || s == gone }) {
		return nil
	}
	return wire.Errorf(mysql.ER_NO_SUCH_TABLE, "42S02", "somebody has changed the tables on the shards while they were being renamed: %s; "+
		"have each shard have all of them by their former names, or all by their new ones, connected to the shard, then repeat the statement", n.standing())
}

// onShards has every shard do it that has not. The error is of the first one that fails.
func (n *renaming) onShards() (at router.ShardName, err error) {
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, []byte(catalog.RenameStatement(n.List)))
	for i := range n.shards {
		on := &n.shards[i]
		if n.states[i] == renamed {
			continue
		}
		n.Observer.Sent(on.Lease)
		on.err = on.Conn.Send(packet, Leaves(n.Facts))
	}
	for i := range n.shards {
		on := &n.shards[i]
		if n.states[i] == renamed {
			continue
		}
		if on.err == nil {
			on.ok, on.err = on.Conn.Outcome()
		}
		n.Observer.Trace().Answered(string(on.Shard), 0, CodeOf(on.err))
		failed := on.err
		n.states[i] = n.after(on)
		if n.states[i] != renamed && err == nil {
			at, err = on.Shard, failed
		}
	}
	return at, err
}

// after is how a shard has the tables once it was told to rename them. One that did not answer may still do it; one that
// refuses may have been told before.
func (n *renaming) after(on *defining) renameState {
	if on.err == nil {
		return renamed
	}
	if !txn.IsRefusal(on.err) {
		return unknown
	}
	on.err = nil // it has its answer, and the connection goes on
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.Context), txn.UndoTime)
	defer cancel()
	state, err := n.state(ctx, on.Lease)
	if err != nil {
		on.err = err
	}
	return state
}

// takeBack has the shards that have done it rename the tables back, after one has failed. Before: all is as it was.
func (n *renaming) takeBack(at router.ShardName, err error) (before bool, told error) {
	done := n.in(renamed)
	back := make([]catalog.Rename, len(n.List))
	for i, r := range n.List {
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
	out := &DefinitionError{Err: err, Before: "on shard " + string(at) + ": "}
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
	if undone := n.Undo(); undone != nil {
		out.After += "; " + undone.Error()
		return false, out
	}
	if out.After == "" {
		return true, err
	}
	return true, out
}

// in are the shards that have the tables in one way.
func (n *renaming) in(state renameState) (shards []router.ShardName) {
	for i, on := range n.shards {
		if n.states[i] == state {
			shards = append(shards, on.Shard)
		}
	}
	return shards
}

// standing says what stands where.
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
