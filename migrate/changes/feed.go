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

// Feed gives the changes of the watched tables from a position on. It is one
// goroutine's; Wake and Trouble alone are for others.
type Feed struct {
	server  link.Server
	flavor  link.Flavor
	watched map[string]*table.Table // by schema.table
	woken   chan struct{}           // of capacity 1
	trouble atomic.Pointer[error]

	reader *reader       // nil while there is no connection
	seen   mysql.GTIDSet // of what was given out
	// given is how many groups of rows were given out of the transaction of, which
	// follows seen.
	given int
	of    string
	mark  Mark        // before it, all was given out
	tx    transaction // that the log is in the middle of
	held  branches    // prepared, and not decided yet

	ready []pending // read and not given out yet, all of one transaction
	final error
	tries int
}

// transaction is the one that the log is in the middle of.
type transaction struct {
	gtid string
	// before is the set at its beginning, if it is a branch: where its rows can be
	// read again.
	before mysql.GTIDSet
	open   bool // a COMMIT ends it; otherwise its one statement does
	old    bool // it was given out before; only what it prepares is of interest
	groups int  // of rows, so far
	echo   bool // it is a move's own
	branch string
	rows   []Event // of a branch
	bytes  int
}

// pending is an event that was read, and what its being given out means.
type pending struct {
	Event
	groups int    // given, with this one
	gtid   string // of its transaction
	branch string // that this decides
	mark   uint64
}

// Open makes a feed of tables from a position on. It connects with the first Next.
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

// Wake makes a Next that waits return an empty event, or the next one to wait.
func (f *Feed) Wake() { signal(f.woken) }

// Trouble is why the feed has no connection, or nil.
func (f *Feed) Trouble() error {
	if err := f.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// Idle tells whether the next Next may have to wait.
func (f *Feed) Idle() bool { return len(f.ready) == 0 && (f.reader == nil || f.reader.queue.empty()) }

// Position is after what Next gave out last.
func (f *Feed) Position() Position {
	seen := f.seen.String()
	from := seen
	if r := f.held.oldest(); r != nil {
		from = r.String()
	}
	return Position{flavor: f.flavor, seen: seen, given: f.given, of: f.of, from: from}
}

// Mark is how far the log is read: all before it was given out.
func (f *Feed) Mark() Mark { return f.mark }

// Next waits for the next event. A lost connection is renewed, at ever longer
// intervals, for as long as ctx lasts; Trouble tells of it. An error that is not
// ctx's is final: SchemaError, RowsError, LostError, ErrPurged, or a log that can't be read.
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

// out gives the first event that is ready; the position moves with it.
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

// failed judges an error of the connection.
func (f *Feed) failed(err error) {
	if f.final = final(err); f.final == nil {
		f.trouble.Store(&err)
		f.disconnect()
	}
}

// take gives the log's next event, nil if the feed was woken.
func (f *Feed) take(ctx context.Context) (*replication.BinlogEvent, error) {
	if f.reader == nil {
		if err := f.connect(ctx); err != nil {
			return nil, err
		}
	}
	return f.reader.queue.take(ctx, f.woken)
}

// connect begins to read where the position is. What is held is read again.
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

// greet asks who the server is, and what it lacks of what was given out: it need not be the one of before.
func (f *Feed) greet(ctx context.Context, c *link.Conn) (server, missing string, err error) {
	if server, err = serverID(ctx, c); err == nil {
		missing, err = Lost(ctx, c, f.Position())
	}
	return server, missing, err
}

// pause keeps a server that is away from being asked without end.
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

// gtidOf is as MySQL writes it.
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

// begin is a transaction's GTID.
func (f *Feed) begin(gtid string) error {
	one, err := parseSet(f.flavor, gtid)
	if err != nil {
		return err
	}
	f.tx = transaction{gtid: gtid, old: !f.seen.IsEmpty() && f.seen.Contain(one)}
	if !f.tx.old {
		f.held.resume = nil // all that was prepared before is held again
	}
	return nil
}

// beginBranch tells that the transaction is a branch of an XA transaction.
func (f *Feed) beginBranch(xid string) {
	f.tx.open, f.tx.branch = true, xid
	f.tx.before = f.held.resume
	if !f.tx.old {
		f.tx.before = f.seen.Clone()
	}
}

// end is a transaction's end; it may decide a branch.
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

// give makes changes ready, unless they were given out before. Where another server has another transaction next, it is
// given whole, and so is the one that was begun: rows that are written twice in one order end as they would once.
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
