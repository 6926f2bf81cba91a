package migrate

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"locus/idgen/gene"
	"locus/migrate/audit"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

// filler gives the rows of an import's tables their genes, in the column that locus makes, on the shard that has the tables:
// who writes to a table of one shard alone knows nothing of the column. What it writes is in the log like any other change, so
// that the streams bring it on. Its methods may be called concurrently.
type filler struct {
	source link.Server
	tables []*table.Table // that have the column
	log    *slog.Logger

	turn chan struct{} // of capacity 1; who has its token fills, and nobody else

	mu      sync.Mutex // of what follows
	seen    map[catalog.TableName]map[string]table.Key
	tooMany bool       // some were forgotten
	holder  *link.Conn // has the tables locked, which a transaction would end

	// The runner's goroutine starts and stops it.
	cancel  context.CancelFunc
	running sync.WaitGroup
}

const (
	filledAtOnce = 200     // rows in one transaction
	walkedAtOnce = 5000    // rows that are looked at by one statement
	mostUnfilled = 100_000 // rows that are remembered
	fillEvery    = 50 * time.Millisecond
	// searchEvery is how often rows are looked for that the streams have not told of.
	searchEvery = time.Second
)

// newFiller is one for those of the tables that have the column; nil: none has it.
func newFiller(source link.Server, tables []*table.Table, log *slog.Logger) *filler {
	f := &filler{source: source, log: log, turn: make(chan struct{}, 1), seen: map[catalog.TableName]map[string]table.Key{}}
	for _, t := range tables {
		if t.Declared.MakesGene() {
			f.tables = append(f.tables, t)
		}
	}
	if f.tables == nil {
		return nil
	}
	return f
}

// keep has it run, or not.
func (f *filler) keep(ctx context.Context, wanted bool) {
	switch {
	case f == nil || wanted == (f.cancel != nil):
	case !wanted:
		f.stop()
	default:
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f.cancel = cancel
		f.running.Go(func() { f.run(ctx) })
	}
}

func (f *filler) stop() {
	if f == nil || f.cancel == nil {
		return
	}
	f.cancel()
	f.running.Wait()
	f.cancel = nil
}

// run fills what clients write. What keeps it from that is told, and tried again: a step waits for rows that have no gene.
func (f *filler) run(ctx context.Context) {
	var c *link.Conn
	defer func() { hangUp(c) }()
	var searched time.Time
	for pause(ctx, fillEvery) == nil {
		search := time.Since(searched) > searchEvery
		if !search && !f.any() {
			continue
		}
		err := f.round(ctx, &c, search)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.log.Warn("give rows their genes", "error", err)
			_ = pause(ctx, searchEvery)
			continue
		}
		if search {
			searched = time.Now()
		}
	}
}

func hangUp(c *link.Conn) {
	if c != nil {
		_ = c.Close() // nothing is under way there
	}
}

// round fills the rows that are known, and with search those that have no gene, whoever knows of them.
func (f *filler) round(ctx context.Context, c **link.Conn, search bool) (err error) {
	if *c == nil || (*c).Broken() != nil {
		hangUp(*c)
		if *c, err = link.Dial(ctx, f.source); err != nil {
			return err
		}
	}
	if err := f.begin(ctx); err != nil {
		return err
	}
	defer f.end()
	return f.fillSeen(ctx, *c, search)
}

// begin waits for the turn, which end gives back.
func (f *filler) begin(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *filler) end() { <-f.turn }

// saw takes in a row that a stream has brought, and whose owner is of a gene.
func (f *filler) saw(t *table.Table, r table.Row, g gene.Gene) {
	if string(r[t.Declared.GeneColumn]) == strconv.Itoa(int(g)) {
		return
	}
	f.note(t.Name, t.KeyOf(r))
}

func (f *filler) note(of catalog.TableName, keys ...table.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[of] == nil {
		f.seen[of] = map[string]table.Key{}
	}
	for _, k := range keys {
		if f.tooMany = f.tooMany || len(f.seen[of]) >= mostUnfilled; !f.tooMany {
			f.seen[of][string(k.Encode())] = k
		}
	}
}

func (f *filler) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(f.seen)), func(some map[string]table.Key) bool { return len(some) > 0 })
}

// take gives the rows of a table that are known, and forgets them.
func (f *filler) take(of catalog.TableName) []table.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := slices.Collect(maps.Values(f.seen[of]))
	delete(f.seen, of)
	return keys
}

// fillSeen fills what it knows of; what is locked by somebody stays known. An error leaves all of it known.
func (f *filler) fillSeen(ctx context.Context, c *link.Conn, search bool) error {
	for _, t := range f.tables {
		keys := f.take(t.Name)
		if search {
			without, err := f.without(ctx, c, t)
			if err != nil {
				f.note(t.Name, keys...)
				return err
			}
			keys = append(keys, without...)
		}
		left, err := f.fill(ctx, c, t, keys, nil)
		f.note(t.Name, left...)
		if err != nil {
			return err
		}
	}
	return nil
}

// without are rows that have no gene at all.
func (f *filler) without(ctx context.Context, c *link.Conn, t *table.Table) (keys []table.Key, err error) {
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s = -1 LIMIT %d", t.KeyList(), t.SQL(), link.Name(catalog.OwnGene), walkedAtOnce)
	err = c.Each(ctx, query, func(values [][]byte) error { keys = append(keys, values); return nil })
	if err != nil {
		return nil, fmt.Errorf("look for rows of table %s without a gene: %w", t.Name, err)
	}
	return keys, nil
}

// all looks at every row and fills those that have not the gene of their owner. What it had forgotten is found so.
func (f *filler) all(ctx context.Context, rest func(context.Context) error) error {
	c, err := link.Dial(ctx, f.source)
	if err != nil {
		return err
	}
	defer c.Close()
	f.mu.Lock()
	f.tooMany = false
	f.mu.Unlock()
	for _, t := range f.tables {
		if err := f.walk(ctx, c, t, rest); err != nil {
			return fmt.Errorf("give the rows of table %s their genes: %w", t.Name, err)
		}
	}
	return nil
}

func (f *filler) walk(ctx context.Context, c *link.Conn, t *table.Table, rest func(context.Context) error) error {
	where, width := "", len(t.Key.Columns)
	for {
		var last table.Key
		var wrong []table.Key
		rows := 0
		err := c.Each(ctx, f.asked(t)+where+t.Order()+table.Limit(walkedAtOnce), func(values [][]byte) error {
			rows++
			last = values[:width:width]
			if _, fill := f.lacks(t, values); fill {
				wrong = append(wrong, last)
			}
			return nil
		})
		if err != nil {
			return err
		}
		left, err := f.fill(ctx, c, t, wrong, rest)
		f.note(t.Name, left...)
		if err != nil || rows < walkedAtOnce {
			return err
		}
		where = " WHERE " + t.Beyond(last)
	}
}

// asked begins a question for rows' keys, their owners and genes.
func (f *filler) asked(t *table.Table) string {
	return fmt.Sprintf("SELECT %s,%s,%s FROM %s", t.KeyList(), link.Name(t.Declared.Root().Column.Name), link.Name(catalog.OwnGene), t.SQL())
}

// lacks is the gene of an answer's owner, and whether the row does not have it. An owner of no gene is told by who looks at the
// rows' keys.
func (f *filler) lacks(t *table.Table, answer [][]byte) (g gene.Gene, fill bool) {
	n := len(t.Key.Columns)
	g, err := ownerGene(t.Declared, answer[n:])
	return g, err == nil && string(answer[n+1]) != strconv.Itoa(int(g))
}

// fill gives rows their genes, and gives the keys of those that it could not: somebody has them locked. It waits for no row, so
// that nobody's transaction is ended because of it.
func (f *filler) fill(ctx context.Context, c *link.Conn, t *table.Table, keys []table.Key, rest func(context.Context) error) (left []table.Key, err error) {
	for len(keys) > 0 {
		some := keys[:min(len(keys), filledAtOnce)]
		locked, err := f.fillSome(ctx, c, t, some)
		if err != nil {
			return append(left, keys...), err
		}
		left, keys = append(left, locked...), keys[len(some):]
		if rest != nil {
			if err := rest(ctx); err != nil {
				return append(left, keys...), err
			}
		}
	}
	return left, nil
}

// fillSome is one transaction.
func (f *filler) fillSome(ctx context.Context, c *link.Conn, t *table.Table, keys []table.Key) (locked []table.Key, err error) {
	alone := f.isHolder(c)
	if !alone {
		if _, err := c.Exec(ctx, "START TRANSACTION"); err != nil {
			return nil, err
		}
	}
	locked, update, err := f.assignments(ctx, c, t, keys)
	if err == nil && update != "" {
		_, err = c.Exec(ctx, update)
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if c.Broken() == nil && !alone {
		if _, ended := c.Exec(ctx, end); err == nil {
			err = ended
		}
	}
	if link.Transient(err) {
		return keys, nil
	}
	return locked, err
}

// holds tells of a connection that has the tables locked, for as long as it lasts.
func (f *filler) holds(c *link.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holder = c
}

func (f *filler) isHolder(c *link.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holder == c
}

// assignments locks those of the rows that nobody else has locked, and gives the statement that gives them their genes; empty:
// they have them.
func (f *filler) assignments(ctx context.Context, c *link.Conn, t *table.Table, keys []table.Key) (locked []table.Key, update string, err error) {
	which := string(t.AppendKeyIn([]byte(" WHERE "), keys))
	got := map[string]bool{}
	var wrong []table.Key
	var cases []byte
	err = c.Each(ctx, f.asked(t)+which+" FOR UPDATE SKIP LOCKED", func(values [][]byte) error {
		k := table.Key(values[:len(t.Key.Columns):len(t.Key.Columns)])
		got[string(k.Encode())] = true
		if g, fill := f.lacks(t, values); fill {
			wrong = append(wrong, k)
			cases = fmt.Appendf(t.AppendKeyIn(append(cases, " WHEN "...), []table.Key{k}), " THEN %d", g)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if len(got) < len(keys) { // some are locked, or not there any more
		err = c.Each(ctx, f.asked(t)+which, func(values [][]byte) error {
			k := table.Key(values[:len(t.Key.Columns):len(t.Key.Columns)])
			if !got[string(k.Encode())] {
				locked = append(locked, k)
			}
			return nil
		})
	}
	if err != nil || wrong == nil {
		return locked, "", err
	}
	own := link.Name(catalog.OwnGene)
	set := own + " = CASE" + string(cases) + " ELSE " + own + " END"
	for i := range t.Columns {
		if t.Columns[i].OnUpdate { // it is no change of the application's
			set += ", " + link.Name(t.Columns[i].Name) + " = " + link.Name(t.Columns[i].Name)
		}
	}
	return locked, "UPDATE " + t.SQL() + " SET " + set + string(t.AppendKeyIn([]byte(" WHERE "), wrong)), nil
}

// tidy fills what it knows of, and what it has forgotten.
func (f *filler) tidy(ctx context.Context, c *link.Conn) error {
	if f.forgot() {
		return f.all(ctx, nil)
	}
	if err := f.begin(ctx); err != nil {
		return err
	}
	defer f.end()
	return f.fillSeen(ctx, c, true)
}

// settle has every row have its gene that the streams have told of by now, and returns only then: for who holds all writes.
func (f *filler) settle(ctx context.Context, c *link.Conn) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	defer f.end()
	for {
		if f.forgot() {
			return fmt.Errorf("more than %d rows were written whose genes are not in column %s yet", mostUnfilled, catalog.OwnGene)
		}
		if err := f.fillSeen(ctx, c, true); err != nil {
			return err
		}
		lacking, err := f.lacking(ctx, c)
		if err != nil || lacking == "" {
			return err
		}
		if pause(ctx, fillEvery/10) != nil {
			return fmt.Errorf("%s: it is locked by another session: %w", lacking, ctx.Err())
		}
	}
}

func (f *filler) forgot() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tooMany
}

// lacking names a row that has not its gene; empty: there is none.
func (f *filler) lacking(ctx context.Context, c *link.Conn) (string, error) {
	for _, t := range f.tables {
		keys, err := f.without(ctx, c, t)
		if err != nil {
			return "", err
		}
		f.mu.Lock()
		keys = slices.AppendSeq(keys, maps.Values(f.seen[t.Name]))
		f.mu.Unlock()
		if len(keys) > 0 {
			return fmt.Sprintf("table %s: row %q has no gene in column %s yet", t.Name, keys[0], catalog.OwnGene), nil
		}
	}
	return "", nil
}

// ownerGene is the gene of a row by the value of its owner, which is the first of the keys'.
func ownerGene(t *catalog.Table, values [][]byte) (gene.Gene, error) {
	root := t.Root()
	g, err := root.Stored(audit.ValueOf(root.Column, values[0]))
	if err != nil {
		return 0, fmt.Errorf("its %s %w", root.Column.Name, err)
	}
	return g, nil
}
