package fleet

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/test/product"
)

// pool finds proxies as an application's pool does: it uses them in turn, and skips one that doesn't answer.
type pool struct {
	connectors []driver.Connector
	next       atomic.Uint64
}

func (p *pool) Connect(ctx context.Context) (conn driver.Conn, err error) {
	for range p.connectors {
		at := p.next.Add(1) % uint64(len(p.connectors))
		if conn, err = p.connectors[at].Connect(ctx); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func (p *pool) Driver() driver.Driver { return mysql.MySQLDriver{} }

func (f *fleet) connector(i int) driver.Connector {
	f.t.Helper()
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", f.proxy(i)
	config.User, config.Passwd, config.DBName = "app", f.secrets["secrets/users/app"], "shop"
	config.TLS = f.trust.Clone()
	config.TLS.ServerName = fmt.Sprintf("proxy-%d", i)
	config.Timeout = 5 * time.Second
	config.Logger = log.New(io.Discard, "", 0) // the returned errors show the failures
	connector, err := mysql.NewConnector(config)
	if err != nil {
		f.t.Fatal(err)
	}
	return connector
}

// db returns an application's pool over all proxies.
func (f *fleet) db() *sql.DB {
	f.t.Helper()
	p := &pool{}
	for _, i := range machines {
		p.connectors = append(p.connectors, f.connector(i))
	}
	db := sql.OpenDB(p)
	db.SetMaxIdleConns(customers)
	f.t.Cleanup(func() { _ = db.Close() })
	return db
}

// customers order at the same time, each so often.
const (
	customers = 8
	orderEach = 160 * time.Millisecond // some 300 statements a second in all, which leaves room for the faults
)

// load is the work of the customers, and its results.
type load struct {
	db      *sql.DB
	running sync.WaitGroup
	stop    context.CancelFunc

	begun, done  atomic.Int64 // orders
	mu           sync.Mutex
	acknowledged []int64 // the IDs of orders that were committed
	failures     []failure
}

// failure is a statement that failed.
type failure struct {
	at   time.Time
	what string
	err  error
}

func (f *fleet) load() *load {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	l := &load{db: f.db(), stop: cancel}
	if _, err := l.db.ExecContext(ctx, "INSERT INTO product (product_id, name, price) VALUES (1, 'kettle', 1.99), (2, 'lamp', 2.99)"); err != nil {
		f.t.Fatal(err)
	}
	for c := range customers {
		l.running.Go(func() { l.customer(ctx, c) })
	}
	f.t.Cleanup(l.end)
	return l
}

// end stops the customers and waits for running statements.
func (l *load) end() {
	l.stop()
	l.running.Wait()
}

func (l *load) customer(ctx context.Context, c int) {
	ticker := time.NewTicker(orderEach)
	defer ticker.Stop()
	for turn := c; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		buyer := int64(1 + turn*customers + c)
		l.order(buyer, buyer+int64(turn%2)) // every other one is for two buyers, mostly of two shards
		l.look(buyer)
	}
}

// order inserts an order with an item for each buyer, in one transaction.
func (l *load) order(buyers ...int64) {
	l.begun.Add(1)
	tx, err := l.db.Begin()
	if err != nil {
		l.failed("begin", err)
		return
	}
	var orders []int64
	for _, buyer := range buyers {
		order, err := orderOf(tx, buyer)
		if err != nil {
			l.failed("order", errors.Join(err, tx.Rollback()))
			return
		}
		orders = append(orders, order)
	}
	if err := tx.Commit(); err != nil {
		l.failed("commit", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged = append(l.acknowledged, orders...)
	l.done.Add(1)
}

// orderOf inserts an order and returns its ID.
func orderOf(tx *sql.Tx, buyer int64) (int64, error) {
	result, err := tx.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1.99)", buyer)
	if err != nil {
		return 0, err
	}
	order, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec("INSERT INTO order_item (order_id, product_id, price) VALUES (?, 1, 1.99)", order)
	return order, err
}

// look reads from one shard, from a global table, and from all shards.
func (l *load) look(buyer int64) {
	for _, query := range []string{
		fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d", buyer),
		"SELECT COUNT(*) FROM product",
		fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE amount > 1 AND status = 'new' AND order_id < %d", buyer),
	} {
		var n int
		if err := l.db.QueryRow(query).Scan(&n); err != nil {
			l.failed(query, err)
		}
	}
}

func (l *load) failed(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, failure{time.Now(), what, err})
}

func (l *load) failedSoFar() []failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures[:len(l.failures):len(l.failures)]
}

// goesOn waits for so many further orders.
func (l *load) goesOn(t *testing.T, orders int64) {
	t.Helper()
	want := l.done.Load() + orders
	product.Eventually(t, fmt.Sprintf("%d further orders", orders), func() bool { return l.done.Load() >= want })
}

// nothingFailed reports the failures after the first ones, whose number is after.
func (l *load) nothingFailed(t *testing.T, after int) {
	t.Helper()
	failures := l.failedSoFar()[after:]
	for _, f := range failures[:min(10, len(failures))] {
		t.Errorf("%s: %s: %v", f.at.Format("15:04:05.000"), f.what, f.err)
	}
	if len(failures) > 10 {
		t.Errorf("… and %d more", len(failures)-10)
	}
}
