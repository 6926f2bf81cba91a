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

// Source holds the declared state as keys and values.
type Source interface {
	// Read returns a consistent view of all values at a revision: at since or later, or, if since is 0, with every change made
	// before the call. Since is a revision that Changes has reported.
	Read(ctx context.Context, since int64) (values map[string][]byte, revision int64, err error)
	// Changes reports changes after a revision. Each is a revision that Read will see at least. It may omit all but the
	// last change, and may stall without notice. The channel is closed after the context has ended, or if the source
	// has ended for good.
	Changes(ctx context.Context, after int64) <-chan int64
}

// Config configures a Live. S is the state. It is immutable, or at least safe for concurrent reads.
type Config[S any] struct {
	// Source must return only keys that Build reads. A key that changes constantly, or that Acknowledge writes, would
	// cause endless reads.
	Source Source
	// Build makes a state from the values, or returns why they are invalid. It is retried later, so the reason may be
	// external. It must not modify the values.
	Build func(ctx context.Context, values map[string][]byte, revision int64) (*S, error)
	// Acknowledge reports that the state is in force. It may first wait, for as long as its context lasts, until
	// nothing older is running. It is retried after an error. A newer state replaces an unacknowledged one and ends its
	// context. If Acknowledge is nil, nothing is reported.
	Acknowledge func(ctx context.Context, state *S, revision int64) error
	// Save stores the values of a state that came into force, for [Live.Restore] if the source is unavailable at the
	// next start. Run calls it a moment later, see savePause. If Save is nil, they aren't stored.
	Save func(values map[string][]byte, revision int64) error

	Refresh      time.Duration // interval between full reads without a change; default 30 s
	ReadTimeout  time.Duration // time limit of one read; default 5 s
	BuildTimeout time.Duration // time limit of one Build; default 30 s
	Log          *slog.Logger  // default: none
}

// Live holds the state in force. Load and Status are safe for concurrent use. Start, Restore and Run must not run
// concurrently.
type Live[S any] struct {
	config  Config[S]
	current atomic.Pointer[S]

	// Results of the last read; used by the loop only.
	values   map[string][]byte
	revision int64
	refused  error // error of Build for values

	publish chan published[S] // to the acknowledging goroutine; contains the newest state
	unsaved chan saving       // to the saving goroutine; contains the newest state
	again   chan struct{}     // full if Rebuild was requested
	soon    chan struct{}     // full if Refresh was requested
	seen    atomic.Int64      // the newest revision that the state in force reflects

	mu        sync.Mutex
	confirm   uint64        // number of calls of Confirm
	confirmed uint64        // the last call that is answered
	answered  chan struct{} // closed when confirmed increases
	status    Status
	changed   chan struct{}      // closed when another state comes into force
	overdue   context.CancelFunc // cancels the acknowledgement of an older state
}

type published[S any] struct {
	state    *S
	revision int64
}

// saving is a state that is to be saved.
type saving struct {
	values   map[string][]byte
	revision int64
}

// New returns a Live without a state.
func New[S any](c Config[S]) *Live[S] {
	orDefault(&c.Refresh, 30*time.Second)
	orDefault(&c.ReadTimeout, 5*time.Second)
	orDefault(&c.BuildTimeout, 30*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Live[S]{
		config: c, publish: make(chan published[S], 1), unsaved: make(chan saving, 1), again: make(chan struct{}, 1), soon: make(chan struct{}, 1),
		answered: make(chan struct{}), changed: make(chan struct{}), overdue: func() {},
	}
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Load returns the state in force, or nil before the first. A statement loads it once and uses that one throughout.
func (l *Live[S]) Load() *S { return l.current.Load() }

// Changed returns a channel that is closed when a state other than the one that Load returns afterwards comes into
// force. It is safe for concurrent use.
func (l *Live[S]) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Start reads the first state. After an error there is no state, because the source is unavailable or its contents are
// refused.
func (l *Live[S]) Start(ctx context.Context) error {
	return l.read(ctx, 0)
}

// Restore puts saved values into force, to start without the source. The source's later values must not be older.
func (l *Live[S]) Restore(ctx context.Context, values map[string][]byte, revision int64) error {
	return l.take(ctx, values, revision)
}

// Rebuild makes Run build the state again, from the same values if they haven't changed. It is for changes of other
// inputs of Build. It doesn't block and is safe for concurrent use.
func (l *Live[S]) Rebuild() {
	select {
	case l.again <- struct{}{}:
	default: // already requested
	}
}

// Refresh makes Run read the source again. It doesn't block and is safe for concurrent use.
func (l *Live[S]) Refresh() {
	select {
	case l.soon <- struct{}{}:
	default: // already requested
	}
}

// Confirm waits until the state in force reflects everything that the source held when Confirm was called. It doesn't build a state
// again if it does already. Run must be running. It is safe for concurrent use.
func (l *Live[S]) Confirm(ctx context.Context) error {
	l.mu.Lock()
	l.confirm++
	number := l.confirm
	l.mu.Unlock()
	l.Refresh()
	for {
		l.mu.Lock()
		done, answered := l.confirmed >= number, l.answered
		l.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// asked returns the number of the last call of Confirm.
func (l *Live[S]) asked() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.confirm
}

// answer answers the calls of Confirm up to a number.
func (l *Live[S]) answer(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number > l.confirmed {
		l.confirmed = number
		close(l.answered)
		l.answered = make(chan struct{})
	}
}

// Seen returns the newest revision of the source that the state in force reflects, or 0 if there is none. It is safe
// for concurrent use.
func (l *Live[S]) Seen() int64 { return l.seen.Load() }

// read reads the source, at since or later, and takes its values.
func (l *Live[S]) read(ctx context.Context, since int64) error {
	readCtx, cancel := context.WithTimeout(ctx, l.config.ReadTimeout)
	defer cancel()
	asked := l.asked()
	values, revision, err := l.config.Source.Read(readCtx, since)
	if err != nil {
		if ctx.Err() == nil {
			l.noteAway(err)
		}
		return err
	}
	l.noteRead()
	if err := l.take(ctx, values, revision); err != nil {
		return err
	}
	if since == 0 { // otherwise it may lack changes that were made after since
		l.answer(asked)
	}
	return nil
}

// take puts the values into force, unless they are already or are refused.
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
	replace(l.publish, p) // only the newest is acknowledged
	replace(l.unsaved, saving{l.values, p.revision})
}

// replace sends v to a channel with room for one value, and drops a value that was not received yet. The caller
// must be the only sender.
func replace[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
