package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/gather"
	"locus/proxy/session/fence"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// What a statement may gather at most.
const (
	gatherRows  = 1_000_000
	gatherBytes = 256 << 20
)

// gathering is one statement whose rows are gathered.
type gathering struct {
	*Session
	r    *request
	plan *plan.Gathering
	at   txn.Lease // the connection that has the temporary tables
	own  bool      // the transaction that the rows are read in is the statement's own
	left gather.Limits
	// groups: the shards' groups are gathered, and not rows.
	groups bool
	made   []string    // temporary tables
	lex    *stmt.Lexed // of the statement
}

// runGathered answers a statement that no shard can answer, and whose answers
// can't be merged.
func (s *Session) runGathered(r *request, p *plan.Gathering) error {
	if err := s.mayReadAll(r); err != nil {
		return err
	}
	return s.gather(r, p)
}

// gather reads the rows that a statement needs into temporary tables on one
// shard and has that answer it.
func (s *Session) gather(asked *request, p *plan.Gathering) error {
	own := *asked // the one asked for stays off the heap, where nothing is gathered
	return s.gathered(&own, p, (*gathering).answer)
}

// gathered reads the rows that a statement needs into temporary tables on one
// shard, for use, and takes them away again.
func (s *Session) gathered(r *request, p *plan.Gathering, use func(*gathering) error) error {
	r.cursor = false
	if r.statement != nil && s.past(&r.statement.read) {
		return outlived()
	}
	defer s.timing.trace.Enter(trace.Gather, "")()
	if err := s.mayGather(r, p); err != nil {
		return err
	}
	if err := s.admit(r, nil, true); err != nil {
		return err
	}
	shard := s.gatherShard(r, p)
	s.Counts.Gathered.Add(1)
	release, err := s.reserve(shard)
	if err != nil {
		return err
	}
	defer release()
	most, _ := s.account.gatherLimits()
	g := &gathering{Session: s, r: r, plan: p, lex: r.values.Lexed, left: most}
	if g.at, err = s.apart(shard, g.settings()); err != nil {
		return err
	}
	if err = g.fill(); err == nil {
		s.mayHaveGathered(most.Rows-g.left.Rows, most.Bytes-g.left.Bytes)
		err = use(g)
	}
	g.clean(err)
	return gatherError(err)
}

// gatherError gives the errors of gathering that are the statement's own.
func gatherError(err error) error {
	if e, ok := errors.AsType[*gather.LimitError](err); ok {
		return &plan.Refusal{Code: plan.GatherLimit, Message: e.Error() + " from several shards: name the owner, the ID or the order number in WHERE, or conditions on each table by itself"}
	}
	if e, ok := errors.AsType[*gather.TypeError](err); ok {
		return &plan.Refusal{Code: plan.ScatterShape, Message: e.Error() + ": name one owner, ID or order number in WHERE"}
	}
	return err
}

func (s *Session) mayGather(r *request, p *plan.Gathering) error {
	if p.Reopens && !r.snapshot.Flavor.ReopensTemporary() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a common table expression that is read more than once, over rows of several shards: MySQL can't; name one owner, ID or order number in WHERE, or write it out twice"}
	}
	if s.conns.Reserved(txn.LockedTables) || s.conns.Reserved(txn.TemporaryTable) {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read that joins rows of several shards while this session has locked or temporary tables: end those first"}
	}
	return nil
}

// gatherShard is where the statement runs: where its single tables are, else on
// any of the shards that own genes, not the same for all sessions.
func (s *Session) gatherShard(r *request, p *plan.Gathering) router.ShardName {
	if shard := p.Shard; shard != "" {
		return shard
	}
	m := r.snapshot.Map
	var c candidates
	for _, i := range m.ShardsOf(0, m.Width().Last(), nil) {
		c.shards = append(c.shards, m.Shard(i))
	}
	c.chosen = int(s.id) % len(c.shards)
	shard, _ := s.best(c, nil)
	return shard
}

// reserve waits until few enough gather on a shard: each has a connection there while
// it takes others, and must not wait for those who wait for its own.
func (s *Session) reserve(shard router.ShardName) (release func(), err error) {
	pool, ok := s.Pools.Pool(shard)
	if !ok {
		return nil, txn.Unregistered(shard)
	}
	return pool.Reserve(s.interrupts.Waits())
}

// apart takes a connection that is neither reserved nor the transaction's.
func (s *Session) apart(shard router.ShardName, settings *backend.Settings) (txn.Lease, error) {
	l, err := s.conns.AcquireAs(shard, txn.Apart, settings)
	if err == nil {
		s.timing.sentTo(shard)
	}
	return l, err
}

// askApart asks a shard on such a connection.
func (s *Session) askApart(shard router.ShardName, settings *backend.Settings, text string) (*backend.Rows, error) {
	l, err := s.apart(shard, settings)
	if err != nil {
		return nil, err
	}
	rows, err := l.Conn.Own().Query(s.ctx, text)
	if err != nil {
		l.Fail(err)
		return nil, err
	}
	l.Done(l.Conn.Status())
	return rows, nil
}

// settings are those under which rows are written: nothing of the session's may
// change a value.
func (g *gathering) settings() *backend.Settings {
	return backend.Default.WithDatabase(g.Session.vars.Settings.Database()).
		With("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'").With("time_zone", "'+00:00'")
}

// fill makes and fills the temporary tables. All rows that a shard gives are of one
// moment: they are read in a transaction, the client's or one of the statement's own.
func (g *gathering) fill() error {
	if g.own = !g.conns.Running() && g.vars.Autocommit; g.own {
		return g.conns.Reading(g.fillAll)
	}
	return g.fillAll()
}

func (g *gathering) fillAll() error {
	var err error
	if p := g.plan.Partial; p != nil {
		err = g.sumUp(p)
	}
	for i := range g.plan.Tables {
		t := &g.plan.Tables[i]
		if err != nil || g.groups {
			break
		}
		if !g.inPlace(t) {
			err = g.table(i, t)
		}
	}
	return err
}

// inPlace tells whether a table is read where the statement runs. Within a
// transaction only what has nothing to do with it may be.
func (g *gathering) inPlace(t *plan.Gathered) bool { return t.System || t.Here && g.own }

// answer runs the statement over the temporary tables, and passes the answer on.
func (g *gathering) answer() error {
	if err := g.at.Conn.Carry(g.ctx, g.Session.vars.Settings); err != nil {
		return err
	}
	g.r.outside = true
	if err := g.send(g.at, g.r, g.edited(g.r.values.Text, g.places()), g.bound()); err != nil {
		return err
	}
	if err := g.relay(g.at.Conn, wire.QueryResponse, g.withStatus()); err != nil {
		return err
	}
	g.answered(g.at.Shard)
	_, failed := g.scanner.ErrCode()
	if failed || g.scanner.Warnings() > 0 {
		g.keepWarnings(g.at)
	}
	g.count(g.at, g.r, failed)
	if g.r.facts.Statement.Features&stmt.CalcFoundRows != 0 && !failed {
		g.readFoundRows(g.at)
	}
	g.at.Conn.SetStatus(g.statusOn(g.at))
	return nil
}

// places has the statement read the temporary tables, by columns of the names that
// they would have had.
func (g *gathering) places() []exec.Edit {
	var edits []exec.Edit
	unnamed := g.plan.Unnamed
	if p := g.plan.Partial; g.groups {
		edits, unnamed = g.overGroups(p), p.Unnamed
	} else {
		edits = g.overRows()
	}
	for _, u := range unnamed {
		from, to := g.lex.Offset(u.Start), g.lex.Offset(u.End)
		edits = append(edits, exec.Edit{From: to, To: to, Text: string(sysvars.AppendAlias(nil, g.lex.Text[from:to]))})
	}
	slices.SortStableFunc(edits, func(a, b exec.Edit) int { return cmp.Compare(a.From, b.From) })
	return edits
}

func (g *gathering) overRows() (edits []exec.Edit) {
	for i := range g.plan.Tables {
		t := &g.plan.Tables[i]
		if !g.inPlace(t) {
			edits = append(edits, exec.Edit{From: g.lex.Offset(t.Start), To: g.lex.Offset(t.End), Text: t.Stand(i)})
		}
	}
	return edits
}

// bound are the parameters of what runs over the temporary tables, nil for a text.
func (g *gathering) bound() []wire.Param {
	if g.r.statement == nil {
		return nil
	}
	out := make([]wire.Param, 0, len(g.params))
	for _, literal := range g.lex.Literals {
		if literal.Kind == stmt.ParamLiteral && !g.summedUp(literal) {
			out = append(out, g.params[literal.Param])
		}
	}
	return out
}

// clean takes the temporary tables away. A connection that may have some left is
// closed, and so is one whose answer may not have been read to its end.
func (g *gathering) clean(err error) {
	if err != nil && !readWhole(err) || g.swept() != nil {
		g.at.Lost()
		return
	}
	g.at.Done(g.at.Conn.Status())
}

// readWhole tells the errors that leave no answer under way on the connection
// that has the temporary tables.
func readWhole(err error) bool {
	switch err.(type) { //nolint:errorlint // they are never wrapped
	case *mysql.MyError, *plan.Refusal, *fence.HeldError, *gather.LimitError, *gather.TypeError:
		return true
	}
	return false
}

func (g *gathering) swept() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), undoTime)
	defer cancel()
	if g.at.Conn.InTransaction() { // with autocommit off
		if _, err := g.at.Conn.Own().Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
	}
	if len(g.made) == 0 {
		return nil
	}
	if err := g.at.Conn.Carry(ctx, g.settings()); err != nil { // READ ONLY among them, say
		return err
	}
	_, err := g.at.Conn.Own().Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+strings.Join(g.made, ", "))
	return err
}
