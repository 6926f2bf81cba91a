package ids

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/config/etcd"
	"locus/idgen/breaker"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/idgen/pool"
	"locus/idgen/redis"
	"locus/idgen/row"
	"locus/idgen/segment"
)

// kinds are the stores that every node takes numbers from.
var kinds = []string{"etcd", "mysql", "mysql, witnessed", "redis before mysql, witnessed", "redis before etcd", "two redis before etcd"}

// groups are the counters of each store.
const groups = 4

// node contains the arguments of a process.
type node struct {
	Name              string
	Etcd, Redis, DSN  string
	Other             string // a Redis without any data of the first
	Kinds             []int  // into kinds
	ExtendsPastGrants bool
}

// record is a node's report of numbers that it has taken, in 16 bytes. A count of 0 reports that the store had
// gone back to an older state.
type record struct {
	kind, group uint8
	count       uint32
	first       uint64
}

func (r record) append(b []byte) []byte {
	b = append(b, r.kind, r.group, 0, 0)
	b = binary.BigEndian.AppendUint32(b, r.count)
	return binary.BigEndian.AppendUint64(b, r.first)
}

func readRecord(b []byte) record {
	return record{b[0], b[1], binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint64(b[8:])}
}

// Every time-out of a node is far shorter than it is stopped for.
const (
	loadTimeout  = 300 * time.Millisecond
	storeTimeout = 200 * time.Millisecond
	redisTimeout = 100 * time.Millisecond
	pause        = 150 * time.Millisecond // of a breaker
)

// runNode takes numbers until it is killed.
func runNode(text string) error {
	var n node
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		return err
	}
	stores, err := n.stores()
	if err != nil {
		return err
	}
	l, err := orderid.ByName("bytes16")
	if err != nil {
		return err
	}
	sources := map[int]*segment.Segments{}
	for _, kind := range n.Kinds {
		sources[kind], err = segment.New(stores[kind], l, segment.Options{
			Groups: groups, MinStep: 500, MaxStep: 50_000, Buffer: 200 * time.Millisecond,
			LoadTimeout: loadTimeout, Now: jumping,
		})
		if err != nil {
			return err
		}
	}
	var output sync.Mutex
	var takers sync.WaitGroup
	for _, kind := range n.Kinds {
		for range 2 {
			takers.Go(func() { takeForever(uint8(kind), sources[kind], &output) })
		}
	}
	takers.Wait()
	return nil
}

// jumping returns the time of a clock that is set back and forth.
func jumping() time.Time {
	return time.Now().Add(time.Duration(rand.Int64N(int64(2*time.Hour))) - time.Hour).Round(0)
}

// takeForever takes numbers one by one and in runs. It reports each batch with one write, which arrives
// completely or not at all.
func takeForever(kind uint8, s *segment.Segments, output *sync.Mutex) {
	var b []byte
	for {
		group := uint8(rand.IntN(groups))
		g := gene.Gene(uint32(group) << 21)
		b = b[:0]
		var last record
		flush := func() {
			if last.count > 0 {
				b = last.append(b)
			}
		}
		for range 200 {
			count := uint32(1)
			if rand.IntN(20) == 0 {
				count += uint32(rand.IntN(200))
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			first, err := s.Take(ctx, g, int(count))
			cancel()
			if errors.Is(err, segment.ErrWentBack) {
				b = record{kind: kind, group: group}.append(b)
			}
			if err != nil {
				time.Sleep(time.Millisecond) //nolint:forbidigo // so that the loop doesn't spin while a server is down
				break
			}
			if last.count > 0 && last.first+uint64(last.count) == first && last.count < 1<<30 {
				last.count += count
				continue
			}
			flush()
			last = record{kind, group, count, first}
		}
		flush()
		output.Lock()
		_, err := os.Stdout.Write(b)
		output.Unlock()
		if err != nil {
			return
		}
	}
}

func (n node) stores() (map[int]segment.Store, error) {
	client, err := etcd.Open(etcd.Config{Endpoints: []string{n.Etcd}, DialTimeout: storeTimeout, RequestTimeout: storeTimeout})
	if err != nil {
		return nil, err
	}
	config, err := mysql.ParseDSN(n.DSN)
	if err != nil {
		return nil, err
	}
	config.Timeout, config.ReadTimeout, config.WriteTimeout = storeTimeout, storeTimeout, storeTimeout
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(8)
	cas := func(prefix string) *segment.CASStore {
		return segment.NewCASStore(client.Under("/"+prefix+"/"), "", n.Name, time.Now)
	}
	table := func(name string) segment.Store {
		t, err := row.Open(db, name, jumping)
		if err != nil {
			panic(err)
		}
		return t
	}
	server := redis.Open(redis.Config{Address: n.Redis, Timeout: redisTimeout})
	other := redis.Open(redis.Config{Address: n.Other, Timeout: redisTimeout})
	options := func(prefix string) pool.Options {
		b := breaker.Options{Pause: pause}
		return pool.Options{Prefix: prefix, Fill: 20_000, RedisTimeout: redisTimeout, StoreTimeout: storeTimeout, Redis: b, Store: b}
	}
	pooled := func(prefix string, durable segment.Store) segment.Store {
		if n.ExtendsPastGrants {
			durable = &extendsPast{Store: durable, last: map[string]uint64{}}
		}
		return pool.New(server, durable, options(prefix))
	}
	return map[int]segment.Store{
		0: cas("plain"),
		1: table("plain"),
		2: segment.NewWitnessed(table("witnessed"), cas("witness")),
		3: pooled("mysql:", segment.NewWitnessed(table("pooled"), cas("witness of pooled"))),
		4: pooled("etcd:", cas("pooled")),
		5: pool.NewSpread([]pool.Place{{Redis: server, Name: "one"}, {Redis: other, Name: "other"}}, cas("spread"), options("spread:")),
	}, nil
}

// extendsPast implements the naive rule: while the durable store is unavailable, its last grant is extended.
type extendsPast struct {
	segment.Store
	mu   sync.Mutex
	last map[string]uint64
}

func (e *extendsPast) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	g, err := e.Store.Extend(ctx, counter, n)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		g = segment.Grant{First: e.last[counter] + 1, Last: e.last[counter] + n}
	}
	e.last[counter] = max(e.last[counter], g.Last)
	return g, nil
}
