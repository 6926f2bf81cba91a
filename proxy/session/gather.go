package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/gather"
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
	at   branch // the connection that has the temporary tables
	own  bool   // the transaction that the rows are read in is the statement's own
	left gather.Limits
	made []string    // temporary tables
	lex  *stmt.Lexed // of the statement
}

// runGathered reads the rows that a statement needs into temporary tables on one
// shard and has that answer it.
func (s *Session) runGathered(asked *request) error {
	s.Counts.Scattered.Add(1)
	own := *asked // the one asked for stays off the heap, where nothing is gathered
	r := &own
	r.cursor = false
	if err := s.mayGather(r); err != nil {
		return err
	}
	if err := s.admit(r, nil, true); err != nil {
		return err
	}
	if limit := s.ownLimit(); limit > 0 {
		s.limit(time.Now().Add(limit))
	}
	shard := s.gatherShard(r)
	g := &gathering{Session: s, r: r, lex: r.values.Lexed, left: gather.Limits{
		Rows: cmp.Or(s.account.GatherRows, gatherRows), Bytes: cmp.Or(s.account.GatherBytes, gatherBytes),
	}}
	var err error
	if g.at, err = s.borrowApart(shard, g.settings()); err != nil {
		return err
	}
	if err = g.fill(); err == nil {
		err = g.answer()
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

func (s *Session) mayGather(r *request) error {
	if _, limited := s.settings.Lookup("sql_select_limit"); limited {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: use LIMIT"}
	}
	if r.plan.Gather.Reopens && !r.world.MariaDB {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a common table expression that is read more than once, over rows of several shards: MySQL can't; name one owner, ID or order number in WHERE, or write it out twice"}
	}
	if s.pins != nil && (s.pins.has(lockedTables) || s.pins.has(temporaryTable)) {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read that joins rows of several shards while this session has locked or temporary tables: end those first"}
	}
	return s.mayScatter(len(r.world.Map.ShardsOf(0, r.world.Map.Width().Last(), nil)))
}

// gatherShard is where the statement runs: where its single tables are, else on
// any of the shards that own genes, not the same for all sessions.
func (s *Session) gatherShard(r *request) router.ShardName {
	if shard := r.plan.Gather.Shard; shard != "" {
		return shard
	}
	m := r.world.Map
	shards := m.ShardsOf(0, m.Width().Last(), nil)
	return m.Shard(shards[int(s.id)%len(shards)])
}

// borrowApart takes a connection that is neither pinned nor the transaction's.
func (s *Session) borrowApart(shard router.ShardName, settings *backend.Settings) (branch, error) {
	pool, ok := s.Pools.Pool(shard)
	if !ok {
		return branch{}, unregistered(shard)
	}
	conn, err := pool.Borrow(s.stop.waits, settings, s.profile)
	if err != nil {
		return branch{}, err
	}
	s.awaited.add(pool, conn)
	return branch{shard: shard, pool: pool, conn: conn}, nil
}

// settings are those under which rows are written: nothing of the session's may
// change a value.
func (g *gathering) settings() *backend.Settings {
	return backend.Default.WithDatabase(g.Session.settings.Database()).
		With("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'").With("time_zone", "'+00:00'")
}

// fill makes and fills the temporary tables.
func (g *gathering) fill() error {
	end, err := g.begin()
	if err != nil {
		return err
	}
	for i := range g.r.plan.Gather.Tables {
		t := &g.r.plan.Gather.Tables[i]
		if g.inPlace(t) {
			continue
		}
		if err = g.table(i, t); err != nil {
			break
		}
	}
	return end(err)
}

// inPlace tells whether a table is read where the statement runs. Within a
// transaction only what has nothing to do with it may be.
func (g *gathering) inPlace(t *plan.Gathered) bool { return t.System || t.Here && g.own }

// begin has all rows that a shard gives be of one moment: they are read in a
// transaction, the client's or one of the statement's own.
func (g *gathering) begin() (end func(error) error, err error) {
	if g.txn.running() || !g.autocommit {
		return func(err error) error { return err }, nil
	}
	g.own = true
	g.txn.begun = true
	if g.txn.next != "" {
		g.txn.opening = append(g.txn.opening, g.txn.next)
	}
	g.txn.opening = append(g.txn.opening, "START TRANSACTION READ ONLY")
	return func(err error) error {
		g.rollback(g.txn.branches)
		next := g.txn.next
		g.txn.end()
		g.txn.next, g.txn.lost = next, false
		return err
	}, nil
}

// table makes the n-th temporary table and reads its rows.
func (g *gathering) table(n int, t *plan.Gathered) error {
	columns, err := g.columns(t)
	if err != nil {
		return err
	}
	name := t.Temporary(n)
	if err := g.create(name, t, columns); err != nil {
		return err
	}
	selected := make([]string, len(columns))
	for i, c := range columns {
		selected[i] = c.Selected(plan.Quote(t.Alias))
	}
	filters, err := g.filters(t)
	if err != nil {
		return err
	}
	into := &gather.Table{Conn: g.at.conn, Name: name, Columns: columns, Left: &g.left}
	return g.read(t.Read(selected, filters), into)
}

// columns asks the shard which columns a table has, and keeps those that are
// needed; of none, the first.
func (g *gathering) columns(t *plan.Gathered) ([]gather.Column, error) {
	rows, err := g.ask(t, "SELECT * FROM "+t.Quoted()+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	var out []gather.Column
	for _, d := range rows.Columns {
		if g.foreign && !isASCII(string(d.Name)) {
			return nil, &plan.Refusal{Code: plan.ScatterShape, Message: "gathering a column whose name is not ASCII for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
		}
		if !t.All && !t.Names[strings.ToLower(string(d.Name))] {
			continue
		}
		c, err := gather.Of(d)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 && len(rows.Columns) > 0 {
		c, err := gather.Of(rows.Columns[0])
		return []gather.Column{c}, err
	}
	return out, nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// create makes a temporary table with the very columns of a table. With its
// primary key too, on which it depends what GROUP BY may leave out, and which
// joins want.
func (g *gathering) create(name string, t *plan.Gathered, columns []gather.Column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = gather.Quote(c.Name)
	}
	key := ""
	if k, err := g.primaryKey(t, columns); err != nil {
		return err
	} else if k != nil {
		key = " (PRIMARY KEY (" + strings.Join(k, ", ") + "))"
	}
	sql := "CREATE TEMPORARY TABLE " + name + key + " ENGINE = InnoDB AS SELECT " + strings.Join(names, ", ") + " FROM " + t.Quoted() + " LIMIT 0"
	if t.From != "" && t.From != g.at.shard {
		defined, err := g.defined(t, columns)
		if err != nil {
			return err
		}
		if key != "" {
			defined = append(defined, strings.Trim(key, " ()")+")")
		}
		sql = "CREATE TEMPORARY TABLE " + name + " (" + strings.Join(defined, ", ") + ") ENGINE = InnoDB"
	}
	g.made = append(g.made, name)
	_, err := g.at.conn.Exec(g.ctx, sql)
	return err
}

// ask asks a question about a table where it is.
func (g *gathering) ask(t *plan.Gathered, sql string) (*backend.Rows, error) {
	if t.From == "" || t.From == g.at.shard {
		return g.at.conn.Query(g.ctx, sql)
	}
	there, err := g.borrowApart(t.From, g.settings())
	if err != nil {
		return nil, err
	}
	rows, err := there.conn.Query(g.ctx, sql)
	if err != nil && !readWhole(err) {
		g.discard(there)
		return nil, err
	}
	g.returnApart(there)
	return rows, err
}

// defined writes the definitions of columns of a table that is on another shard.
func (g *gathering) defined(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	rows, err := g.ask(t, "SHOW FULL COLUMNS FROM "+t.Quoted())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows.Rows {
		if len(row) < 4 || !slices.ContainsFunc(columns, func(c gather.Column) bool { return c.Name == string(row[0]) }) {
			continue
		}
		text := gather.Quote(string(row[0])) + " " + string(row[1])
		if row[2] != nil {
			text += " COLLATE " + string(row[2])
		}
		if string(row[3]) == "NO" {
			text += " NOT"
		}
		out = append(out, text+" NULL")
	}
	return out, nil
}

// primaryKey gives the columns of a table's primary key, if all of them are
// gathered and it holds for rows of all shards.
func (g *gathering) primaryKey(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	holds := t.Unique
	parts := 0
	for _, c := range columns {
		if c.Key {
			parts++
			holds = holds || slices.Contains(t.Keys, strings.ToLower(c.Name))
		}
	}
	if !holds || parts == 0 {
		return nil, nil
	}
	rows, err := g.ask(t, "SHOW KEYS FROM "+t.Quoted()+" WHERE Key_name = 'PRIMARY'")
	if err != nil {
		return nil, err
	}
	return gather.PrimaryKey(columns, len(rows.Rows)), nil
}

// filters are the conditions on a table. One with a value that would not compare
// as a literal as it does bound is left out: the statement has it anyway.
func (g *gathering) filters(t *plan.Gathered) ([]string, error) {
	var out []string
	for _, f := range t.Filters {
		text, ok, err := g.piece(f)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, text)
		}
	}
	return out, nil
}

// piece gives a condition with the values of its placeholders.
func (g *gathering) piece(f plan.Filter) (string, bool, error) {
	from, to := g.lex.Offset(f.Start), g.lex.Offset(f.End)
	var out []byte
	for _, literal := range g.lex.Literals {
		if literal.Kind != stmt.ParamLiteral || int(literal.Start) < from || int(literal.End) > to {
			continue
		}
		p := g.params[literal.Param]
		if !mayBeLiteral(f, boundValue(p)) {
			return "", false, nil
		}
		value, err := g.spelled(p)
		if err != nil {
			return "", false, err
		}
		out = append(append(out, g.lex.Text[from:literal.Start]...), value...)
		from = int(literal.End)
	}
	return string(append(out, g.lex.Text[from:to]...)) + "\n", true, nil
}

func mayBeLiteral(f plan.Filter, v stmt.Value) bool {
	switch v.Kind {
	case stmt.Int, stmt.Uint:
		return f.Numbers
	case stmt.String:
		return f.Texts
	default:
		return v.Kind == stmt.Null
	}
}

// read has every shard that may have rows of a table give them, and writes them.
func (g *gathering) read(text string, into *gather.Table) error {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(text), g.mode)
	p, err := plan.Make(lexed, plan.Context{Catalog: g.r.world.Catalog, Schema: g.Session.settings.Database()})
	if err != nil {
		return err
	}
	args := new(stmt.Args)
	args.Foreign = g.foreign
	args.Reset(lexed, nil)
	r := &request{
		plan: p, world: g.r.world, moving: g.r.moving, payload: append([]byte{mysql.COM_QUERY}, text...),
		values: &plan.Values{Args: args, InsertID: g.insertID},
	}
	if err := g.narrow(r); err != nil {
		return err
	}
	leases, err := g.sendAllOf(r)
	if err != nil {
		return err
	}
	drain := 64 << 10
	if !g.own {
		drain = 1 << 62
	}
	return g.collect(leases, into, drain)
}

// narrow finds the shards of a table's rows.
func (g *gathering) narrow(r *request) error {
	m := r.world.Map
	switch r.plan.Place {
	case plan.Keyed:
		if err := r.plan.Route(m, r.values, &g.route); err != nil {
			return err
		}
		for _, shard := range g.route.Shards {
			if _, err := g.foreignAt(r, shard); err != nil {
				return err
			}
		}
		return nil
	case plan.Fixed, plan.Any:
		shard := r.plan.Shard
		switch {
		case r.plan.Place == plan.Fixed:
		case len(g.txn.branches) > 0:
			shard = g.txn.branches[0].shard
		default:
			shard = g.at.shard
		}
		g.route = plan.Route{Shards: []int{slices.Index(m.Shards(), shard)}}
		return nil
	case plan.Session, plan.Everywhere, plan.Stamped, plan.Rewritten:
	}
	return plan.Unowned()
}

// sendAllOf is sendAll for a read of one table.
func (g *gathering) sendAllOf(r *request) ([]lease, error) {
	if !g.own {
		return g.sendAll(r, nil, nil)
	}
	leases := make([]lease, 0, len(g.route.Shards))
	for _, i := range g.route.Shards {
		l, err := g.lendSpanning(r.world.Map.Shard(i), false, Multi)
		if err != nil {
			return nil, err
		}
		leases = append(leases, l)
	}
	for i, l := range leases {
		edits, err := g.ownEdits(r, g.route.Shards[i], nil)
		if err == nil {
			err = g.send(l, r, g.edited(r.values.Text, edits), nil)
		}
		if err != nil {
			for _, sent := range leases[:i+1] {
				sent.conn.Lost(true, err)
			}
			return nil, err
		}
	}
	return leases, nil
}

// collect writes the rows of all answers. What is left of the others after an
// error is read or given up.
func (g *gathering) collect(leases []lease, into *gather.Table, drain int) error {
	var failure error
	for _, l := range leases {
		var answer gather.Answer
		var err error
		if failure == nil {
			answer, err = into.Fill(g.ctx, l.conn, drain)
		} else {
			none := *into
			none.Left = &gather.Limits{}
			answer, _ = none.Fill(g.ctx, l.conn, drain)
		}
		if failure == nil {
			failure = err
		}
		switch {
		case !answer.Clean && g.own: // the transaction is the statement's, and ends with it
			l.conn.Lost(true, errUnread)
		case !answer.Clean:
			g.abandon(l)
		case !g.own:
			g.settle(l, answer.Status, answer.Status != 0)
		case !l.joined: // a replica's
			g.settle(l, answer.Status, answer.Status != 0)
		default:
			l.conn.SetStatus(answer.Status | mysql.SERVER_STATUS_IN_TRANS)
		}
	}
	return failure
}

var errUnread = errors.New("its answer was not read to the end")

// answer runs the statement over the temporary tables, and passes the answer on.
func (g *gathering) answer() error {
	if err := g.at.conn.Carry(g.ctx, g.Session.settings); err != nil {
		return err
	}
	var edits []edit
	for i := range g.r.plan.Gather.Tables {
		t := &g.r.plan.Gather.Tables[i]
		if !g.inPlace(t) {
			edits = append(edits, edit{g.lex.Offset(t.Start), g.lex.Offset(t.End), t.Stand(i)})
		}
	}
	for _, u := range g.r.plan.Gather.Unnamed {
		from, to := g.lex.Offset(u.Start), g.lex.Offset(u.End)
		edits = append(edits, edit{to, to, string(appendAlias(nil, g.lex.Text[from:to]))})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	g.r.outside = true
	l := lease{branch: g.at, outside: true}
	var params []wire.Param
	if g.r.statement != nil {
		params = append(params, g.params...)
	}
	if err := g.send(l, g.r, g.edited(g.r.values.Text, edits), params); err != nil {
		return err
	}
	if err := g.relay(g.at.conn, wire.QueryResponse, g.withStatus()); err != nil {
		return err
	}
	_, failed := g.scanner.ErrCode()
	g.count(g.r, failed)
	g.at.conn.SetStatus(g.scanner.Status())
	if failed || g.scanner.Warnings() > 0 {
		g.keepWarnings(l)
	}
	return nil
}

// clean takes the temporary tables away. A connection that may have some left is
// closed, and so is one whose answer may not have been read to its end.
func (g *gathering) clean(err error) {
	if err != nil && !readWhole(err) || g.swept() != nil {
		g.discard(g.at)
		return
	}
	g.returnApart(g.at)
}

// readWhole tells the errors that leave no answer under way on the connection
// that has the temporary tables.
func readWhole(err error) bool {
	switch err.(type) { //nolint:errorlint // they are never wrapped
	case *mysql.MyError, *plan.Refusal, *heldError, *gather.LimitError, *gather.TypeError:
		return true
	}
	return false
}

func (g *gathering) swept() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), undoTime)
	defer cancel()
	if g.at.conn.InTransaction() { // with autocommit off
		if _, err := g.at.conn.Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
	}
	if len(g.made) == 0 {
		return nil
	}
	if err := g.at.conn.Carry(ctx, g.settings()); err != nil { // READ ONLY among them, say
		return err
	}
	_, err := g.at.conn.Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+strings.Join(g.made, ", "))
	return err
}

// returnApart gives back what borrowApart took.
func (s *Session) returnApart(b branch) {
	if s.awaited.remove(b.conn) || b.conn.InTransaction() {
		b.pool.Discard(b.conn)
		return
	}
	b.pool.Return(b.conn)
}
