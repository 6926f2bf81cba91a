package changes

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
	"github.com/google/uuid"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Feed returns the changes of the watched tables from a position on. It is for one goroutine; only Wake and Trouble are
// safe for concurrent use.
type Feed struct {
	server  link.Server
	flavor  link.Flavor
	watched map[string]*table.Table // by schema.table
	woken   chan struct{}           // capacity 1
	trouble atomic.Pointer[error]

	reader *reader       // nil while there is no connection
	seen   mysql.GTIDSet // GTIDs of the returned transactions
	// given is the number of row groups that were returned of the transaction of, which follows seen.
	given int
	of    string
	mark  Mark        // everything before it was returned
	tx    transaction // the log's current transaction
	held  branches    // prepared and undecided

	ready []pending // read but not yet returned, all of one transaction
	final error
	tries int
}

// transaction is the log's current transaction.
type transaction struct {
	gtid string
	// before is the set at its start if it is a branch, from where its rows can be read again.
	before mysql.GTIDSet
	open   bool // a COMMIT ends it; otherwise its one statement does
	old    bool // it was already returned; only its prepared branches matter
	groups int  // row groups so far
	echo   bool // written by a move
	branch string
	rows   []Event // of a branch
	bytes  int
}

// pending is an event that was read, and the effect of returning it.
type pending struct {
	Event
	groups int    // returned, including this one
	gtid   string // of its transaction
	branch string // that it decides
	mark   uint64
}

// Open makes a feed of tables from a position on. It connects at the first Next.
func Open(s link.Server, flavor link.Flavor, watched []*table.Table, from Position) (*Feed, error) {
	if from.flavor != flavor {
		return nil, fmt.Errorf("the position is of %q and the server is %s", from.flavor, flavor)
	}
	f := &Feed{server: s, flavor: flavor, watched: map[string]*table.Table{}, given: from.given, of: from.of, woken: make(chan struct{}, 1)}
	for _, t := range watched {
		f.watched[t.Name.String()] = t
	}
	var err error
	if f.seen, err = parseSet(flavor, from.seen); err != nil {
		return nil, err
	}
	if from.from != from.seen {
		f.held.resume, err = parseSet(flavor, from.from)
	}
	return f, err
}

// Close ends the connection.
func (f *Feed) Close() {
	f.disconnect()
	f.final = ErrClosed
}

func (f *Feed) disconnect() {
	if f.reader != nil {
		f.reader.close()
		f.reader = nil
	}
}

// Wake makes the waiting or next Next return an empty event.
func (f *Feed) Wake() { signal(f.woken) }

// Trouble returns why the feed has no connection, or nil.
func (f *Feed) Trouble() error {
	if err := f.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// Idle reports whether the next Next may have to wait.
func (f *Feed) Idle() bool { return len(f.ready) == 0 && (f.reader == nil || f.reader.queue.empty()) }

// Position returns the position after the last event that Next returned.
func (f *Feed) Position() Position {
	seen := f.seen.String()
	from := seen
	if r := f.held.oldest(); r != nil {
		from = r.String()
	}
	return Position{flavor: f.flavor, seen: seen, given: f.given, of: f.of, from: from}
}

// Mark returns how far the log was read. Everything before it was returned.
func (f *Feed) Mark() Mark { return f.mark }

// Next waits for the next event. It renews a lost connection at increasing intervals for as long as ctx lasts; see
// Trouble. Any error except ctx's is final: SchemaError, RowsError, LostError, ErrPurged, or a log that can't be read.
func (f *Feed) Next(ctx context.Context) (Event, error) {
	for f.final == nil {
		if len(f.ready) > 0 {
			return f.out(), nil
		}
		e, err := f.take(ctx)
		switch {
		case ctx.Err() != nil:
			return Event{}, ctx.Err()
		case err != nil:
			f.failed(err)
			continue
		case e == nil:
			return Event{}, nil
		}
		f.tries = 0
		f.trouble.Store(nil)
		if f.final = f.read(e); f.final != nil {
			break
		}
		if _, idle := e.Event.(*replication.HeartbeatEvent); idle {
			return Event{}, nil
		}
	}
	return Event{}, f.final
}

// out returns the first ready event and advances the position.
func (f *Feed) out() Event {
	p := f.ready[0]
	f.ready = f.ready[1:]
	if !p.Committed {
		f.given, f.of = p.groups, p.gtid
		return p.Event
	}
	if err := f.seen.Update(p.gtid); err != nil {
		f.final = fmt.Errorf("GTID %s: %w", p.gtid, err)
	}
	f.given, f.of = 0, ""
	f.mark.at = max(f.mark.at, p.mark)
	f.held.decide(p.branch)
	return p.Event
}

// failed classifies an error of the connection.
func (f *Feed) failed(err error) {
	if f.final = final(err); f.final == nil {
		f.trouble.Store(&err)
		f.disconnect()
	}
}

// take returns the log's next event, or nil if the feed was woken.
func (f *Feed) take(ctx context.Context) (*replication.BinlogEvent, error) {
	if f.reader == nil {
		if err := f.connect(ctx); err != nil {
			return nil, err
		}
	}
	return f.reader.queue.take(ctx, f.woken)
}

// connect starts to read at the position. Held branches are read again.
func (f *Feed) connect(ctx context.Context) error {
	if err := pause(ctx, f.tries); err != nil {
		return err
	}
	f.tries++
	c, err := link.Dial(ctx, f.server)
	if err != nil {
		return err
	}
	server, missing, err := f.greet(ctx, c)
	_ = c.Close()
	switch {
	case err != nil:
		return err
	case missing != "":
		return &LostError{f.server.Addr, missing}
	}
	from := f.seen
	resume := f.held.oldest()
	if resume != nil {
		from = resume
	}
	if f.reader, err = open(f.server, f.flavor, from, f.decode); err != nil {
		return err
	}
	f.held = branches{resume: resume}
	f.tx = transaction{}
	f.mark = Mark{server: server}
	return nil
}

// greet identifies the server, and finds which of the returned transactions it lacks. It need not be the same server as
// before.
func (f *Feed) greet(ctx context.Context, c *link.Conn) (server, missing string, err error) {
	if server, err = serverID(ctx, c); err == nil {
		missing, err = Lost(ctx, c, f.Position())
	}
	return server, missing, err
}

// pause limits how often an unavailable server is tried.
func pause(ctx context.Context, tries int) error {
	if tries == 0 {
		return ctx.Err()
	}
	return rest(ctx, min(50*time.Millisecond<<min(tries, 10), 5*time.Second))
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *Feed) beginMySQL(e *replication.GTIDEvent) error {
	gtid, err := gtidOf(e)
	if err != nil {
		return err
	}
	return f.begin(gtid)
}

// gtidOf formats a GTID as MySQL does.
func gtidOf(e *replication.GTIDEvent) (string, error) {
	id, err := uuid.FromBytes(e.SID)
	if err != nil {
		return "", err
	}
	gtid := id.String()
	if tag := e.Tag.String(); tag != "" {
		gtid += ":" + tag
	}
	return gtid + ":" + strconv.FormatInt(e.GNO, 10), nil
}

// begin handles a transaction's GTID.
func (f *Feed) begin(gtid string) error {
	one, err := parseSet(f.flavor, gtid)
	if err != nil {
		return err
	}
	f.tx = transaction{gtid: gtid, old: !f.seen.IsEmpty() && f.seen.Contain(one)}
	if !f.tx.old {
		f.held.resume = nil // everything prepared before is held again
	}
	return nil
}

// beginBranch records that the transaction is a branch of an XA transaction.
func (f *Feed) beginBranch(xid string) {
	f.tx.open, f.tx.branch = true, xid
	f.tx.before = f.held.resume
	if !f.tx.old {
		f.tx.before = f.seen.Clone()
	}
}

// end handles a transaction's end, which may decide a branch.
func (f *Feed) end(h *replication.EventHeader, decided string) error {
	tx := f.tx
	f.tx = transaction{}
	if tx.gtid == "" || tx.old {
		f.mark.at = max(f.mark.at, uint64(h.LogPos))
		f.held.decide(decided)
		return nil
	}
	f.ready = append(f.ready, pending{
		Event: Event{Committed: true}, gtid: tx.gtid, branch: decided, mark: uint64(h.LogPos),
	})
	return nil
}

// give makes changes ready, unless they were returned before. If another server has another transaction at this
// place, give returns it whole, like the transaction that was begun. Writing rows twice in the same order gives
// the same result as writing them once.
func (f *Feed) give(e Event) {
	f.tx.groups++
	before := f.given
	if f.of != "" && f.of != f.tx.gtid {
		before = 0
	}
	if !f.tx.old && f.tx.groups > before {
		f.ready = append(f.ready, pending{Event: e, groups: f.tx.groups, gtid: f.tx.gtid})
	}
}
