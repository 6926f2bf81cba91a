package switchover

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// load writes through both proxies until it is stopped: single statements, and transactions over both shards.
// It counts the acknowledged writes, and reads its own writes from time to time.
type load struct {
	stop   context.CancelFunc
	going  context.Context // until it is stopped
	tasks  sync.WaitGroup
	acked  atomic.Int64
	failed atomic.Int64 // writes
	blind  atomic.Int64 // reads that failed
	reads  atomic.Int64
	beside atomic.Int64 // writes of a shard that nothing happens to
	all    []*writer
	mu     sync.Mutex
	first  error
}

const (
	writers = 6
	// readEvery is the number of a writer's rounds between two reads.
	readEvery = 4
)

func (s *stand) load(t *testing.T) *load {
	t.Helper()
	l := &load{}
	ctx, cancel := context.WithCancel(t.Context())
	l.stop, l.going = cancel, ctx
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
		w.before, w.apart = w.told, w.told[0]-w.told[1]
		l.all = append(l.all, w)
		l.tasks.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond) // some 300 writes a second in all, so that the test waits for the servers and not for the machine
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
	db     *sql.DB
	conn   *sql.Conn // the connection for reads that must see its own writes; nil: none yet
	rows   [2]int64
	told   [2]int64 // the acknowledged value of each row, including the value before the load
	before [2]int64 // the values before the load
	// single and both count the writes whose effect is unknown: those of the first row, and those of both rows
	// in one transaction.
	single, both int64
	apart        int64 // by how much the acknowledged value of the first row exceeds that of the second
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

// login opens a new session if the last one has failed.
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
		w.single++
		return err
	}
	w.acked.Add(1)
	w.told[0]++
	w.apart++
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
		w.both++
		return err
	}
	w.acked.Add(2)
	w.told[0]++
	w.told[1]++
	return nil
}

// read compares what the session reads, mostly from replicas, with its acknowledged writes.
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

// wantRows compares each row with what its only writer was told: no acknowledged write is missing, none was
// done twice, and no transaction over both rows had an effect on one of them only.
func (l *load) wantRows(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, w := range l.all {
		var n [2]int64
		for i, uid := range w.rows {
			if err := db.QueryRow("SELECT n FROM counter WHERE uid = ?", uid).Scan(&n[i]); err != nil {
				t.Fatal(err)
			}
		}
		w.wantIn(t, n)
	}
}

// wantIn compares the values of its two rows with the acknowledged writes.
func (w *writer) wantIn(t *testing.T, n [2]int64) {
	t.Helper()
	most := [2]int64{w.told[0] + w.single + w.both, w.told[1] + w.both}
	for i, uid := range w.rows {
		if n[i] < w.told[i] || n[i] > most[i] {
			t.Errorf("row %d is %d, at least %d were acknowledged, and at most %d tried", uid, n[i], w.told[i], most[i])
		}
	}
	if apart := n[0] - n[1]; apart < w.apart || apart > w.apart+w.single {
		t.Errorf("rows %d and %d are %d and %d: transactions took effect in one of them (the first is ahead by %d to %d)", w.rows[0], w.rows[1], n[0], n[1], w.apart, w.apart+w.single)
	}
}

// aside writes to a row of s1 alone, through each proxy, as long as the load lasts: nothing that happens to s0 harms it.
func (s *stand) aside(t *testing.T, l *load) {
	t.Helper()
	uid := int64(5000)
	for i := range s.proxies {
		db := s.db(t, i, "app")
		db.SetMaxOpenConns(1)
		at := s.servers[3].DB(t, schema)
		for there := 0; there == 0; {
			uid++
			if _, err := db.Exec("INSERT INTO counter VALUES (?, 0) ON DUPLICATE KEY UPDATE n = n", uid); err != nil {
				t.Fatal(err)
			}
			if err := at.QueryRow("SELECT COUNT(*) FROM counter WHERE uid = ?", uid).Scan(&there); err != nil {
				t.Fatal(err)
			}
		}
		own := uid
		l.tasks.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for l.going.Err() == nil {
				if _, err := db.Exec("UPDATE counter SET n = n + 1 WHERE uid = ?", own); err != nil {
					t.Errorf("a write of a shard that nothing happens to: %v", err)
				} else {
					l.beside.Add(1)
				}
				<-pace.C
			}
		})
	}
}

// wantDecided waits until no server has a branch of a transaction that is prepared and not decided.
func (s *stand) wantDecided(t *testing.T) {
	t.Helper()
	servers.Eventually(t, "what was prepared is decided", func() error {
		for _, at := range s.servers {
			db := at.DB(t, "")
			rows, err := db.QueryContext(t.Context(), "XA RECOVER")
			if err != nil {
				return err
			}
			there := rows.Next()
			_, _ = rows.Close(), db.Close()
			if there {
				return fmt.Errorf("%s has prepared branches", at.Addr())
			}
		}
		return nil
	})
}

// wantReplicasRead wants that sessions' reads came from replicas too.
func (s *stand) wantReplicasRead(t *testing.T) {
	t.Helper()
	n := uint64(0)
	for _, p := range s.proxies {
		n += p.Status().Counts.OnReplicas.Load()
	}
	t.Logf("replicas answered %d reads", n)
	if n == 0 {
		t.Error("no replica answered a read")
	}
}
