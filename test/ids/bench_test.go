package ids

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/control/generators"
	"locus/idgen"
	"locus/idgen/autoincrement"
	"locus/idgen/buckets"
	"locus/idgen/format"
	"locus/idgen/gene"
	"locus/idgen/ha"
	"locus/idgen/orderid"
	"locus/idgen/pool"
	"locus/idgen/queue"
	"locus/idgen/redis"
	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/idgen/snowflake"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/cluster"
	"locus/test/shop"
)

// Each benchmark measures by itself and reports one metric. test/bench runs them with -benchtime 1x and prints
// the table. Things that are compared run alternately.

const (
	rounds = 5
	slice  = 400 * time.Millisecond // duration of one side of a round
)

// rate returns how often per second the goroutines call do.
func rate(b *testing.B, goroutines int, do func() error) float64 {
	b.Helper()
	var calls atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for range goroutines {
		workers.Go(func() {
			n := int64(0)
			for n%16 != 0 || time.Since(began) < slice {
				if err := do(); err != nil {
					b.Error(err)
					break
				}
				n++
			}
			calls.Add(n)
		})
	}
	workers.Wait()
	return float64(calls.Load()) / time.Since(began).Seconds()
}

// ratio reports the median of the measured rates divided by the rates that they are compared with, and the median of the
// measured rates themselves.
func ratio(b *testing.B, goroutines int, measured, compared func() error) {
	b.Helper()
	ratioOf(b, rounds, goroutines, measured, compared)
}

func ratioOf(b *testing.B, rounds, goroutines int, measured, compared func() error) {
	b.Helper()
	var ratios, rates []float64
	for range rounds {
		bare := rate(b, goroutines, compared)
		rates = append(rates, rate(b, goroutines, measured))
		ratios = append(ratios, rates[len(rates)-1]/bare)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(rates), "numbers/s")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func database(b *testing.B) (*servers.Server, *sql.DB) {
	s := servers.Start(b, servers.MariaDB, 1)[0]
	s.Exec(b, "CREATE DATABASE ids")
	connector, err := mysql.NewConnector(s.Config("ids"))
	if err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(64)
	b.Cleanup(func() { _ = db.Close() })
	return s, db
}

func tagTable(b *testing.B, db *sql.DB, tags ...string) *row.Table {
	table, err := row.Open(db, "locus_ids", time.Now)
	if err != nil {
		b.Fatal(err)
	}
	if err := table.Create(b.Context(), 1000, tags...); err != nil {
		b.Fatal(err)
	}
	return table
}

// counted counts the round trips of a store.
type counted struct {
	segment.Store
	calls atomic.Int64
}

func (c *counted) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	c.calls.Add(1)
	return c.Store.Extend(ctx, counter, n)
}

func issuer(b *testing.B, store segment.Store, o segment.Options) *idgen.Issuer {
	l, err := orderid.ByName("int64")
	if err != nil {
		b.Fatal(err)
	}
	s, err := segment.New(store, l, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	i, err := idgen.NewIssuer(l, 0, s)
	if err != nil {
		b.Fatal(err)
	}
	return i
}

var groupTags = []string{"g/00000", "g/00001"}

// issued returns how many IDs per second the goroutines make, each with its own gene.
func issued(b *testing.B, i *idgen.Issuer, goroutines int) float64 {
	var workers sync.WaitGroup
	var total atomic.Int64
	began := time.Now()
	for w := range goroutines {
		workers.Go(func() {
			g, n := gene.Gene(w<<15), int64(0)
			ctx := context.Background()
			for n%4096 != 0 || time.Since(began) < 2*slice {
				if _, err := i.Issue(ctx, g, 1); err != nil {
					b.Error(err)
					return
				}
				n++
			}
			total.Add(n)
		})
	}
	workers.Wait()
	return float64(total.Load()) / time.Since(began).Seconds()
}

func BenchmarkLibrary(b *testing.B) {
	_, db := database(b)
	i := issuer(b, tagTable(b, db, groupTags...), segment.Options{Groups: 2})
	issued(b, i, 1) // until segments are as long as they should be
	var rates []float64
	for range rounds {
		rates = append(rates, issued(b, i, 1)/1e6)
	}
	b.ReportMetric(median(rates), "millions/s")
	b.ReportMetric(testing.AllocsPerRun(10_000, func() { _, _ = i.Issue(context.Background(), 1, 1) }), "allocs/ID")
}

func BenchmarkScaling(b *testing.B) {
	_, db := database(b)
	i := issuer(b, tagTable(b, db, groupTags...), segment.Options{Groups: 2})
	issued(b, i, 2)
	var ratios []float64
	for range rounds {
		one := issued(b, i, 1)
		ratios = append(ratios, issued(b, i, 2)/one)
	}
	b.ReportMetric(median(ratios), "ratio")
}

// BenchmarkSwitch measures the p99.99 of single IDs at 200,000 a second, with a store that takes 5 ms.
func BenchmarkSwitch(b *testing.B) {
	_, db := database(b)
	i := issuer(b, &slow{tagTable(b, db, groupTags...)}, segment.Options{Groups: 2, MinStep: 20_000, Buffer: time.Second})
	ctx := context.Background()
	if _, err := i.Issue(ctx, 0, 1); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	began := time.Now()
	for n := 0; n < 1_000_000; n++ {
		for time.Since(began) < time.Duration(n)*5*time.Microsecond { // at its rate
			runtime.Gosched()
		}
		at := time.Now()
		if _, err := i.Issue(ctx, 0, 1); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(at))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*9999/10000])/1000, "µs")
}

type slow struct{ segment.Store }

func (s *slow) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	time.Sleep(5 * time.Millisecond) //nolint:forbidigo // the store's time
	return s.Store.Extend(ctx, counter, n)
}

// BenchmarkRoundTrips measures the calls of the store per second, for each buffer and counter in use, at full
// speed.
func BenchmarkRoundTrips(b *testing.B) {
	_, db := database(b)
	store := &counted{Store: tagTable(b, db, groupTags...)}
	buffer := time.Second
	i := issuer(b, store, segment.Options{Groups: 2, Buffer: buffer, MaxStep: 1 << 32})
	for range 3 {
		issued(b, i, 1)
	}
	before, began := store.calls.Load(), time.Now()
	for range rounds {
		issued(b, i, 1)
	}
	b.ReportMetric(float64(store.calls.Load()-before)/time.Since(began).Seconds()*buffer.Seconds(), "per-s")
}

func redisLink(b *testing.B, addr string) *redis.Server {
	l := redis.Open(redis.Config{Address: addr, MaxConnections: 64})
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func BenchmarkBuckets(b *testing.B) {
	l := redisLink(b, servers.Redis(b).Addr)
	var epochs atomic.Uint64
	g := buckets.New([]buckets.Redis{l}, idgen.Run{Take: func(_ context.Context, n int) (uint64, error) { return epochs.Add(uint64(n)), nil }}, buckets.Options{})
	one := func() error { _, err := idgen.One(context.Background(), g); return err }
	ratio(b, 200, one, func() error { _, err := l.Increment(context.Background(), "bare", 1); return err })
	b.ReportMetric(rate(b, 1, one), "alone/s")
}

func BenchmarkRedis(b *testing.B) {
	l := redisLink(b, servers.Redis(b).Addr)
	p := pool.New(l, &counting{}, pool.Options{Fill: 10_000_000})
	b.Cleanup(p.Close)
	numbers := p.Numbers("orders")
	ratio(b, 16,
		func() error { _, err := idgen.One(context.Background(), numbers); return err },
		func() error { _, err := l.Increment(context.Background(), "bare", 1); return err })
}

func BenchmarkRedisSegments(b *testing.B) {
	l := redisLink(b, servers.Redis(b).Addr)
	p := pool.New(l, &counting{}, pool.Options{Fill: 100_000_000})
	b.Cleanup(p.Close)
	numbers, err := segment.NewNumbers(p, "orders", 0, segment.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = numbers.Close(context.Background()) })
	ratio(b, 16,
		func() error { _, err := idgen.One(context.Background(), numbers); return err },
		func() error { _, err := l.Increment(context.Background(), "bare", 1); return err })
}

// counting is a durable store in memory.
type counting struct {
	mu    sync.Mutex
	bound uint64
}

func (c *counting) Extend(_ context.Context, _ string, n uint64) (segment.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bound += n
	return segment.Grant{First: c.bound - n + 1, Last: c.bound}, nil
}

func BenchmarkRow(b *testing.B) {
	_, db := database(b)
	table := tagTable(b, db, "orders", "bare")
	numbers := table.Generator("orders", table.Locked, nil)
	ratio(b, 4,
		func() error { _, err := idgen.One(context.Background(), numbers); return err },
		func() error {
			_, err := db.Exec("UPDATE locus_ids SET max_id = LAST_INSERT_ID(max_id + ?), version = version + 1 WHERE biz_tag = ? AND max_id <= ?", 1, []byte("bare"), 1<<60)
			return err
		})
}

func BenchmarkAutoIncrement(b *testing.B) {
	_, db := database(b)
	t, bare := autoincrement.Table{DB: db, Name: "ids_0"}, autoincrement.Table{DB: db, Name: "ids_bare"}
	for _, table := range []autoincrement.Table{t, bare} {
		if err := table.Create(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	g, err := autoincrement.New(ha.Options{}, t)
	if err != nil {
		b.Fatal(err)
	}
	ratio(b, 4,
		func() error { _, err := idgen.One(context.Background(), g); return err },
		func() error { _, err := db.Exec("INSERT INTO ids_bare () VALUES ()"); return err })
}

func BenchmarkRowSegments(b *testing.B) {
	_, db := database(b)
	table := tagTable(b, db, "orders", "bare")
	numbers, err := segment.NewNumbers(table, "orders", 0, segment.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = numbers.Close(context.Background()) })
	bare := table.Generator("bare", table.Locked, nil)
	ratio(b, 4,
		func() error { _, err := idgen.One(context.Background(), numbers); return err },
		func() error { _, err := idgen.One(context.Background(), bare); return err })
}

func BenchmarkHTTP(b *testing.B) {
	set := generators.New(generators.Options{KV: shop.Segments(), Name: "bench"})
	b.Cleanup(func() { _ = set.Close() })
	declared := &cluster.Cluster{Generators: map[string]cluster.Generator{"orders": {Kind: cluster.SegmentGenerator}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /empty", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/api/", generators.Handler(set, func() *cluster.Cluster { return declared }))
	server := httptest.NewServer(mux)
	b.Cleanup(server.Close)
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 16
	get := func(path string) func() error {
		return func() error {
			response, err := client.Get(server.URL + path)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, response.Body)
			return errors.Join(err, response.Body.Close())
		}
	}
	ratio(b, 4, get("/api/segment/get/orders"), get("/empty"))
}

// BenchmarkSQL measures one ID per statement, relative to SELECT 1 through the same proxy.
func BenchmarkSQL(b *testing.B) {
	s := shop.Start(b, servers.MariaDB, shop.Options{
		Declarations: "generators:\n  orders: {kind: segment}\n",
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "bench"})
			b.Cleanup(func() { _ = set.Close() })
			o.Generators = set
		},
	})
	db := s.DB(b, nil)
	db.SetMaxIdleConns(16)
	query := func(text string) func() error {
		return func() error {
			var n int64
			return db.QueryRow(text).Scan(&n)
		}
	}
	ratio(b, 4, query("SELECT NEXT VALUE FOR orders"), query("SELECT 1"))
}

// BenchmarkHA measures an ha generator over two counting tables, each on its own server, relative to one of
// them.
func BenchmarkHA(b *testing.B) {
	var members []idgen.Numbers
	for _, s := range servers.Start(b, servers.MariaDB, 2) {
		s.Exec(b, "CREATE DATABASE ids")
		db := s.DB(b, "ids")
		db.SetMaxIdleConns(16)
		table := autoincrement.Table{DB: db, Name: "ids_0"}
		if err := table.Create(b.Context()); err != nil {
			b.Fatal(err)
		}
		one, err := autoincrement.New(ha.Options{}, table)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(one.Close)
		members = append(members, one)
	}
	g, err := ha.New(ha.Options{}, members...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(g.Close)
	best := members[0]
	if rate(b, 4, taking(b, members[1])) > rate(b, 4, taking(b, best)) {
		best = members[1]
	}
	ratioOf(b, 3*rounds, 4, taking(b, g), taking(b, best)) // two servers on one machine take turns by chance
}

// taking takes one number after the other with a deadline, as every caller in the product does. Without one a
// driver waits.
func taking(b *testing.B, g idgen.Numbers) func() error {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	b.Cleanup(cancel)
	return func() error { _, err := idgen.One(ctx, g); return err }
}

// queued returns a queue generator over an ha generator over two segment generators, from a database.
func queued(b *testing.B) *queue.Queue {
	_, db := database(b)
	table := tagTable(b, db, "one", "other")
	var members []idgen.Numbers
	for _, tag := range []string{"one", "other"} {
		numbers, err := segment.NewNumbers(table, tag, 0, segment.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = numbers.Close(context.Background()) })
		members = append(members, numbers)
	}
	g, err := ha.New(ha.Options{}, members...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(g.Close)
	q, err := queue.New(g, queue.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(q.Close)
	return q
}

// millions reports the median of how many millions a second one goroutine has.
func millions(b *testing.B, do func() error) {
	rate(b, 1, do) // until segments and queue are as long as they should be
	var rates []float64
	for range rounds {
		rates = append(rates, rate(b, 1, do)/1e6)
	}
	b.ReportMetric(median(rates), "millions/s")
}

func BenchmarkQueueOverHA(b *testing.B) { millions(b, taking(b, queued(b))) }

// BenchmarkFormat measures texts of a template over a queue generator over an ha generator.
func BenchmarkFormat(b *testing.B) {
	template, err := format.Parse("B{seq:14}", format.Parts())
	if err != nil {
		b.Fatal(err)
	}
	q := queued(b)
	next := func(ctx context.Context, _ format.Scope) (uint64, error) { return idgen.One(ctx, q) }
	millions(b, func() error {
		_, err := template.Make(context.Background(), next, format.Values{Now: time.Now()})
		return err
	})
}

// billed returns a shop whose tables have text columns. One of them is stamped by a format generator over a
// queue generator over an ha generator.
func billed(b *testing.B) *sql.DB {
	const table = "CREATE TABLE {schema}.%s (ticket_id BIGINT NOT NULL PRIMARY KEY, holder BIGINT NOT NULL, label VARCHAR(20) NOT NULL) DEFAULT CHARSET utf8mb4"
	s := shop.Start(b, servers.MariaDB, shop.Options{
		Tables: []string{fmt.Sprintf(table, "stamped"), fmt.Sprintf(table, "plain")},
		Declarations: `  {schema}.stamped: {kind: sharded, owner: holder, id: {column: ticket_id, layout: int64}, stamped: {label: bill}}
  {schema}.plain: {kind: sharded, owner: holder, id: {column: ticket_id, layout: int64}}
generators:
  ticket: {kind: segment}
  one: {kind: segment}
  other: {kind: segment}
  both: {kind: ha, of: [one, other]}
  ready: {kind: queue, of: [both]}
  bill: {kind: format, of: [ready], template: "B{seq:14}"}
`,
		Options: func(o *proxy.Options) {
			set := generators.New(generators.Options{KV: shop.Segments(), Name: "bench"})
			b.Cleanup(func() { _ = set.Close() })
			o.Generators = set
		},
	})
	db := s.DB(b, nil)
	db.SetMaxIdleConns(16)
	return db
}

// BenchmarkFormatSQL measures a format generator's text per statement, relative to a segment generator's
// number, with 16 clients.
func BenchmarkFormatSQL(b *testing.B) {
	db := billed(b)
	query := func(text string) func() error {
		return func() error {
			var got string
			return db.QueryRow(text).Scan(&got)
		}
	}
	ratio(b, 16, query("SELECT NEXTVAL(bill)"), query("SELECT NEXTVAL(ticket)"))
}

// BenchmarkFormatStamped measures an INSERT whose column a format generator fills, relative to one that
// contains the text, with 16 clients.
func BenchmarkFormatStamped(b *testing.B) {
	db := billed(b)
	insert := func(text string) func() error {
		return func() error { _, err := db.Exec(text); return err }
	}
	ratio(b, 16, insert("INSERT INTO stamped (holder) VALUES (42)"), insert("INSERT INTO plain (holder, label) VALUES (42, 'B00000000000001')"))
}

// BenchmarkSnowflake measures snowflakes of one process, which has 4,096 of them for each millisecond.
func BenchmarkSnowflake(b *testing.B) {
	g, w, err := snowflake.Open(b.Context(), shop.Segments(), b.TempDir(), snowflake.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = w.Close() })
	millions(b, taking(b, g))
}

// BenchmarkLongestWait measures the longest wait of a request to any kind of member next to a healthy one, while the member's
// servers fail in every way. It reports the wait beyond the limit, which is the default one.
func BenchmarkLongestWait(b *testing.B) {
	m := newMatrix(b, "{}")
	m.take("in the beginning", 10)
	longest := time.Duration(0)
	for _, server := range []string{"etcd", "s0", "redis", "memcached"} {
		for _, w := range ways {
			when := server + " " + w.name
			w.begin(m.parties[server])
			m.take(when, 10)
			w.end(m.parties[server])
			for _, waited := range m.longest {
				longest = max(longest, waited)
			}
			m.report(when)
			m.recovers("after " + when)
		}
	}
	b.ReportMetric(float64(longest.Milliseconds()), "ms")
}

// keyed is a table with a kind of primary key.
type keyed struct {
	name, column string
	key          func(row int) any
	rates        []float64
}

// BenchmarkTextKeys compares INSERTs into a table whose primary key is a text of 27 characters with the time in front with those
// into tables whose key is a BIGINT: one that rises, and one with a gene at the top, which is the ID of a sharded table. Each table
// gets the same rows and has one further index. The sizes are those of the pages that InnoDB uses.
func BenchmarkTextKeys(b *testing.B) {
	const rows, chunk, batch = 100_000, 5_000, 100
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tables := []*keyed{
		{name: "text_keys", column: "CHAR(27) CHARACTER SET latin1 COLLATE latin1_bin", key: func(row int) any {
			at := began.Add(time.Duration(row) * time.Millisecond)
			return fmt.Sprintf("%s%03dSHOP%08d", at.Format("060102150405"), at.UnixMilli()%1000, row*7919%100_000_000)
		}},
		{name: "number_keys", column: "BIGINT", key: func(row int) any { return row + 1 }},
		{name: "gene_keys", column: "BIGINT", key: func(row int) any {
			return int64(gene.OfInt(int64(row%20_000), gene.W16))<<47 | int64(row+1)
		}},
	}
	_, db := database(b)
	for _, t := range tables {
		if _, err := db.Exec("CREATE TABLE " + t.name + " (id " + t.column + " NOT NULL PRIMARY KEY, user_id BIGINT NOT NULL, amount DECIMAL(10,2) NOT NULL, created DATETIME NOT NULL, KEY (user_id))"); err != nil {
			b.Fatal(err)
		}
	}
	for first := 0; first < rows; first += chunk {
		for _, t := range tables {
			started := time.Now()
			for from := first; from < first+chunk; from += batch {
				t.insert(b, db, from, batch)
			}
			t.rates = append(t.rates, chunk/time.Since(started).Seconds())
		}
	}
	over := func(other *keyed) float64 {
		var ratios []float64
		for i, r := range tables[0].rates {
			ratios = append(ratios, r/other.rates[i])
		}
		return median(ratios)
	}
	b.ReportMetric(over(tables[1]), "÷rising")
	b.ReportMetric(over(tables[2]), "÷gene")
	for _, t := range tables {
		b.ReportMetric(median(t.rates), t.name+"/s")
		b.ReportMetric(t.bytes(b, db)/rows, t.name+"-bytes")
	}
}

func (t *keyed) insert(b *testing.B, db *sql.DB, first, rows int) {
	text, values := "INSERT INTO "+t.name+" VALUES ", []any(nil)
	for row := first; row < first+rows; row++ {
		text += "(?, ?, 9.99, '2026-03-01 12:00:00'), "
		values = append(values, t.key(row), row%20_000)
	}
	if _, err := db.Exec(strings.TrimSuffix(text, ", "), values...); err != nil {
		b.Fatal(err)
	}
}

// bytes returns the size of the table and its indexes.
func (t *keyed) bytes(b *testing.B, db *sql.DB) float64 {
	if _, err := db.Exec("ANALYZE TABLE " + t.name); err != nil {
		b.Fatal(err)
	}
	var size float64
	if err := db.QueryRow("SELECT data_length + index_length FROM information_schema.tables WHERE table_name = ?", t.name).Scan(&size); err != nil {
		b.Fatal(err)
	}
	return size
}
