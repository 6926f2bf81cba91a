package applier

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// worker writes one part's rows, one transaction after the other.
type worker struct {
	applier *Applier
	number  int

	// Owned by the dispatcher.
	start    changes.Position // applied before Run
	resuming bool             // the stream may not have reached start
	pending  batch
	noted    string // the position of the last batch

	queue    chan item
	inFlight atomic.Int64 // sent and not finished

	// Owned by the worker.
	conn    *link.Conn
	loads   bool                  // the target takes LOAD DATA LOCAL
	unclean map[*table.Table]bool // tables that LOAD DATA did not load unchanged, and that are no longer loaded with it
	batch   uint64                // number of the last transaction
	buf     []byte                // buffer for statements
}

// item is one unit of work.
type item struct {
	batch   *batch
	landing *landing
	passed  *countdown
}

// bytes returns how much of the applier's space it takes.
func (i item) bytes() int {
	if i.batch == nil {
		return 0 // the copier bounds the memory of chunks
	}
	return i.batch.bytes
}

// queued is how many transactions may wait for a worker.
const queued = 2

func newWorker(a *Applier, number int, batch uint64, start changes.Position) *worker {
	return &worker{applier: a, number: number, batch: batch, start: start, resuming: true, queue: make(chan item, queued)}
}

func (w *worker) advance(position string, changes, conflicts int) checkpoint.Advance {
	return checkpoint.Advance{
		Job: w.applier.config.Job, Worker: w.number, Epoch: w.applier.epoch, Batch: w.batch,
		Position: position, MoreChanges: changes, MoreConflicts: conflicts,
	}
}

// flush sends the pending changes, up to a position of the stream.
func (w *worker) flush(ctx context.Context, p changes.Position) error {
	if w.resuming && w.start.Covers(p) { // it is further already
		return nil
	}
	b := w.pending
	if b.position = p.Encode(); len(b.ops) == 0 && b.position == w.noted {
		return nil
	}
	w.resuming, w.pending, w.noted = false, batch{}, b.position
	w.applier.judged.split = true
	return w.send(ctx, item{batch: &b})
}

// reached returns a position whose preceding changes were all sent to the worker. It is recorded with the next item. The
// position next to the rows thus shows which transactions they include. It is empty if the worker has already recorded a later
// position.
func (w *worker) reached(p changes.Position) string {
	if w.resuming && w.start.Covers(p) {
		return ""
	}
	w.resuming, w.noted = false, p.Encode()
	return w.noted
}

func (w *worker) send(ctx context.Context, i item) error {
	if err := w.applier.space.take(ctx, i.bytes()); err != nil {
		return err
	}
	w.inFlight.Add(1)
	select {
	case w.queue <- i:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run works until ctx ends or a row can't be written.
func (w *worker) run(ctx context.Context, finished func()) error {
	defer w.disconnect()
	for {
		select {
		case i := <-w.queue:
			err := w.do(ctx, i)
			w.applier.space.give(i.bytes())
			w.inFlight.Add(-1)
			finished()
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *worker) do(ctx context.Context, i item) error {
	switch {
	case i.passed != nil:
		i.passed.pass()
		return nil
	case i.landing != nil:
		err := w.transact(ctx, &chunkWriter{worker: w, chunk: i.landing.chunk, position: i.landing.position})
		if err == nil {
			w.applier.progress.rows.Add(int64(len(i.landing.chunk.Rows)))
			w.applier.progress.bytes.Add(int64(i.landing.chunk.Bytes))
		}
		i.landing.done <- err
		return err
	}
	return w.transact(ctx, &batchWriter{worker: w, batch: i.batch})
}

func (w *worker) disconnect() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// writer writes the rows of one transaction. Each attempt starts from the beginning.
type writer interface {
	// write performs one attempt. careful increases after a row was in the way.
	write(ctx context.Context, careful int) error
	committed()
}

// tries bounds the attempts of one transaction.
const tries = 20

// transact writes a transaction exactly once. It retries after a known rollback, and after a lost connection if the
// checkpoint shows that the transaction was not committed.
func (w *worker) transact(ctx context.Context, wr writer) error {
	w.batch++
	careful := quick
	var err error
	for try := range tries {
		if err = pause(ctx, try-careful); err != nil {
			return err
		}
		if done, ask := w.connect(ctx); ask != nil {
			err = ask
			if errors.Is(err, checkpoint.ErrFenced) || errors.Is(err, errSetBack) || ctx.Err() != nil {
				return err
			}
			continue
		} else if done {
			err = nil
			break
		}
		if err = w.once(ctx, wr, careful); err == nil {
			break
		}
		switch {
		case (link.Duplicate(err) || errors.Is(err, errUnclean)) && careful < mostCareful:
			careful++
		case w.conn.Broken() != nil && ctx.Err() == nil && !errors.As(err, new(stopped)):
		case link.Transient(err):
		default:
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("after %d tries: %w", tries, err)
	}
	wr.committed()
	return w.stopAt(Acknowledge)
}

// errSetBack means that the stream must continue from the target's current state.
var errSetBack = errors.New("the target has lost rows that were written there: it was restored to an earlier state, or is another server")

// connect ensures a connection. After a lost connection it reports whether the transaction was nevertheless committed.
func (w *worker) connect(ctx context.Context) (done bool, err error) {
	if w.conn != nil && w.conn.Broken() == nil {
		return false, nil
	}
	w.disconnect()
	conn, err := link.Dial(ctx, w.applier.config.Target)
	if err != nil {
		return false, err
	}
	last, err := checkpoint.Batch(ctx, conn, w.applier.config.Job, w.number, w.applier.epoch)
	if err == nil && last+1 < w.batch {
		err = errSetBack
	}
	if err == nil {
		w.loads, err = takesFiles(ctx, conn)
	}
	if err == nil { // transactions begin by themselves then, without a round trip
		_, err = conn.Exec(ctx, "SET SESSION autocommit = 0")
	}
	if err != nil { // the next attempt must first find out the outcome of the last transaction
		_ = conn.Close()
		return false, err
	}
	w.conn = conn
	return last == w.batch, nil
}

func takesFiles(ctx context.Context, c *link.Conn) (bool, error) {
	rows, err := c.Query(ctx, "SELECT @@GLOBAL.local_infile")
	return err == nil && string(rows[0][0]) == "1", err
}

// once makes one attempt.
func (w *worker) once(ctx context.Context, wr writer, careful int) error {
	err := w.stopAt(Begun)
	if err == nil {
		err = wr.write(ctx, careful)
	}
	if err == nil {
		err = w.stopAt(Noted)
	}
	if err != nil {
		if w.conn.Broken() == nil {
			if _, rollback := w.conn.Exec(ctx, "ROLLBACK"); rollback != nil {
				_ = w.conn.Close()
			}
		}
		return err
	}
	if _, err := w.conn.Exec(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return w.stopAt(Committed)
}

// stopped is a crash simulated by a test.
type stopped struct{ error }

func (s stopped) Unwrap() error { return s.error }

// stopAt ends the connection like a crash, if a test requests it.
func (w *worker) stopAt(p Point) error {
	if err := w.applier.config.stop(p); err != nil {
		if w.conn != nil {
			_ = w.conn.Close()
		}
		return stopped{err}
	}
	return nil
}

func pause(ctx context.Context, try int) error {
	if try <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(min(10*time.Millisecond<<min(try, 10), 3*time.Second))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
