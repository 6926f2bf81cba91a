package exec

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// gathering is one statement whose rows are gathered.
type gathering struct {
	x    *Execution
	on   *workspace
	plan *plan.Gathering
	own  bool // the rows are read in a transaction of the statement's own
	left gather.Limits
	// byKey is the number of rows that were read by the keys of others.
	byKey int64
	// groups is true if the shards' groups are gathered instead of rows.
	groups bool
	// warned is the number of warnings of the queries for the shards' groups.
	warned int
	// large contains the tables that are read in place because they have too many rows to be the source of keys.
	large map[*plan.Gathered]bool
}

// gatherAt reads the rows that a statement needs into temporary tables on a shard, and calls use with them. most limits the rows.
// If the statement may depend on the current time, all shards get the same time.
func (x *Execution) gatherAt(p *plan.Gathering, on router.ShardName, most gather.Limits, use func(*gathering) error) error {
	own := x.clone()
	if !own.needsOneTime() {
		return own.gatherOn(p, on, most, use)
	}
	return own.atOneTime(func() error { return own.gatherOn(p, on, most, use) })
}

func (x *Execution) gatherOn(p *plan.Gathering, on router.ShardName, most gather.Limits, use func(*gathering) error) error {
	return gatherError(x.onWorkspace(on, func(w *workspace) error {
		g := &gathering{x: x, on: w, plan: p, left: most}
		if err := g.fill(); err != nil {
			return err
		}
		return use(g)
	}))
}

// gatherError replaces errors of package gather by the refusals that the client gets.
func gatherError(err error) error {
	if e, ok := errors.AsType[*gather.LimitError](err); ok {
		return &plan.Refusal{Code: plan.GatherLimit, Message: e.Error() + " from several shards: name the owner, the ID or the order number in WHERE, or conditions on each table by itself"}
	}
	if e, ok := errors.AsType[*gather.TypeError](err); ok {
		return &plan.Refusal{Code: plan.ScatterShape, Message: e.Error() + ": name one owner, ID or order number in WHERE"}
	}
	return err
}

// remaining returns how much more could have been gathered.
func (g *gathering) remaining() gather.Limits { return g.left }

// fill creates and fills the temporary tables. All rows of a shard are of one moment, because they are read in one transaction.
// It is the client's transaction, or else one of the statement's own.
func (g *gathering) fill() error {
	if g.own = !g.x.Conns.Running() && g.x.Vars.Autocommit; g.own {
		return g.x.Conns.Reading(g.fillAll)
	}
	return g.fillAll()
}

// fillAll is fill within the transaction.
func (g *gathering) fillAll() error {
	if p := g.plan.Groups(g.x.Snapshot.Map); p != nil {
		if err := g.sumUp(p); err != nil || g.groups {
			return err
		}
	}
	for _, i := range g.plan.Order {
		t := &g.plan.Tables[i]
		if t.Source && t.Here && g.own && !g.repeats() {
			if err := g.measure(t); err != nil {
				return err
			}
		}
		if g.inPlace(t) {
			if g.on.lease.Stale() {
				g.x.markStale(g.on.lease)
			}
			continue
		}
		if err := g.table(i, t); err != nil {
			return err
		}
	}
	if g.repeats() {
		return g.computeRepeated()
	}
	return nil
}

// inPlace reports whether the statement reads a table itself instead of a temporary one. Within the client's transaction, it does
// so only for system tables, which no transaction concerns. So it does where common table expressions are computed before the
// statement, because a table in place might change in between.
func (g *gathering) inPlace(t *plan.Gathered) bool {
	return t.System || t.Here && g.own && !g.repeats() && (!t.Source || g.large[t])
}

// edits returns the edits that make the statement read the temporary tables. The columns of its answer keep the names that they
// would have had.
func (g *gathering) edits() (edits []stmt.Edit) {
	unnamed := g.plan.Unnamed
	if p := g.plan.Partial; g.groups {
		edits, unnamed = g.overGroups(p), p.Unnamed
	} else {
		edits = g.overRows()
	}
	edits = g.named(edits, unnamed)
	if g.repeats() {
		edits = g.overRepeated(edits)
	}
	return stmt.SortEdits(edits)
}

// named appends the edits that name the fields whose text is changed as their text.
func (g *gathering) named(edits []stmt.Edit, unnamed []stmt.UnnamedPlace) []stmt.Edit {
	for _, u := range unnamed {
		name := g.edit(u.Start, u.End, "")
		edits = append(edits, stmt.Edit{From: name.To, To: name.To, Text: string(g.x.Vars.AppendAlias(nil, g.x.Values.Text[name.From:name.To]))})
	}
	return edits
}

// edit returns an edit between two places of the statement.
func (g *gathering) edit(start, end stmt.Anchor, text string) stmt.Edit {
	return stmt.Edit{From: g.x.Values.Offset(start), To: g.x.Values.Offset(end), Text: text}
}

// overRows returns the edits that replace tables by temporary tables, and that remove the tables' hints.
func (g *gathering) overRows() (edits []stmt.Edit) {
	for i := range g.plan.Tables {
		if t := &g.plan.Tables[i]; !g.inPlace(t) {
			edits = append(edits, g.edit(t.Start, t.End, t.Replacement(i)))
			if h := t.Hints; h.Text != "" {
				edits = append(edits, g.edit(h.Start, h.End, ""))
			}
		}
	}
	return edits
}

// params returns the parameters of the statement that runs over the temporary tables. It returns nil for a statement sent as text.
func (g *gathering) params() []wire.Param {
	if g.x.Params == nil {
		return nil
	}
	if g.repeats() {
		return g.paramsBefore(math.MaxInt, g.edits())
	}
	out := make([]wire.Param, 0, len(g.x.Params))
	for _, literal := range g.x.Values.Literals {
		if literal.Kind == stmt.ParamLiteral && !g.summedUp(literal) {
			out = append(out, g.x.Params[literal.Param])
		}
	}
	return out
}

// paramsBefore returns the parameters of the statement up to an offset that edits leave in place.
func (g *gathering) paramsBefore(end int, edits []stmt.Edit) (out []wire.Param) {
	for _, literal := range g.x.Values.Literals {
		removed := func(e stmt.Edit) bool { return e.Covers(literal) }
		if literal.Kind == stmt.ParamLiteral && int(literal.End) <= end && !slices.ContainsFunc(edits, removed) {
			out = append(out, g.x.Params[literal.Param])
		}
	}
	return out
}

// anyShard returns the shard from which rows are read that every shard has.
func (g *gathering) anyShard() router.ShardName {
	if shard, ok := g.x.Conns.Home(); ok {
		return shard
	}
	return g.on.lease.Shard
}

// read sends the queries to their shards, and writes all rows into a temporary table.
func (g *gathering) read(queries []plan.Query, into *gather.Table) error {
	parts := make([]Part, len(queries))
	for i, q := range queries {
		parts[i] = Part{Shard: q.Shard, Text: []byte(q.Text)}
	}
	g.x.Conns.Imply()
	all := g.x.part(g.plan.Reads(g.x.Facts), g.x.Values)
	all.silent = !g.groups // if rows are gathered, the statement itself causes the warnings
	if g.plan.Locks {
		return g.lockAndRead(all, parts, into)
	}
	leases, err := all.sendAll(parts, all.purpose())
	if err != nil {
		return err
	}
	drain := 64 << 10
	if !g.own {
		drain = 1 << 62
	}
	warned, err := all.collect(g.x.Context, leases, into, drain)
	if g.groups {
		g.warned += warned
	}
	return err
}

// lockAndRead is read for locking reads. It asks one shard after the other, so that statements which lock the same rows wait for each
// other on the first shard.
func (g *gathering) lockAndRead(all *Execution, parts []Part, into *gather.Table) error {
	for i := range parts {
		leases, err := all.sendAll(parts[i:i+1], all.purpose()|txn.Writes)
		if err != nil {
			return err
		}
		warned, err := all.collect(g.x.Context, leases, into, 1<<62)
		if err == nil && warned > 0 {
			err = refuseWarned()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runGathered answers a statement that no shard can answer alone, and for which the answers of the shards can't be merged.
func (x *Execution) runGathered(p *plan.Gathering) error {
	if err := x.guardAll(); err != nil {
		return err
	}
	return x.gather(p)
}

// gather reads the rows that a statement needs into temporary tables on one shard, or into its text if they are few. That shard then answers the
// statement.
func (x *Execution) gather(p *plan.Gathering) error {
	x.Observer.Gathers()
	defer x.Observer.Trace().Enter(trace.Gather, "")()
	if err := x.beginGathering(p); err != nil {
		return err
	}
	if carried, err := x.carry(p); carried {
		return err
	}
	return x.gatherAdmitted(p, (*gathering).answer)
}

// gatherFor reads the rows that a statement needs into temporary tables on one shard, and calls use with them.
func (x *Execution) gatherFor(p *plan.Gathering, use func(*gathering) error) error {
	x.Observer.Gathers()
	defer x.Observer.Trace().Enter(trace.Gather, "")()
	if err := x.beginGathering(p); err != nil {
		return err
	}
	return x.gatherAdmitted(p, use)
}

// beginGathering admits a read that is gathered, or refuses it.
func (x *Execution) beginGathering(p *plan.Gathering) error {
	if err := x.admitGathering(p); err != nil {
		return err
	}
	return x.refuseUnseenGenes(func(set gene.Set) bool { return !set.Empty() })
}

// admitGathering admits a statement that is gathered, or refuses it.
func (x *Execution) admitGathering(p *plan.Gathering) error {
	x.Cursor = false
	if x.Prepared != nil && x.ReadsDifferently(&x.Prepared.Reading) {
		return StaleReading()
	}
	if err := x.mayGather(p); err != nil {
		return err
	}
	return x.Admit(nil, true, nil)
}

// gatherAdmitted is gatherFor for a statement that was admitted.
func (x *Execution) gatherAdmitted(p *plan.Gathering, use func(*gathering) error) error {
	shard := x.gatherShard(p)
	x.Tally.Gathered.Add(1)
	most, _ := x.Account.GatherLimits()
	return x.gatherAt(p, shard, most, func(g *gathering) error {
		rows := most.Rows - g.remaining().Rows
		x.Observer.GatheredRows(rows, g.byKey)
		x.Account.Gathered(rows, most.Bytes-g.remaining().Bytes, &x.Vars.Diagnostics)
		return use(g)
	})
}

// mayGather returns an error if temporary tables can't be used for the statement.
func (x *Execution) mayGather(p *plan.Gathering) error {
	if p.Reopens && p.Repeated == nil && !x.Snapshot.Flavor.ReopensTemporary() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "such a common table expression that is read more than once, over rows of several shards of MySQL: " +
			"define it in the WITH clause at the start of the statement, with columns of tables as its fields; or name one owner, ID or order number in WHERE"}
	}
	if x.Conns.Reserved(txn.LockedTables) {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read that joins rows of several shards while this session has locked tables: end those first"}
	}
	if name, may := x.readsTemporary(); may {
		return &plan.Refusal{Code: plan.ScatterShape, Message: fmt.Sprintf("a read of rows of several shards together with temporary table %s, which one connection has: CREATE TEMPORARY TABLE … SELECT its rows of the shards, and join the two there", name)}
	}
	return nil
}

// readsTemporary reports whether the statement reads a temporary table of the session, or may do so because not all of their names are
// known. The table that it creates is not read.
func (x *Execution) readsTemporary() (name string, may bool) {
	temporary := x.Conns.TemporaryTables()
	if len(temporary) == 0 {
		return "", false
	}
	if slices.Contains(temporary, catalog.TableName{}) {
		return "whose name is not known", true
	}
	st := x.Facts.Statement
	for _, t := range plan.TablesOf(st) {
		if full := x.FullName(t); slices.Contains(temporary, full) && !slices.Contains(st.Created, t) {
			return full.String(), true
		}
	}
	return "", false
}

// gatherShard returns the shard that runs the statement. It is the shard of the statement's single tables. Without any, it is one
// of the shards that own genes, and sessions are distributed over them.
func (x *Execution) gatherShard(p *plan.Gathering) router.ShardName {
	if shard := p.Shard; shard != "" {
		return shard
	}
	m := x.Snapshot.Map
	var c Candidates
	for _, i := range m.ShardsOf(0, m.Width().Last(), nil) {
		c.Shards = append(c.Shards, m.Shard(i))
	}
	c.Chosen = int(x.ID) % len(c.Shards)
	shard, _ := x.bestOf(c, nil)
	return shard
}

// answer runs the statement over the temporary tables, and relays the answer to the client.
func (g *gathering) answer() error {
	l, w := g.on.lease, g.x
	if err := l.Conn.Carry(g.x.Context, g.x.under()); err != nil {
		return err
	}
	w.Outside = true
	if err := w.send(l, g.x.Edited(w.Values.Text, g.edits()), g.params()); err != nil {
		return err
	}
	g.x.Client.Warned = g.warned
	err := g.x.Relay(l.Conn, wire.QueryResponse, g.x.Status(), nil)
	g.x.Client.Warned = 0
	if err != nil {
		if !txn.IsRefusal(err) {
			return g.on.giveUp(err)
		}
		return err
	}
	g.x.Observer.Answered(l.Shard)
	a := w.readAnswer()
	if g.x.settings != nil { // takeOver adopts the session's settings, which are not all that the connection has
		l.Conn.Note(backend.State)
	}
	w.takeOver(l, a, leftBy(w.Facts, a, true)&(warnings|foundRows|assigned))
	if !a.Failed {
		l.Conn.SetStatus(a.status)
	}
	return nil
}
