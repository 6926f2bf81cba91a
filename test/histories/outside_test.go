package histories

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/control/declared"
	"locus/control/fitting"
	"locus/control/ops"
	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
	"locus/router/catalog"
	harness "locus/test/cluster"
)

// person is the row of one on a server outside of the cluster.
type person struct{ uid, value int64 }

// stranger writes to the server outside, before and after its table is imported: it alone writes the rows that it has made.
type stranger struct {
	db      *sql.DB
	end     context.CancelFunc
	running sync.WaitGroup
	settled atomic.Bool // it inserts no more rows, because the cluster generates the numbers now

	ids []int64 // IDs of the rows that it has inserted

	mu   sync.Mutex // guards the fields below
	rows map[int64]person
	done int
	err  error
}

func (s *stranger) run(ctx context.Context) {
	random := rand.New(rand.NewPCG(seed(), 99))
	for n := int64(1); ctx.Err() == nil; n++ {
		if err := s.act(random, n); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return
		}
		pause(ctx, time.Duration(random.Int64N(int64(15*time.Millisecond))))
	}
}

func (s *stranger) act(random *rand.Rand, n int64) error {
	p := person{random.Int64N(300), n}
	if len(s.ids) < 20 || !s.settled.Load() && random.IntN(3) == 0 {
		r, err := s.db.Exec("INSERT INTO person (uid, value) VALUES (?, ?)", p.uid, p.value)
		if err != nil {
			return err
		}
		id, _ := r.LastInsertId()
		s.ids = append(s.ids, id)
		s.note(id, p)
		return nil
	}
	id := s.ids[random.IntN(len(s.ids))]
	if _, err := s.db.Exec("UPDATE person SET uid = ?, value = ? WHERE id = ?", p.uid, p.value, id); err != nil {
		return err
	}
	s.note(id, p)
	return nil
}

func (s *stranger) note(id int64, p person) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[id] = p
	s.done++
}

func (s *stranger) more(t *testing.T) {
	t.Helper()
	read := func() (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.done, s.err }
	since, _ := read()
	harness.Until(t, "the stranger gets on", func() (bool, error) {
		now, err := read()
		if err != nil {
			t.Fatal(err)
		}
		return now > since+30, nil
	})
}

// fromOutside imports a table of a server outside of the cluster, to which a client writes all the time. It
// reverts the import, imports the table again and finishes. Nothing that was written there, or through a proxy,
// may be lost.
func (w *world) fromOutside(t *testing.T, engine servers.Engine) {
	t.Helper()
	began := time.Now()
	outside := servers.Start(t, engine, 1)[0]
	outside.Exec(t, "CREATE DATABASE "+schema, "CREATE TABLE shop.person (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, value BIGINT NOT NULL)")
	ctx, end := context.WithCancel(t.Context())
	s := &stranger{db: outside.DB(t, schema), end: end, rows: map[int64]person{}}
	s.running.Go(func() { s.run(ctx) })
	defer s.running.Wait()
	defer end()
	s.more(t)

	const id = "import-outside"
	w.planOutside(t, id, outside, "shop.person owner=uid")
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	w.phase(t, id, phase.Ready)
	w.refused(t)
	w.fits(t)
	s.settled.Store(true)
	s.more(t)
	w.order(t, id, func(p phase.State) phase.Event {
		return phase.Event{Kind: phase.CutTo, Genes: p.Total, Step: p.Total}
	})
	w.phase(t, id, phase.Cut)
	const written = 20
	harness.Until(t, "the proxy knows", func() (bool, error) {
		err := db.QueryRow("SELECT 1 FROM person LIMIT 1").Err()
		return err == nil, err
	})
	for i := range written {
		if _, err := db.Exec("INSERT INTO person (uid, value) VALUES (?, 1)", 10_000+i); err != nil {
			t.Fatal(err)
		}
	}
	s.more(t)
	harness.Until(t, "what goes past the proxies is told", func() (bool, error) {
		reports, err := w.Jobs.Reports(t.Context())
		if held := time.Duration(reports[id].LastFenceMs) * time.Millisecond; held > time.Since(began) {
			t.Fatalf("the switch is told to have held the tables for %v", held)
		}
		return err == nil && reports[id].Strays > 0, err
	})
	w.order(t, id, func(p phase.State) phase.Event {
		return phase.Event{Kind: phase.RollBack, Step: p.Total}
	})
	w.phase(t, id, phase.Ready)
	w.refused(t)
	var n int
	if err := s.db.QueryRow("SELECT COUNT(*) FROM person WHERE uid >= 10000").Scan(&n); err != nil || n != written {
		t.Errorf("the server outside has %d of %d rows that were written through a proxy; %v", n, written, err)
	}
	for _, p := range w.Proxies {
		p.Tell("stop " + cutover.BeforeCommit)
	}
	w.order(t, id, func(p phase.State) phase.Event {
		return phase.Event{Kind: phase.CutTo, Genes: p.Total, Step: p.Total}
	})
	w.awaitStopAt(t, func() {}, cutover.BeforeCommit)
	harness.Until(t, "the stranger waits for the lock", func() (bool, error) {
		err := s.db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'").Scan(&n)
		return n > 0, err
	})
	for _, p := range w.Proxies {
		p.Tell("stop nowhere")
		p.Tell("go")
	}
	w.phase(t, id, phase.Cut)
	s.more(t)
	end()
	s.running.Wait()
	harness.Until(t, "all that was written there is here", func() (bool, error) {
		what, err := s.differ(db, written)
		return what == "", fmt.Errorf("%s, %w", what, err)
	})
	goingOn, rest := context.WithCancel(t.Context())
	s.running.Go(func() { s.run(goingOn) })
	defer rest()
	s.more(t)
	w.finish(t, id)
	w.phase(t, id, phase.Done)
	rest()
	s.running.Wait()
	s.eachOnce(t, db)
	if err := s.db.QueryRow("SELECT COUNT(*) FROM person").Scan(&n); err != nil || n != len(s.rows)+written {
		t.Errorf("the server outside has %d rows at the end, want %d; %v", n, len(s.rows)+written, err)
	}
	err := s.db.QueryRow("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = 'person' AND COLUMN_NAME = ?", catalog.OwnGene).Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("the server outside has %d columns that the import made; %v", n, err)
	}
}

func (w *world) planOutside(t *testing.T, id string, outside *servers.Server, imported string) {
	t.Helper()
	tables, err := ops.Declarations(ops.SplitTables(imported))
	if err != nil {
		t.Fatal(err)
	}
	_, m := w.routes(t)
	from := job.Outside{Address: outside.Addr(), User: outside.User, Secret: "outside"}
	j, err := job.NewOutside(id, from, m, []router.ShardName{"s0", "s1", "s2"}, tables, "the test", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Jobs.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

// fits checks that other tables may be declared during the import.
func (w *world) fits(t *testing.T) {
	t.Helper()
	c, err := declared.Current(t.Context(), w.KV)
	if err != nil {
		t.Fatal(err)
	}
	shards, err := fitting.Open(func(string) (string, error) { return servers.Password, nil }, 5*time.Second, nil, c)
	if err != nil {
		t.Fatal(err)
	}
	defer shards.Close(t.Context())
	change := fitting.Change{Next: c, Shards: shards}
	loaded, err := change.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range change.Problems(t.Context(), loaded) {
		t.Error(p)
	}
}

// refused checks that no proxy lets clients use the copies.
func (w *world) refused(t *testing.T) {
	t.Helper()
	for _, p := range w.Proxies {
		db := client(p.Addr(), false)
		for query, want := range map[string]string{
			"SELECT COUNT(*) FROM person":                   "outside of the cluster",
			"INSERT INTO person (uid, value) VALUES (1, 1)": "outside of the cluster",
			"DELETE FROM person WHERE uid = 1":              "outside of the cluster",
			"TRUNCATE TABLE person":                         "import",
			"DROP TABLE person":                             "import",
			"ALTER TABLE person ADD x INT":                  "import",
			"CREATE TABLE person (id INT PRIMARY KEY)":      "import",
			"CREATE VIEW people AS SELECT id FROM person":   "import",
		} {
			var err error
			harness.Until(t, query+" is not held", func() (bool, error) { // a proxy may learn of a switch later
				_, err = db.Exec(query)
				return !deadlocked(err), err
			})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", query, err)
			}
		}
		_ = db.Close()
	}
}

// eachOnce searches for each row that the client has inserted. It gave them other owners until the job was
// finished.
func (s *stranger) eachOnce(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT id FROM person WHERE uid < 10000")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	there := map[int64]int{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		there[id]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id := range s.rows {
		if there[id] != 1 {
			t.Errorf("finished: row %d is there %d times", id, there[id])
		}
	}
	if len(there) != len(s.rows) {
		t.Errorf("finished: %d rows, want %d", len(there), len(s.rows))
	}
}

// differ compares the rows that a proxy returns with those that the client knows.
func (s *stranger) differ(db *sql.DB, written int) (string, error) {
	rows, err := db.Query("SELECT id, uid, value FROM person")
	if err != nil {
		return "unread", err
	}
	defer rows.Close()
	found := map[int64]person{}
	others := 0
	for rows.Next() {
		var id int64
		var p person
		if err := rows.Scan(&id, &p.uid, &p.value); err != nil {
			return "unread", err
		}
		if p.uid >= 10_000 {
			others++
			continue
		}
		if _, twice := found[id]; twice {
			return fmt.Sprintf("row %d is there twice", id), nil
		}
		found[id] = p
	}
	for id, p := range s.rows {
		if found[id] != p {
			return fmt.Sprintf("row %d is %v, want %v", id, found[id], p), rows.Err()
		}
	}
	if len(found) != len(s.rows) || others != written {
		return fmt.Sprintf("%d rows, want %d; %d written through a proxy, want %d", len(found), len(s.rows), others, written), rows.Err()
	}
	return "", rows.Err()
}
