package snowflake

import (
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
	term    = 24 * 60 * 60 * 1000 // ms that a claim lies ahead
	ahead   = 4000                // ms that the file lies ahead
	refresh = 3 * time.Second     // interval at which both are advanced
	dialing = 2 * time.Second     // time limit of one claim
)

// claim is the value of a worker's key.
type claim struct {
	Owner string `json:"owner"`
	Until uint64 `json:"until"` // ms since the epoch
}

// file is what the next process with this directory must know.
type file struct {
	Owner  string `json:"owner"`
	Worker int    `json:"worker"`
	Until  uint64 `json:"until"` // bound of the claim
	Used   uint64 `json:"used"`  // times up to here may be used up
}

// Worker is a process's claim to a worker number. The owner calls Close.
type Worker struct {
	kv   KV
	path string
	now  func() time.Time
	lock *os.File

	mu   sync.Mutex // guards state; held while it is written
	held file

	cancel context.CancelFunc
	ended  chan struct{}
}

var _ Bound = (*Worker)(nil)

// Open claims a worker number: the one in the directory, which doesn't require the store, or else a free one. workers
// is the number of workers, at most 1,024.
func Open(ctx context.Context, kv KV, dir string, workers int, now func() time.Time) (*Generator, *Worker, error) {
	if workers < 1 || workers > maxWorker+1 {
		return nil, nil, fmt.Errorf("snowflake: %d workers: there are 1 to %d", workers, maxWorker+1)
	}
	w := &Worker{kv: kv, path: filepath.Join(dir, "snowflake.json"), now: now, ended: make(chan struct{})}
	var err error
	if w.lock, err = only(filepath.Join(dir, "snowflake.lock")); err != nil {
		return nil, nil, fmt.Errorf("snowflake: %w", err)
	}
	g, err := w.open(ctx, workers)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("snowflake: %w", err), w.lock.Close())
	}
	running, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go w.run(running)
	return g, w, nil
}

func (w *Worker) open(ctx context.Context, workers int) (*Generator, error) {
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
	if w.held.Until <= now { // none yet, or not advanced for a day
		if err := w.claim(ctx, now, workers); err != nil {
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

// claim takes a number whose bound is in the past, preferably its own.
func (w *Worker) claim(ctx context.Context, now uint64, workers int) error {
	order := make([]int, 0, workers)
	if w.held.Until != 0 {
		order = append(order, w.held.Worker)
	}
	for i := range workers {
		order = append(order, i)
	}
	for _, worker := range order {
		key := claimKey(worker)
		value, revision, err := w.kv.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("claim a worker's number: %w", err)
		}
		var before claim
		if revision != 0 {
			if err := json.Unmarshal(value, &before); err != nil || before.Until == 0 {
				continue // can't be interpreted, so nobody gets this number
			}
		}
		if before.Until >= now {
			continue
		}
		next := file{Owner: rand.Text(), Worker: worker, Until: now + term, Used: max(w.held.Used, before.Until)}
		text, _ := json.Marshal(claim{next.Owner, next.Until})
		ok, err := w.kv.CompareAndSwap(ctx, key, revision, text)
		if err != nil {
			return fmt.Errorf("claim worker %d: %w: the claim may be there, and is free in a day", worker, err)
		}
		if ok {
			w.held = next
			return w.save()
		}
	}
	return fmt.Errorf("no worker's number is free: all %d are claimed", workers)
}

func claimKey(worker int) string { return fmt.Sprintf("workers/%04d", worker) }

// Raise implements Bound with the file, and if necessary the claim.
func (w *Worker) Raise(ctx context.Context, ms uint64) (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	until := max(now.Until, ms+term)
	text, _ := json.Marshal(claim{w.held.Owner, until})
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
		if now < w.held.Until && w.held.Until-now < term-60_000 {
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

// Close ends the background work and releases the directory. The claim remains, and the next start continues with it.
func (w *Worker) Close() error {
	w.cancel()
	<-w.ended
	return w.lock.Close()
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
