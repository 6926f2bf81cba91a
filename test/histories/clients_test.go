package histories

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
)

// outcome is the result of a transfer as its client knows it.
type outcome uint8

const (
	unknown    outcome = iota // the connection was lost, or the error states that the outcome is unknown
	committed                 // OK
	rolledBack                // the error states that, or occurred before COMMIT
)

// clients use the proxies until they are stopped.
type clients struct {
	*record
	world   *world
	running sync.WaitGroup
	values  atomic.Int64 // the last number given to a value, a tag or a transfer
	// begunAgain counts transactions that got error 1213 because a row had moved to a shard after they had read
	// there.
	begunAgain atomic.Int64
	pool       items
	pace       time.Duration // between two operations
	dwell      time.Duration // the longest pause before the end of every other transaction; 0: none
	seed       uint64
}

func (c *clients) start(ctx context.Context, n int) {
	for i := range n {
		c.running.Go(func() {
			random := rand.New(rand.NewPCG(c.seed, uint64(i)))
			for ctx.Err() == nil {
				c.connect(ctx, i, random)
			}
		})
	}
}

// most is the number of operations on a connection, so that clients return to a proxy that was down.
const most = 200

// connect uses one proxy for a while, with statements as text or prepared.
func (c *clients) connect(ctx context.Context, number int, random *rand.Rand) {
	addr := c.world.Proxies[random.IntN(len(c.world.Proxies))].Addr()
	if addr == "" {
		pause(ctx, 10*time.Millisecond)
		return
	}
	db := client(addr, random.IntN(2) == 0)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return
	}
	defer conn.Close()
	s := &talk{clients: c, number: number, addr: addr, random: random, conn: conn}
	defer s.close()
	for range most {
		if ctx.Err() != nil || !s.act() {
			return
		}
		pause(ctx, time.Duration(random.Int64N(int64(2*c.pace))))
	}
}

func client(addr string, text bool) *sql.DB {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName = "tcp", addr, "app", servers.Password, schema
	config.InterpolateParams, config.ClientFoundRows = text, true
	config.Timeout, config.ReadTimeout = 5*time.Second, 15*time.Second
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		panic(err)
	}
	return sql.OpenDB(connector)
}

// pause lets other clients work.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// talk is one connection of a client.
type talk struct {
	*clients
	number int
	addr   string // address of the process that the client uses
	random *rand.Rand
	conn   *sql.Conn
	// get and set are prepared once, and live through hand-overs.
	get, set *sql.Stmt
	broken   bool
}

func (s *talk) close() {
	for _, st := range []*sql.Stmt{s.get, s.set} {
		if st != nil {
			_ = st.Close()
		}
	}
}

// act runs one operation, and reports whether the connection is still usable.
func (s *talk) act() bool {
	switch n := s.random.IntN(100); {
	case n < 10 && s.world.hot == nil:
		s.seat()
	case n < 25:
		s.write()
	case n < 45:
		s.read()
	case n < 55:
		s.insert()
	case n < 63:
		s.update()
	case n < 67:
		s.remove()
	case n < 77:
		s.find()
	case n < 90:
		s.transfer()
	case n < 94:
		s.count()
	case n < 96:
		s.countItems()
	case n < 98:
		s.glance()
	default:
		s.list()
	}
	return !s.broken
}

// settled reports whether an error states that the statement had no effect.
func (s *talk) settled(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		s.broken = true
		return false
	}
	return e.Number == 1213 || e.Number == 1205 || strings.Contains(e.Message, "not run") || strings.Contains(e.Message, "rolled back")
}

// exec runs a statement on a row of an owner. It returns the result, and the times of the call and of the
// answer.
func (s *talk) exec(uid int64, query string, args ...any) (result sql.Result, call, ends int64, err error) {
	call = s.now()
	result, err = s.conn.ExecContext(context.Background(), query, args...)
	ends = s.now()
	s.took(s.addr, span{uid, call, ends}, err)
	return result, call, ends, err
}

// ask reads rows of two numbers.
func (s *talk) ask(uid int64, query string, args ...any) (list [][2]int64, call, ends int64, err error) {
	call = s.now()
	rows, err := s.conn.QueryContext(context.Background(), query, args...)
	if err == nil {
		list, err = pairs(rows)
	}
	ends = s.now()
	s.took(s.addr, span{uid, call, ends}, err)
	if err != nil {
		s.settled(err)
	}
	return list, call, ends, err
}

func pairs(rows *sql.Rows) (list [][2]int64, err error) {
	defer rows.Close()
	for rows.Next() {
		var pair [2]int64
		if err := rows.Scan(&pair[0], &pair[1]); err != nil {
			return nil, err
		}
		list = append(list, pair)
	}
	return list, rows.Err()
}
