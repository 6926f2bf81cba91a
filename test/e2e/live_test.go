package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/schema"
	"locus/router"
	"locus/test/product"
	"locus/test/shop"
)

// TestTheMapIsReplacedUnderLoad moves genes without rows back and forth while clients insert and read by owner, by ID
// and over all shards.
func TestTheMapIsReplacedUnderLoad(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		stop := make(chan struct{})
		var inserted atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, b := range buyers {
					r, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", b.uid)
					if err != nil {
						t.Errorf("insert: %v", err)
						return
					}
					id, _ := r.LastInsertId()
					n := inserted.Add(1)
					if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE order_id = ?", id); got != 1 {
						t.Errorf("order %d is found %d times", id, got)
						return
					}
					if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != n {
						t.Errorf("%d orders, %d were inserted", got, n)
						return
					}
				}
			}
		}()
		current := s.Cluster.Routes
		for i := range 100 {
			to := router.ShardName([]string{"s1", "s0"}[i%2])
			next, err := current.With(router.Change{Genes: gene.NewSet(gene.Range{First: 0x7000, Last: 0x7fff}), To: to})
			if err != nil {
				t.Fatal(err)
			}
			changed := *s.Cluster
			changed.Routes = next
			s.Apply(&changed)
			current = next
		}
		close(stop)
		<-done
		if inserted.Load() == 0 {
			t.Error("nothing was inserted meanwhile")
		}
	})
}

// TestAnAlteredTableIsReadAnew alters a declared table on every shard while the
// proxy runs.
func TestAnAlteredTableIsReadAnew(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Options: func(o *proxy.Options) { o.SchemaRefresh = 20 * time.Millisecond }})
		db := s.DB(t, nil)
		insert := "INSERT INTO test_order (buyer_uid, note) VALUES (42, 'x')"
		_, err := db.Exec(insert)
		refused(t, err, 1054, "note")
		for i := range s.Servers {
			exec(t, s.Shard(t, i), "ALTER TABLE test_order ADD note VARCHAR(20) FIRST")
		}
		for deadline := time.Now().Add(time.Minute); ; {
			if _, err = db.Exec(insert); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("still %v", err)
			}
		}
		// Without a list, the values are read by the columns' new order.
		exec(t, db, "INSERT INTO test_order VALUES ('first', NULL, NULL, 42, 1.5, 'new', NULL, '2026-01-02 03:04:05'), ('second', 0, 0, 0, 2.5, 'new', 0, '2026-01-02 03:04:05')")
		if got := rows(t, db, "SELECT note, buyer_uid FROM test_order WHERE buyer_uid IN (0, 42) ORDER BY note"); fmt.Sprint(got) != "[first 42 second 0 x 42]" {
			t.Errorf("rows %v", got)
		}
		if got := number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 0"); got != 1 {
			t.Errorf("%d rows of buyer 0 on s1, want 1", got)
		}
	})
}

// otherProxy claims that it has just read the schemas, and that their digests are the ones that were stored last.
type otherProxy struct {
	loaded atomic.Uint64

	mu      sync.Mutex
	shards  map[router.ShardName]schema.Querier
	digests map[router.ShardName]string
	claims  bool
}

func (o *otherProxy) Load(ctx context.Context) (map[router.ShardName][]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.loaded.Add(1)
	values := map[router.ShardName][]byte{}
	if len(o.shards) == 0 {
		return nil, nil
	}
	for shard, digest := range o.digests {
		m, err := schema.ReadMarker(ctx, o.shards[shard])
		if err != nil || !o.claims {
			return nil, err
		}
		m.At, m.Uptime = m.At.Add(-time.Second), m.Uptime-time.Second // before the proxy has read its own marker
		if values[shard], err = json.Marshal(schema.Verified{Marker: *m, Digest: digest}); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (o *otherProxy) Store(_ context.Context, shard router.ShardName, value []byte) error {
	var v schema.Verified
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.digests[shard] = v.Digest
	return nil
}

func (o *otherProxy) reach(shards map[router.ShardName]schema.Querier) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shards = shards
}

func (o *otherProxy) claim(claims bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claims = claims
}

// known returns the number of shards whose digests are stored.
func (o *otherProxy) known() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.digests)
}

// querier queries a server directly.
type querier struct{ *sql.DB }

func (q querier) Query(ctx context.Context, text string) (list [][][]byte, err error) {
	found, err := q.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		row := make([][]byte, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, found.Err()
}

// TestOneProxyReadsForAll counts how often a proxy reads a whole schema after a shard has run a statement that may have changed it.
func TestOneProxyReadsForAll(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		other := &otherProxy{digests: map[router.ShardName]string{}, claims: true}
		s := shop.Start(t, engine, shop.Options{Servers: servers.Start(t, engine, 2), Options: func(o *proxy.Options) {
			o.SchemaRefresh, o.Verified = 20*time.Millisecond, other
		}})
		shards := map[router.ShardName]schema.Querier{}
		for i := range s.Servers {
			shards[router.ShardName(fmt.Sprintf("s%d", i))] = querier{s.Shard(t, i)}
		}
		other.reach(shards)
		product.Eventually(t, "the proxy has read all schemas", func() bool { return other.known() == len(s.Servers) })
		shard := s.Shard(t, 0)
		reads := func() int64 {
			return number(t, shard, "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'SELECT EVENT_SCHEMA%'")
		}
		settle := func() { // the second check of the marker that begins from now on has ended
			for range 2 {
				before := other.loaded.Load()
				exec(t, shard, "FLUSH PRIVILEGES")
				product.Eventually(t, "the proxy has checked the marker", func() bool { return other.loaded.Load() > before })
			}
		}
		settle() // so that no check is running that began before the other proxy could answer
		for _, text := range []string{"SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = 1"} {
			exec(t, shard, text)
		}
		settle()
		if got := reads(); got != 0 {
			t.Errorf("the proxy has read the schema %d times though another one had", got)
		}
		other.claim(false)
		settle()
		if reads() == 0 {
			t.Error("the proxy has not read the schema though no other one had")
		}
	})
}

// TestAnAcknowledgementWaitsForOlderTransactions changes the map while a
// transaction is open that began under the one before.
func TestAnAcknowledgementWaitsForOlderTransactions(t *testing.T) {
	acknowledged := make(chan int64, 100)
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) {
		o.Acknowledge = func(version int64) error { acknowledged <- version; return nil }
	}})
	until := func(version int64) {
		t.Helper()
		for {
			select {
			case got := <-acknowledged:
				if got == version {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("version %d is not acknowledged", version)
			}
		}
	}
	until(1)
	db := s.DB(t, nil)
	tx := begin(t, db)
	exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (42)")
	next, err := s.Cluster.Routes.With(router.Change{Genes: gene.NewSet(gene.Range{First: 0x7000, Last: 0x7fff}), To: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	changed := *s.Cluster
	changed.Routes = next
	s.Apply(&changed)
	for s.Proxy.Status().MapVersion != 2 { // the map is in force at once
		if number(t, db, "SELECT COUNT(*) FROM test_order") != 0 {
			t.Fatal("an uncommitted row is seen")
		}
	}
	for range 100 {
		number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1")
	}
	select {
	case version := <-acknowledged:
		t.Errorf("version %d was acknowledged while a transaction of version 1 was open", version)
	default:
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	until(2)
}
