package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Source is where the state is declared, as keys and values.
type Source interface {
	// Read is all values as they are together at a revision. It sees every
	// change that Changes has told of.
	Read(ctx context.Context) (values map[string][]byte, revision int64, err error)
	// Changes tells of changes after a revision, by a revision that Read will at
	// least see. It may leave out all but the last, and may fall silent without
	// notice. The channel is closed after the context has ended, and not before
	// unless the source has ended for good.
	Changes(ctx context.Context, after int64) <-chan int64
}

// Config is what a Live is made of. S is the state: immutable, or at least safe
// to read from many goroutines.
type Config[S any] struct {
	// Source's keys must be those that Build reads and no others: a key that
	// changes without end, or that Acknowledge writes, would be read without end.
	Source Source
	// Build makes a state of the values, or says why they are none; it is tried
	// again later, so the reason may lie elsewhere. The values are not to be
	// changed.
	Build func(ctx context.Context, values map[string][]byte, revision int64) (*S, error)
	// Acknowledge tells others that the state is obeyed. It may first wait until
	// nothing older is under way, as long as its context lasts. An error has it
	// called again; a newer state takes the place of one that isn't acknowledged
	// yet, and ends its context. Nil: nobody is told.
	Acknowledge func(ctx context.Context, state *S, revision int64) error
	// Save keeps the values of a state that came into force, for [Live.Restore]
	// when the source is away at the next start. Nil: they aren't kept.
	Save func(values map[string][]byte, revision int64) error

	Refresh      time.Duration // between full reads without any change; default 30 s
	ReadTimeout  time.Duration // of one read; default 5 s
	BuildTimeout time.Duration // of one Build; default 30 s
	Log          *slog.Logger  // default: none
}

// Live holds the state in force. Load and Status are safe for concurrent use;
// Start, Restore and Run are called one after another.
type Live[S any] struct {
	config  Config[S]
	current atomic.Pointer[S]

	// Of the last read, and the loop's alone.
	values   map[string][]byte
	revision int64
	refused  error // what Build said of values

	publish chan published[S] // to the acknowledgements; holds the newest
	again   chan struct{}     // full: Rebuild was asked for
	soon    chan struct{}     // full: Refresh was asked for
	seen    atomic.Int64      // the newest revision that the state in force is true to

	mu      sync.Mutex
	status  Status
	changed chan struct{}      // closed when another state comes into force
	overdue context.CancelFunc // of an acknowledgement of an older one
}

type published[S any] struct {
	state    *S
	revision int64
}

// New is a Live without a state.
func New[S any](c Config[S]) *Live[S] {
	orDefault(&c.Refresh, 30*time.Second)
	orDefault(&c.ReadTimeout, 5*time.Second)
	orDefault(&c.BuildTimeout, 30*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Live[S]{
		config: c, publish: make(chan published[S], 1), again: make(chan struct{}, 1), soon: make(chan struct{}, 1),
		changed: make(chan struct{}), overdue: func() {},
	}
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Load is the state in force: nil before the first. A statement loads it once
// and keeps to it.
func (l *Live[S]) Load() *S { return l.current.Load() }

// Changed is closed when another state comes into force than Load gives after
// it was called. Safe for concurrent use.
func (l *Live[S]) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Start reads the first state. On an error there is none: the source is away,
// or what it holds is refused.
func (l *Live[S]) Start(ctx context.Context) error {
	return l.read(ctx)
}

// Restore puts values that were saved into force, for a start without the
// source. What the source holds later must not be older.
func (l *Live[S]) Restore(ctx context.Context, values map[string][]byte, revision int64) error {
	return l.take(ctx, values, revision)
}

// Rebuild has Run build the state anew, of the same values if they haven't
// changed: for when something else has changed that Build looks at. It doesn't
// wait. Safe for concurrent use.
func (l *Live[S]) Rebuild() {
	select {
	case l.again <- struct{}{}:
	default: // it is asked for already
	}
}

// Refresh has Run read the source again, without any change. It doesn't wait.
// Safe for concurrent use.
func (l *Live[S]) Refresh() {
	select {
	case l.soon <- struct{}{}:
	default: // it is asked for already
	}
}

// Seen is the newest revision of the source as of which the state in force is
// what it holds; 0: none yet. Safe for concurrent use.
func (l *Live[S]) Seen() int64 { return l.seen.Load() }

// read reads the source and takes what it holds.
func (l *Live[S]) read(ctx context.Context) error {
	readCtx, cancel := context.WithTimeout(ctx, l.config.ReadTimeout)
	defer cancel()
	values, revision, err := l.config.Source.Read(readCtx)
	if err != nil {
		if ctx.Err() == nil {
			l.noteAway(err)
		}
		return err
	}
	l.noteRead()
	return l.take(ctx, values, revision)
}

// take makes the values the state in force, unless they are it already or are
// refused.
func (l *Live[S]) take(ctx context.Context, values map[string][]byte, revision int64) error {
	if revision < l.revision {
		err := fmt.Errorf("revision %d is older than %d, which was read before: "+
			"if the source was restored from a backup, restart to accept it", revision, l.revision)
		l.noteRefused(err, revision)
		return err
	}
	if l.values != nil && l.refused == nil && maps.EqualFunc(values, l.values, bytes.Equal) {
		l.revision = revision
		l.seen.Store(revision)
		l.noteUnchanged()
		return nil
	}
	l.values, l.revision = values, revision
	state, err := l.build(ctx, values, revision)
	l.refused = err
	if err != nil {
		l.noteRefused(err, revision)
		return err
	}
	l.put(published[S]{state, revision})
	return nil
}

func (l *Live[S]) build(ctx context.Context, values map[string][]byte, revision int64) (*S, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.BuildTimeout)
	defer cancel()
	state, err := l.config.Build(ctx, values, revision)
	if err == nil && state == nil {
		return nil, errors.New("no state was built")
	}
	return state, err
}

// put brings a state into force.
func (l *Live[S]) put(p published[S]) {
	l.current.Store(p.state)
	l.mu.Lock()
	close(l.changed)
	l.changed = make(chan struct{})
	l.overdue()
	l.mu.Unlock()
	l.seen.Store(p.revision)
	l.notePublished(p.revision)
	select { // the newest alone is acknowledged
	case <-l.publish:
	default:
	}
	l.publish <- p // there is room: only the loop sends
	if l.config.Save == nil {
		return
	}
	if err := l.config.Save(l.values, p.revision); err != nil {
		l.config.Log.Warn("state not saved for a start without its source",
			slog.Int64("revision", p.revision), slog.Any("error", err))
	}
}
