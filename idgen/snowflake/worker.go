package snowflake

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// KV is a key-value store with compare-and-swap, such as etcd; see segment.KV.
type KV interface {
	Get(ctx context.Context, key string) (value []byte, revision int64, err error)
	CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (ok bool, err error)
}

const (
	ahead   = 4000            // ms by which the file is ahead of the clock
	refresh = 3 * time.Second // interval at which both are advanced
	dialing = 2 * time.Second // time limit of one claim
	waiting = 5000            // ms for which a number that this process had before is waited for
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the worker's number was given back")

// MinClaim and MaxClaim limit how far a claim extends into the future.
const (
	MinClaim = 10 * time.Second
	MaxClaim = 7 * 24 * time.Hour
)

// Options are the settings of a Worker. Zero fields get the default in parentheses.
type Options struct {
	// First and Last are the range of the worker numbers that may be claimed, both included (0 to 1023, if both are 0).
	// Other programs that make numbers with the same epoch have other workers.
	First, Last int
	// One is set if First and Last are one number, also 0.
	One bool
	// Claim is how far a claim extends into the future (24h). For this time a process generates numbers without the store, and
	// the worker number stays claimed if the process crashes and loses its directory.
	Claim time.Duration
	// Address, if not empty, is the process's host:port. Then the store alone remembers the number, and a start needs the
	// store: Close gives the claim up, and the next process of the address prefers the number that the last one had. A
	// copied directory has no effect. Without an address the directory remembers the number, and Close keeps the claim.
	Address string
	Now     func() time.Time // (time.Now)
}

func (o Options) withDefaults() (Options, error) {
	if o.First == 0 && o.Last == 0 && !o.One {
		o.Last = maxWorker
	}
	o.Claim = cmp.Or(o.Claim, 24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.First < 0 || o.Last > maxWorker || o.First > o.Last {
		return o, fmt.Errorf("workers %d to %d: use 0 to %d", o.First, o.Last, maxWorker)
	}
	if o.Claim < MinClaim || o.Claim > MaxClaim {
		return o, fmt.Errorf("claims of %s: use %s to %s", o.Claim, MinClaim, MaxClaim)
	}
	return o, nil
}

// claim is the value of a worker's key.
type claim struct {
	Owner string `json:"owner"`
	Until uint64 `json:"until"`        // ms since the epoch
	By    string `json:"by,omitempty"` // the address of the process, if it reuses a number by it
}

// file is the state that the next process with this directory must know.
type file struct {
	Owner  string `json:"owner"`
	Worker int    `json:"worker"`
	Until  uint64 `json:"until"` // bound of the claim
	Used   uint64 `json:"used"`  // times up to here may be used up
}

// Worker is a process's claim to a worker number. The owner calls Close.
type Worker struct {
	kv      KV
	path    string
	options Options
	now     func() time.Time
	lock    *os.File

	mu     sync.Mutex // guards the fields below; held while the file is written
	held   file
	closed bool

	cancel context.CancelFunc
	ended  chan struct{}
}

var _ Bound = (*Worker)(nil)

// Open claims a worker number: the one in the directory, which doesn't require the store, or else the address's last one,
// or else a free one.
func Open(ctx context.Context, kv KV, dir string, o Options) (*Generator, *Worker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, nil, fmt.Errorf("snowflake: %w", err)
	}
	w := &Worker{kv: kv, path: filepath.Join(dir, "snowflake.json"), options: o, now: o.Now, ended: make(chan struct{})}
	if w.lock, err = only(filepath.Join(dir, "snowflake.lock")); err != nil {
		return nil, nil, fmt.Errorf("snowflake: %w", err)
	}
	g, err := w.open(ctx)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("snowflake: %w", err), w.lock.Close())
	}
	running, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.run(running)
	return g, w, nil
}

func (w *Worker) open(ctx context.Context) (*Generator, error) {
	if err := w.load(); err != nil {
		return nil, err
	}
	now, err := (&Generator{now: w.now}).millis()
	if err != nil {
		return nil, err
	}
	if w.held.Used > now+ahead+1000 {
		return nil, fmt.Errorf("%w: it is %d ms behind what was reported before the restart: correct the clock", ErrClock, w.held.Used-now)
	}
	if w.held.Until <= now || !w.options.allows(w.held.Worker) { // there is no claim, or it was not renewed in time, or it is for another range
		if err := w.claim(ctx); err != nil {
			return nil, err
		}
		if now, err = (&Generator{now: w.now}).millis(); err != nil {
			return nil, err
		}
	}
	if behind := w.held.Used; now <= behind {
		if err := pause(ctx, time.Duration(behind-now+1)*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for what was used before the restart: %w", err)
		}
	}
	return New(w.held.Worker, w.held.Used, w, w.now)
}

func (o Options) allows(worker int) bool { return o.First <= worker && worker <= o.Last }

// claim takes a number whose bound is in the past, preferably one that this process had before, for whose bound it waits a
// few seconds.
func (w *Worker) claim(ctx context.Context) error {
	before, err := w.before(ctx)
	if err != nil {
		return fmt.Errorf("claim a worker's number: %w", err)
	}
	for _, worker := range before {
		if ok, err := w.try(ctx, worker, waiting); ok || err != nil {
			return err
		}
	}
	for worker := w.options.First; worker <= w.options.Last; worker++ {
		if ok, err := w.try(ctx, worker, 0); ok || err != nil {
			return err
		}
	}
	return w.noneFree(ctx)
}

// before returns the numbers that this process had before, by its directory or its address, or the only one that it may
// have. Numbers are claimed from the first one on, so the claims end at the first number that has none.
func (w *Worker) before(ctx context.Context) (workers []int, err error) {
	if w.options.First == w.options.Last {
		return []int{w.options.First}, nil
	}
	if w.options.Address == "" {
		if w.held.Until != 0 && w.options.allows(w.held.Worker) {
			workers = append(workers, w.held.Worker)
		}
		return workers, nil
	}
	for worker := w.options.First; worker <= w.options.Last; worker++ {
		c, revision, err := w.claimOf(ctx, worker)
		if err != nil || revision == 0 {
			return workers, err
		}
		if c.By == w.options.Address {
			workers = append(workers, worker)
		}
	}
	return workers, nil
}

// try claims a number if its bound is in the past, or passes within wait ms. If it returns false without an
// error, the number belongs to another process.
func (w *Worker) try(ctx context.Context, worker int, wait uint64) (bool, error) {
	key := claimKey(worker)
	before, revision, err := w.claimOf(ctx, worker)
	if err != nil {
		return false, fmt.Errorf("claim a worker's number: %w", err)
	}
	if revision != 0 && before.Until == 0 {
		return false, nil // can't be interpreted, so no process gets this number
	}
	now, err := (&Generator{now: w.now}).millis()
	if err != nil {
		return false, err
	}
	if before.Until >= now {
		if before.Until-now > wait {
			return false, nil
		}
		if err := pause(ctx, time.Duration(before.Until-now+1)*time.Millisecond); err != nil {
			return false, fmt.Errorf("wait until worker %d is free: %w", worker, err)
		}
		return w.try(ctx, worker, 0)
	}
	next := file{Owner: rand.Text(), Worker: worker, Until: now + w.term(), Used: max(w.held.Used, before.Until)}
	text, _ := json.Marshal(claim{next.Owner, next.Until, w.options.Address})
	ok, err := w.kv.CompareAndSwap(ctx, key, revision, text)
	if err != nil {
		return false, fmt.Errorf("claim worker %d: %w: the claim may be there, and is free in %s", worker, err, w.options.Claim)
	}
	if !ok {
		return false, nil
	}
	w.held = next
	return true, w.save()
}

// claimOf returns the claim of a number. Until is 0 if it can't be interpreted.
func (w *Worker) claimOf(ctx context.Context, worker int) (c claim, revision int64, err error) {
	value, revision, err := w.kv.Get(ctx, claimKey(worker))
	if err != nil || revision == 0 || json.Unmarshal(value, &c) != nil {
		return claim{}, revision, err
	}
	return c, revision, nil
}

// noneFree returns the error for a range whose numbers are all claimed.
func (w *Worker) noneFree(ctx context.Context) error {
	first, last := w.options.First, w.options.Last
	if first != last {
		return fmt.Errorf("no worker's number is free: %d to %d are claimed, by processes that run or whose claims have not ended", first, last)
	}
	c, _, err := w.claimOf(ctx, first)
	if err != nil {
		return fmt.Errorf("worker %d is claimed: %w", first, err)
	}
	return fmt.Errorf("worker %d is claimed until %s by %s: if that process has ended, wait until then, or give this one another number",
		first, time.UnixMilli(int64(c.Until)+epoch).UTC().Format(time.RFC3339), cmp.Or(c.By, "another process"))
}

// term returns how many ms a claim extends into the future.
func (w *Worker) term() uint64 { return uint64(w.options.Claim.Milliseconds()) }

func claimKey(worker int) string { return fmt.Sprintf("workers/%04d", worker) }

// Raise implements Bound with the file, and if necessary the claim.
func (w *Worker) Raise(ctx context.Context, ms uint64) (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed { // another process may have the directory, or the number
		return 0, ErrClosed
	}
	if ms+ahead > w.held.Until {
		if err := w.extend(ctx, ms); err != nil && ms > w.held.Until {
			return 0, err
		}
	}
	before := w.held.Used
	w.held.Used = max(before, min(ms+ahead, w.held.Until))
	if err := w.save(); err != nil {
		w.held.Used = before
		return 0, err
	}
	return w.held.Used, nil
}

// extend advances the claim. The caller holds mu.
func (w *Worker) extend(ctx context.Context, ms uint64) error {
	ctx, cancel := context.WithTimeout(ctx, dialing)
	defer cancel()
	key := claimKey(w.held.Worker)
	value, revision, err := w.kv.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("move the claim to worker %d on: %w", w.held.Worker, err)
	}
	var now claim
	if err := json.Unmarshal(value, &now); err != nil || now.Owner != w.held.Owner {
		return fmt.Errorf("worker %d is another process's now: start again", w.held.Worker)
	}
	until := max(now.Until, ms+w.term())
	text, _ := json.Marshal(claim{w.held.Owner, until, w.options.Address})
	ok, err := w.kv.CompareAndSwap(ctx, key, revision, text)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("move the claim to worker %d on: not done", w.held.Worker), err)
	}
	w.held.Until = until
	return nil
}

// run advances both bounds before they are reached.
func (w *Worker) run(ctx context.Context) {
	defer close(w.ended)
	for pause(ctx, refresh) == nil {
		now, err := (&Generator{now: w.now}).millis()
		if err != nil {
			continue
		}
		w.mu.Lock()
		if now < w.held.Until && w.held.Until-now < w.term()-min(60_000, w.term()/4) {
			_ = w.extend(ctx, now) // retried; Raise reports it when it matters
		}
		w.mu.Unlock()
	}
}

func (w *Worker) load() error {
	text, err := os.ReadFile(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &w.held)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: remove it, and another worker's number is claimed", w.path, err)
	}
	if w.options.Address != "" { // only the store has the worker number of an address
		w.held = file{Used: w.held.Used}
	}
	return nil
}

// save replaces the file durably.
func (w *Worker) save() error {
	text, err := json.Marshal(w.held)
	if err != nil {
		return err
	}
	next := w.path + ".new"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", next, err)
	}
	if err := os.Rename(next, w.path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(w.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Worker returns the worker number.
func (w *Worker) Worker() int { return w.held.Worker }

// Close ends the background work and releases the directory. The claim remains, and the next start with the directory
// continues with it. If the process has an address, the claim is given up instead: it ends with the times that may be used
// up, a few seconds ahead.
func (w *Worker) Close() error {
	w.cancel()
	<-w.ended
	return errors.Join(w.giveUp(), w.lock.Close())
}

// giveUp ends the claim at the last time that may be used up. The file is written first: the claim of another process may
// begin as soon as the store has the end of this one. If the store does not answer, the claim ends by itself.
func (w *Worker) giveUp() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.options.Address == "" || w.held.Until <= w.held.Used {
		return nil
	}
	w.held.Until = max(w.held.Used, 1) // 0 would be no claim that can be read
	if err := w.save(); err != nil {
		return fmt.Errorf("snowflake: give worker %d up: %w: its claim ends by itself", w.held.Worker, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialing)
	defer cancel()
	now, revision, err := w.claimOf(ctx, w.held.Worker)
	if err != nil || now.Owner != w.held.Owner {
		return nil
	}
	text, _ := json.Marshal(claim{w.held.Owner, w.held.Until, w.options.Address})
	_, _ = w.kv.CompareAndSwap(ctx, claimKey(w.held.Worker), revision, text)
	return nil
}

func only(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w: another process has this directory", path, err), f.Close())
	}
	return f, nil
}
