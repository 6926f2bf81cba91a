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

// filler sets the gene column that locus has added to an import's tables, on the shard that has the tables.
// Before the import, clients write these tables without the column. The filler's writes are in the binary log
// like any other change, so the streams carry them on. Its methods may be called concurrently.
type filler struct {
	source link.Server
	tables []*table.Table // the tables that have the column
	log    *slog.Logger

	turn chan struct{} // of capacity 1; only the holder of its token fills rows

	mu      sync.Mutex // guards the following fields
	seen    map[catalog.TableName]map[string]table.Key
	tooMany bool       // some rows were dropped
	holder  *link.Conn // the connection that has the tables locked; a transaction would release the locks

	// Only the runner's goroutine starts and stops the filler.
	cancel  context.CancelFunc
	running sync.WaitGroup
}

const (
	filledAtOnce = 200     // rows of one transaction
	walkedAtOnce = 5000    // rows that one statement reads
	mostUnfilled = 100_000 // remembered rows
	fillEvery    = 50 * time.Millisecond
	// searchEvery is the interval between searches for rows that the streams have not reported.
	searchEvery = time.Second
)

// newFiller returns a filler for the tables that have the column, or nil if none has it.
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

// keep starts or stops the filler, as wanted.
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

// run fills rows that clients write. It logs errors and retries, because a step waits for rows without a gene.
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
		_ = c.Close() // no statement is running on the connection
	}
}

// round fills the reported rows. With search it also finds and fills rows without a gene that no stream has
// reported.
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

// begin waits for the token, which end returns.
func (f *filler) begin(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *filler) end() { <-f.turn }

// saw records a row that a stream has read, if its column does not have the gene of its owner.
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

// take removes and returns the reported rows of a table.
func (f *filler) take(of catalog.TableName) []table.Key {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := slices.Collect(maps.Values(f.seen[of]))
	delete(f.seen, of)
	return keys
}

// fillSeen fills the reported rows. Rows that are locked stay in the list. After an error, all of them stay.
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

// without returns rows that have no gene.
func (f *filler) without(ctx context.Context, c *link.Conn, t *table.Table) (keys []table.Key, err error) {
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s = -1 LIMIT %d", t.KeyList(), t.SQL(), link.Name(catalog.OwnGene), walkedAtOnce)
	err = c.Each(ctx, query, func(values [][]byte) error { keys = append(keys, values); return nil })
	if err != nil {
		return nil, fmt.Errorf("look for rows of table %s without a gene: %w", t.Name, err)
	}
	return keys, nil
}

// all reads every row and sets the gene where it is not the gene of the owner. It also finds rows that were dropped from the
// list.
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

// asked returns the start of a query for the keys, owners and genes of rows.
func (f *filler) asked(t *table.Table) string {
	return fmt.Sprintf("SELECT %s,%s,%s FROM %s", t.KeyList(), link.Name(t.Declared.Root().Column.Name), link.Name(catalog.OwnGene), t.SQL())
}

// lacks returns the gene of a row's owner, and reports whether the row has another one. Owners without a gene
// are reported by the check of the keys.
func (f *filler) lacks(t *table.Table, answer [][]byte) (g gene.Gene, fill bool) {
	n := len(t.Key.Columns)
	g, err := ownerGene(t.Declared, answer[n:])
	return g, err == nil && string(answer[n+1]) != strconv.Itoa(int(g))
}

// fill sets the genes of rows, and returns the keys of rows that other transactions have locked. It never waits
// for a row lock, so it causes no deadlock for a client.
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

// fillSome fills rows in one transaction.
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

// holds records the connection that has the tables locked.
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

// assignments locks the rows that are not locked by others, and returns the statement that sets their genes, or
// "" if they have them.
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
	if len(got) < len(keys) { // some are locked or deleted
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
		if t.Columns[i].OnUpdate { // the application did not change the row, so this column keeps its value
			set += ", " + link.Name(t.Columns[i].Name) + " = " + link.Name(t.Columns[i].Name)
		}
	}
	return locked, "UPDATE " + t.SQL() + " SET " + set + string(t.AppendKeyIn([]byte(" WHERE "), wrong)), nil
}

// tidy fills the reported rows. If some were dropped, it reads all rows.
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

// settle fills every row that the streams have reported, and returns only when all of them have their gene. The
// caller must have blocked all writers.
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

// lacking returns the name of a row without its gene, or "" if there is none.
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

// ownerGene returns the gene of a row's owner, which is the first of the key values.
func ownerGene(t *catalog.Table, values [][]byte) (gene.Gene, error) {
	root := t.Root()
	g, err := root.Stored(audit.ValueOf(root.Column, values[0]))
	if err != nil {
		return 0, fmt.Errorf("its %s %w", root.Column.Name, err)
	}
	return g, nil
}
