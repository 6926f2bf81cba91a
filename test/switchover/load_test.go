package switchover

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/test/servers"
)

// load writes through both proxies until it is stopped: single statements, and
// transactions over both shards. It counts what was acknowledged, and reads now and then what it wrote.
type load struct {
	stop   context.CancelFunc
	tasks  sync.WaitGroup
	acked  atomic.Int64
	failed atomic.Int64 // writes
	blind  atomic.Int64 // reads that failed
	reads  atomic.Int64
	mu     sync.Mutex
	first  error
}

const (
	writers = 6
	// readEvery is how many rounds of a writer there are between two reads.
	readEvery = 4
)

func (s *stand) load(t *testing.T) *load {
	t.Helper()
	l := &load{}
	ctx, cancel := context.WithCancel(t.Context())
	l.stop = cancel
	for i := range writers {
		w := &writer{load: l, db: s.db(t, i%len(s.proxies), "app"), rows: [2]int64{int64(100 + i), int64(1100 + i)}}
		if _, err := w.db.Exec("INSERT INTO counter VALUES (?, 0), (?, 0) ON DUPLICATE KEY UPDATE n = n", w.rows[0], w.rows[1]); err != nil {
			t.Fatal(err)
		}
		for i, uid := range w.rows {
			if err := w.db.QueryRow("SELECT n FROM counter WHERE uid = ?", uid).Scan(&w.told[i]); err != nil {
				t.Fatal(err)
			}
		}
		l.tasks.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond) // some 300 writes a second together: servers are to be waited for, not the machine
			defer pace.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				w.round(t, n%readEvery == 0)
				<-pace.C
			}
			w.leave()
		})
	}
	t.Cleanup(l.end)
	return l
}

// writer is one session at a time, which alone writes to its rows.
type writer struct {
	*load
	db   *sql.DB
	conn *sql.Conn // that reads go by which must see what it wrote; nil: none yet
	rows [2]int64
	told [2]int64 // what was acknowledged of each row, with what was there before
}

// round writes to one row, to both in a transaction, and may read them.
func (w *writer) round(t *testing.T, reads bool) {
	if err := w.login(); err != nil {
		w.note(&w.blind, err)
		return
	}
	if err := w.write(); err != nil {
		w.note(&w.failed, err)
		w.leave()
		return
	}
	if !reads {
		return
	}
	if err := w.read(t); err != nil {
		w.note(&w.blind, err)
		w.leave()
	}
}

// login is a new session, where the last one has failed.
func (w *writer) login() error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.db.Conn(context.Background())
	if err != nil {
		return err
	}
	w.conn = conn
	if _, err := conn.ExecContext(context.Background(), "SET locus_read = 'session'"); err != nil {
		w.leave()
		return err
	}
	return nil
}

func (w *writer) leave() {
	if w.conn != nil {
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
		w.conn = nil
	}
}

func (w *writer) write() error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "UPDATE counter SET n = n + 1 WHERE uid = ?", w.rows[0]); err != nil {
		return err
	}
	w.acked.Add(1)
	w.told[0]++
	tx, err := w.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, row := range w.rows {
		if _, err := tx.Exec("UPDATE counter SET n = n + 1 WHERE uid = ?", row); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	w.acked.Add(2)
	w.told[0]++
	w.told[1]++
	return nil
}

// read holds what the session reads, mostly of replicas, to what it was told to be written.
func (w *writer) read(t *testing.T) error {
	for i, uid := range w.rows {
		var n int64
		if err := w.conn.QueryRowContext(context.Background(), "SELECT n FROM counter WHERE uid = ?", uid).Scan(&n); err != nil {
			return err
		}
		w.reads.Add(1)
		if n < w.told[i] {
			t.Errorf("a session reads %d of row %d, and was told of %d", n, uid, w.told[i])
		}
	}
	return nil
}

func (l *load) note(count *atomic.Int64, err error) {
	count.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.first = err
	}
}

func (l *load) end() { l.stop(); l.tasks.Wait() }

// more waits until so many more writes were acknowledged.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	want := l.acked.Load() + n
	servers.Eventually(t, "writes go on", func() error {
		if l.acked.Load() < want {
			l.mu.Lock()
			defer l.mu.Unlock()
			return errors.Join(errors.New("they don't"), l.first)
		}
		return nil
	})
}
