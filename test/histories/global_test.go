package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// rates is the number of rows of a table of the default shard that becomes global. Nobody deletes them. Each of
// the first raters rows is changed by one client only.
const rates, raters = 100, 6

// raterPace is the pause of a client between two operations. Each operation writes to every shard four times.
const raterPace = 10 * time.Millisecond

// rating is clients of that table.
type rating struct {
	world   *world
	end     context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	raised   [raters]int64
	done     int
	wrong    []string
	failures map[failure]int
}

func (w *world) makeRates(t *testing.T) {
	t.Helper()
	db := client(w.Proxies[0].Addr(), false)
	defer db.Close()
	values := make([]string, rates)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, 0, 'row %d')", i, i)
	}
	for _, query := range []string{
		"CREATE TABLE rate (code INT NOT NULL PRIMARY KEY, value BIGINT NOT NULL, name VARCHAR(40) NOT NULL UNIQUE)",
		"INSERT INTO rate VALUES " + strings.Join(values, ", "),
		"CREATE VIEW named AS SELECT code, name FROM rate",
	} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) raters(t *testing.T) *rating {
	r := &rating{world: w, failures: map[failure]int{}}
	ctx, end := context.WithCancel(t.Context())
	r.end = end
	for i := range raters {
		r.running.Go(func() { r.run(ctx, i) })
	}
	return r
}

func (r *rating) run(ctx context.Context, number int) {
	for i := number; ctx.Err() == nil; i++ {
		addr := r.world.Proxies[i%len(r.world.Proxies)].Addr()
		if addr == "" {
			pause(ctx, 10*time.Millisecond)
			continue
		}
		db := client(addr, i%2 == 0)
		db.SetMaxOpenConns(1)
		err := r.act(ctx, db, number, i)
		_ = db.Close()
		r.settle(number, err, addr)
	}
}

// act raises the client's row, and has a row come, change its unique value and go, some times.
func (r *rating) act(ctx context.Context, db *sql.DB, number, turn int) error {
	for i := range 20 {
		if ctx.Err() != nil {
			return nil
		}
		if _, err := db.Exec("UPDATE rate SET value = value + 1 WHERE code = ?", number); err != nil {
			return err
		}
		r.mu.Lock()
		r.raised[number]++
		r.done++
		r.mu.Unlock()
		code, name := 1000*(number+1)+i%7, fmt.Sprintf("%d/%d/%d", number, turn, i)
		for _, query := range []string{
			fmt.Sprintf("INSERT INTO rate VALUES (%d, %d, '%s') ON DUPLICATE KEY UPDATE name = '%s'", code, i, name, name),
			fmt.Sprintf("UPDATE rate SET name = CONCAT(name, '!') WHERE code = %d", code),
			fmt.Sprintf("DELETE FROM rate WHERE code = %d", code),
		} {
			if _, err := db.Exec(query); err != nil {
				return err
			}
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM rate WHERE code < ?", rates).Scan(&n); err != nil {
			return err
		}
		if n != rates {
			r.complain("%d rows are counted, and there are %d", n, rates)
		}
		pause(ctx, raterPace)
	}
	return nil
}

func (r *rating) complain(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) < 20 {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

// settle finds out whether the client's last change happened. An update locks the row on all shards, so that it
// waits for any prepared branch.
func (r *rating) settle(number int, failed error, addr string) {
	if failed == nil {
		return
	}
	f := failure{addr: addr, text: failed.Error()}
	if e, ok := errors.AsType[*mysql.MySQLError](failed); ok {
		f.code = e.Number
	}
	r.mu.Lock()
	r.failures[f]++
	r.mu.Unlock()
	for {
		for _, p := range r.world.Proxies {
			if p.Addr() == "" {
				continue
			}
			db := client(p.Addr(), false)
			value, err := r.value(db, number)
			_ = db.Close()
			if err == nil {
				r.found(number, value)
				return
			}
		}
		pause(context.Background(), 20*time.Millisecond)
	}
}

func (r *rating) value(db *sql.DB, number int) (value int64, err error) {
	tx, err := db.Begin()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tx.Commit()) }()
	if _, err = tx.Exec("UPDATE rate SET name = ? WHERE code = ?", fmt.Sprintf("row %d", number), number); err == nil {
		err = tx.QueryRow("SELECT value FROM rate WHERE code = ? FOR UPDATE", number).Scan(&value)
	}
	return value, err
}

func (r *rating) found(number int, value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.raised[number]; value != before && value != before+1 {
		r.wrong = append(r.wrong, fmt.Sprintf("row %d has %d, and was raised %d times", number, value, before))
	}
	r.raised[number] = value
}

func (r *rating) more(t *testing.T) {
	t.Helper()
	read := func() int { r.mu.Lock(); defer r.mu.Unlock(); return r.done }
	since := read()
	harness.Until(t, "clients get on", func() (bool, error) { return read() > since+10*raters, nil })
}

// stop ends the clients, and compares the shards.
func (r *rating) stop(t *testing.T) {
	t.Helper()
	r.end()
	r.running.Wait()
	t.Logf("%d operations", r.done)
	for _, wrong := range r.wrong {
		t.Error(wrong)
	}
	for f, n := range r.failures {
		if !r.world.struck.excuses(f) {
			t.Errorf("%d times, by %s, where nothing was struck that explains it: %s", n, f.addr, f.text)
		}
	}
	for i, s := range r.world.Shards {
		db := s.DB(t, schema)
		for number, raised := range r.raised {
			var value int64
			if err := db.QueryRow("SELECT value FROM rate WHERE code = ?", number).Scan(&value); err != nil || value != raised {
				t.Errorf("s%d: row %d has %d, and was raised %d times; %v", i, number, value, raised, err)
			}
		}
		var n, named int
		if err := db.QueryRow("SELECT COUNT(*), (SELECT COUNT(*) FROM named WHERE code < ?) FROM rate WHERE code < ?", rates, rates).Scan(&n, &named); err != nil || n != rates || named != rates {
			t.Errorf("s%d: %d rows, %d by the view; %v", i, n, named, err)
		}
	}
	r.alike(t)
}

// alike compares the shards' rows, including the clients' last ones, which a fault may have left unfinished.
func (r *rating) alike(t *testing.T) {
	t.Helper()
	all := map[int]string{}
	r.world.All(t, "SELECT CONCAT_WS('/', code, value, name) FROM rate ORDER BY code", func(shard int, rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		all[shard] += text + " "
		return err
	})
	for i := range r.world.Shards {
		if all[i] != all[0] {
			t.Errorf("s%d has\n%.1000s\nand s0\n%.1000s", i, all[i], all[0])
		}
	}
}

// TestATableBecomesGlobal makes a table of the default shard global under writers. The mover is killed during
// the switch, a proxy while it is reverted, and a shard while the table becomes global again.
func TestATableBecomesGlobal(t *testing.T) {
	t.Parallel()
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		w := open(t, engine)
		w.stride = 100
		w.startProxies(t)
		w.makeRates(t)
		r := w.raters(t)
		w.planImportOf(t, splitting, "shop.rate global")
		w.phase(t, splitting, phase.Ready)
		w.strike(t, at, cutover.BeforePosition, killMover)
		w.cutWhole(t, 100)
		r.more(t)
		w.strike(t, at, cutover.BeforeCommit, killProxy)
		w.cutWhole(t, 0)
		r.more(t)
		w.strike(t, after, cutover.BeforeCommit, fault{"kill a shard that rows go to", func(w *world, t *testing.T, _ int) func() { return w.killServer(t, 1) }})
		w.cutWhole(t, 100)
		r.more(t)
		w.finish(t, splitting)
		w.phase(t, splitting, phase.Done)
		r.more(t)
		r.stop(t)
	})
}
