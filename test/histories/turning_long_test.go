//go:build long

package histories

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// TestApplicationsAreTurnedUnderLoad imports the sample shop's orders from a server outside while buyers use
// them without a pause. They use that server until after the switch, are turned to the proxies one by one, use
// the proxies until the switch back and until the proxies refuse them, and so on. Each knows its own orders,
// and must find them on both sides.
func TestApplicationsAreTurnedUnderLoad(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		app := newStore()
		s := openStage(t, engine, app)
		s.source = servers.Start(t, engine, 1)[0]
		s.source.Exec(t, "CREATE DATABASE "+app.schema())
		there := login{s.source.Addr(), s.source.User, s.source.Password}
		app.prepare(t, there)
		app.beside(t, s.source, s.at)
		b := newBuyers(t, s, there)
		s.planOutside(t, splitting, s.source, app.imported())
		s.comes(t, phase.Ready)
		b.more(t)
		s.strike(t, at, cutover.BeforeCommit, killMover)
		s.strike(t, after, cutover.BeforePosition, fault{"kill the server outside", func(_ *world, t *testing.T, _ int) func() {
			s.struck.processes[there.addr] = true
			if err := s.source.Kill(); err != nil {
				t.Fatal(err)
			}
			return func() { s.source.Restart(t) }
		}})
		s.comesIn(t)
		b.more(t)
		harness.Until(t, "what goes past the proxies is told", func() (bool, error) {
			reports, err := s.Jobs.Reports(t.Context())
			return err == nil && reports[splitting].Strays > 0, err
		})
		b.turn(t)
		s.killProxy(t, 0)
		s.startProxy(t, 0)
		s.killServer(t, 2)()
		b.more(t)
		s.cutWhole(t, 0)
		b.leave(t)
		b.more(t)
		s.comesIn(t)
		b.turn(t)
		b.more(t)
		s.finish(t, splitting)
		s.comes(t, phase.Done)
		b.more(t)
		b.stop(t)
		app.check(t, s.at)
		s.spread(t)
		reports, err := s.Jobs.Reports(t.Context())
		if err != nil || reports[splitting].Conflicts > 0 {
			t.Errorf("%d conflicts; %v", reports[splitting].Conflicts, err)
		}
	})
}

// turned are buyers. Each uses either the server outside or the proxies.
type turned struct {
	stage   *stage
	end     context.CancelFunc
	running sync.WaitGroup
	each    []*turner

	mu       sync.Mutex // guards the fields below
	done     int
	wrong    []string
	failures map[string]int
}

// turner is one buyer, who alone writes its orders.
type turner struct {
	*turned
	buyer       int64
	there, here *sql.DB
	random      *rand.Rand
	orders      map[int64]float64 // the amount by order ID, as far as it is known

	side sync.Mutex // guards the fields below
	away bool       // it uses the proxies
	// asked is set when the buyer should change to the proxies. It changes when it finds its own writes there.
	asked bool
}

const turners = 6

func newBuyers(t *testing.T, s *stage, there login) *turned {
	t.Helper()
	b := &turned{stage: s, failures: map[string]int{}}
	ctx, end := context.WithCancel(t.Context())
	b.end = end
	for i := range int64(turners) {
		k := &turner{turned: b, buyer: buyers + i, there: there.open(t, s.app.schema()), here: s.at.open(t, s.app.schema()), random: rand.New(rand.NewPCG(seed(), uint64(i))), orders: map[int64]float64{}}
		k.there.SetMaxOpenConns(1)
		k.here.SetMaxOpenConns(1)
		b.each = append(b.each, k)
		b.running.Go(func() {
			for ctx.Err() == nil {
				k.act(ctx)
				pause(ctx, time.Duration(k.random.Int64N(int64(10*time.Millisecond))))
			}
		})
	}
	return b
}

// more waits until each of them has made progress.
func (b *turned) more(t *testing.T) {
	t.Helper()
	read := func() int { b.mu.Lock(); defer b.mu.Unlock(); return b.done }
	since := read()
	harness.Until(t, "the buyers get on", func() (bool, error) { return read() > since+30*turners, nil })
}

// turn turns them to the proxies, one after the other.
func (b *turned) turn(t *testing.T) {
	t.Helper()
	for _, k := range b.each {
		k.side.Lock()
		k.asked = true
		k.side.Unlock()
		harness.Until(t, fmt.Sprintf("buyer %d uses the proxies", k.buyer), func() (bool, error) { return k.uses(), nil })
	}
}

// leave waits until the proxies have refused all of them.
func (b *turned) leave(t *testing.T) {
	t.Helper()
	for _, k := range b.each {
		harness.Until(t, fmt.Sprintf("buyer %d has left the proxies", k.buyer), func() (bool, error) { return !k.uses(), nil })
	}
}

func (b *turned) stop(t *testing.T) {
	t.Helper()
	b.end()
	b.running.Wait()
	orders := 0
	for _, k := range b.each {
		orders += len(k.orders)
		harness.Until(t, fmt.Sprintf("buyer %d has its orders", k.buyer), func() (bool, error) {
			found, err := k.read(k.here)
			return err == nil && mismatch(k.orders, found) == "", fmt.Errorf("%s; %w", mismatch(k.orders, found), err)
		})
	}
	t.Logf("%d operations, %d orders", b.done, orders)
	for _, wrong := range b.wrong {
		t.Error(wrong)
	}
	for text, n := range b.failures {
		if !b.stage.explained(text) {
			t.Errorf("%d times, where nothing was struck that explains it: %s", n, text)
			continue
		}
		t.Logf("%d times: %s", n, text)
	}
}

func (k *turner) uses() bool {
	k.side.Lock()
	defer k.side.Unlock()
	return k.away
}

// db returns the side that it uses.
func (k *turner) db() *sql.DB {
	if k.uses() {
		return k.here
	}
	return k.there
}

// turns reports whether the buyer may continue. When it should turn to the proxies, it waits until it finds its
// last write there, which may still be on its way.
func (k *turner) turns() bool {
	k.side.Lock()
	asked := k.asked
	k.side.Unlock()
	if !asked {
		return true
	}
	found, err := k.read(k.here)
	if err != nil || mismatch(k.orders, found) != "" {
		return false
	}
	k.side.Lock()
	defer k.side.Unlock()
	k.asked, k.away = false, true
	return true
}

// act places an order, adds an item to one, or reads all.
func (k *turner) act(ctx context.Context) {
	if !k.turns() {
		return
	}
	db := k.db()
	ids := make([]int64, 0, len(k.orders))
	for id := range k.orders {
		ids = append(ids, id)
	}
	if len(ids) > 0 && k.random.IntN(4) == 0 {
		found, err := k.read(db)
		if err != nil {
			k.failed(ctx, err)
			return
		}
		if what := mismatch(k.orders, found); what != "" {
			k.complain(what)
		}
		k.count()
		return
	}
	var id int64
	var amount float64
	var err error
	if len(ids) == 0 || k.random.IntN(3) == 0 {
		id, amount, err = k.places(db)
	} else {
		id = ids[k.random.IntN(len(ids))]
		amount = k.orders[id] + 2.5
		err = k.stage.app.(*store).add(db, placed{id, k.buyer})
	}
	if err == nil {
		k.orders[id] = amount
		k.count()
		return
	}
	k.failed(ctx, err)
	k.settle(ctx, id, amount)
}

// places is like store.place, and returns the order's ID even after an error.
func (k *turner) places(db *sql.DB) (id int64, amount float64, err error) {
	s := k.stage.app.(*store)
	id, number := s.next(k.buyer)
	tx, err := db.Begin()
	if err != nil {
		return id, 5, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(storeOrder, id, number, k.buyer, 5); err != nil {
		return id, 5, err
	}
	for range 2 {
		item, _ := s.next(k.buyer)
		if _, err := tx.Exec(storeItem, item, id, 1, 2, 1.25); err != nil {
			return id, 5, err
		}
	}
	return id, 5, tx.Commit()
}

// read reads its orders, each of which must have the amount of its items.
func (k *turner) read(db *sql.DB) (map[int64]float64, error) {
	rows, err := db.Query("SELECT o.order_id, o.amount, SUM(i.quantity * i.price) FROM test_order o JOIN order_item i ON i.order_id = o.order_id"+
		" WHERE o.buyer_uid = ? GROUP BY o.order_id, o.amount", k.buyer)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[int64]float64{}
	for rows.Next() {
		var id int64
		var amount, sum float64
		if err := rows.Scan(&id, &amount, &sum); err != nil {
			return nil, err
		}
		if amount == sum { // else it is on its way from the other side, and does not count yet
			found[id] = amount
		}
	}
	return found, rows.Err()
}

func mismatch(want, got map[int64]float64) string {
	for id, amount := range want {
		if now, is := got[id]; !is || now != amount {
			return fmt.Sprintf("order %d is of %v (there: %v), want %v", id, now, is, amount)
		}
	}
	for id := range got {
		if _, is := want[id]; !is {
			return fmt.Sprintf("order %d is there and should not be", id)
		}
	}
	return ""
}

// settle finds out, on the current side, whether an operation without an answer happened.
func (k *turner) settle(ctx context.Context, id int64, amount float64) {
	for ctx.Err() == nil {
		found, err := k.read(k.db())
		if err == nil {
			if now, is := found[id]; is && now == amount {
				k.orders[id] = amount
			}
			if what := mismatch(k.orders, found); what != "" {
				k.complain(what)
				k.orders = found
			}
			return
		}
		k.failed(ctx, err)
		pause(ctx, 20*time.Millisecond)
	}
}

// failed records an error, and turns back to the server outside if the proxies refuse the tables.
func (k *turner) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	k.side.Lock()
	refused := k.away && strings.Contains(err.Error(), "outside of the cluster")
	if refused {
		k.away = false
	}
	k.side.Unlock()
	if refused {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures[nextTry.ReplaceAllString(err.Error(), "")]++
}

// nextTry matches the part in which equal errors differ.
var nextTry = regexp.MustCompile(`, next try in [^:]*`)

func (k *turner) count() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done++
}

func (k *turner) complain(what string) {
	where := "at the server outside"
	if k.uses() {
		where = "by the proxies"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.wrong) < 20 {
		k.wrong = append(k.wrong, fmt.Sprintf("buyer %d, %s: %s", k.buyer, where, what))
	}
}
