package events

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"locus/config/etcd"
)

// Limits of a recorder.
const (
	maxQueued  = 1024 // events that wait for etcd
	maxBatch   = 64   // events of one transaction
	maxBurst   = 2000
	perHour    = 500
	writing    = 5 * time.Second
	flushing   = 2 * time.Second // time limit for the events that are queued when the process ends
	pruneAfter = 64              // events
	pruneEvery = time.Hour
	firstPause = time.Second
	maxPause   = 30 * time.Second
	quiet      = time.Minute // between two lines in the log
)

// Recorder writes events whose effects are not in etcd. Its methods are safe for concurrent use.
type Recorder struct {
	kv  *etcd.KV
	log *slog.Logger

	queue            chan etcd.Write
	written, dropped atomic.Uint64
	budget           budget
}

// NewRecorder returns a recorder that writes nothing before its Run.
func NewRecorder(kv *etcd.KV, log *slog.Logger) *Recorder {
	return &Recorder{kv: kv, log: log, queue: make(chan etcd.Write, maxQueued)}
}

// Record writes an event soon. It never waits. It drops the event if too many wait for etcd, or if the process has recorded
// more than [maxBurst] in a short time: one application that defines tables all day long must not displace all other events.
func (r *Recorder) Record(e Event) {
	if !r.budget.take(time.Now()) {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- Put(e):
	default:
		r.dropped.Add(1)
	}
}

// budget allows maxBurst events at once, and perHour events for a long time. The zero value is ready.
type budget struct {
	mu   sync.Mutex // guards the fields below
	used float64
	at   time.Time
}

func (b *budget) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-now.Sub(b.at).Hours()*perHour)
	b.at = now
	if b.used+1 > maxBurst {
		return false
	}
	b.used++
	return true
}

// Counts contains the numbers of events of a recorder.
type Counts struct{ Written, Dropped uint64 }

// Counts returns the numbers until now.
func (r *Recorder) Counts() Counts { return Counts{r.written.Load(), r.dropped.Load()} }

// Run writes recorded events until ctx ends, and then those that wait, within two seconds. It also prunes the timeline.
func (r *Recorder) Run(ctx context.Context) error {
	w := &writer{Recorder: r}
	prune := time.NewTicker(pruneEvery)
	defer prune.Stop()
	w.prune(ctx)
	for {
		select {
		case <-ctx.Done():
			w.flush(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-prune.C:
			w.prune(ctx)
		case first := <-r.queue:
			w.take(first)
			w.write(ctx)
		}
	}
}

// writer is a Run. One goroutine owns its fields.
type writer struct {
	*Recorder
	waiting  []etcd.Write // events that were taken from the queue, and are not known to be written
	unpruned int          // events since the last Prune
	logged   time.Time
	lost     uint64 // dropped at the last line in the log
}

// take adds the queued events to waiting.
func (w *writer) take(first ...etcd.Write) {
	w.waiting = append(w.waiting, first...)
	for len(w.waiting) < maxBatch {
		select {
		case one := <-w.queue:
			w.waiting = append(w.waiting, one)
		default:
			return
		}
	}
}

// write tries until the waiting events are written or ctx ends. Writing them twice does no harm: they have their keys.
func (w *writer) write(ctx context.Context) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := w.once(ctx, writing)
		w.complain(err, time.Now())
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
	if w.unpruned >= pruneAfter {
		w.prune(ctx)
	}
}

func (w *writer) once(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err := w.kv.Commit(ctx, nil, w.waiting...); err != nil {
		return err
	}
	w.written.Add(uint64(len(w.waiting)))
	w.unpruned += len(w.waiting)
	w.waiting = w.waiting[:0]
	return nil
}

// flush writes the queued events at the end of the process.
func (w *writer) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushing)
	defer cancel()
	for w.take(); len(w.waiting) > 0; w.take() {
		if err := w.once(ctx, flushing); err != nil {
			lost := len(w.waiting) + len(w.queue)
			w.dropped.Add(uint64(lost))
			w.log.Warn("events were not written to the timeline: etcd did not take them before the process ended", slog.Int("events", lost), slog.Any("error", err))
			return
		}
	}
}

func (w *writer) prune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writing)
	defer cancel()
	w.unpruned = 0
	if err := Prune(ctx, w.kv, time.Now()); err != nil && !errors.Is(err, context.Canceled) {
		w.log.Warn("old events were not removed from the timeline; this is tried again within an hour", slog.Any("error", err))
	}
}

// complain logs failures and dropped events, at most once a minute.
func (w *writer) complain(err error, now time.Time) {
	lost := w.dropped.Load()
	if err == nil && lost == w.lost || now.Sub(w.logged) < quiet {
		return
	}
	w.logged, w.lost = now, lost
	w.log.Warn("events wait for etcd, or were dropped from the timeline", slog.Int("waiting", len(w.waiting)+len(w.queue)), slog.Uint64("dropped", lost), slog.Any("error", err))
}
