package fleet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/test/product"
)

// numbering is clients of two proxies that insert rows which the cluster numbers, among rows that give their numbers.
type numbering struct {
	batch int64 // rows of an INSERT
	done  atomic.Int64
	given atomic.Int64 // the next number that a row provides itself, in units of apart
	marks atomic.Int64

	mu           sync.Mutex
	acknowledged map[int64]int64 // the number of a row, by its mark
	refused      []error
}

// apart is the distance of two numbers that rows provide. It is more than the number of all rows.
const apart = 10_000_000

// numbers inserts the given number of rows by two proxies, the second of which is killed twice, and checks that
// each row has its own number, and the one that its client received.
func (f *fleet) numbers(rows, batch int64) {
	f.t.Helper()
	if _, err := f.db().Exec("CREATE TABLE ticket (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, buyer BIGINT NOT NULL, mark BIGINT NOT NULL, KEY (buyer)) COMMENT 'locus: owner=buyer'"); err != nil {
		f.t.Fatal(err)
	}
	n := &numbering{batch: batch, acknowledged: map[int64]int64{}}
	ctx, stop := context.WithCancel(f.t.Context())
	var clients sync.WaitGroup
	for c := range customers {
		at := sql.OpenDB(f.connector(1 + c%2))
		at.SetMaxOpenConns(1)
		clients.Go(func() {
			defer at.Close()
			n.client(ctx, at)
		})
	}
	for kills := int64(1); kills <= 2; kills++ {
		product.Eventually(f.t, "rows are numbered", func() bool { return n.done.Load() >= rows*kills/3 })
		f.kill(2)
	}
	product.Eventually(f.t, "all rows are numbered", func() bool { return n.done.Load() >= rows })
	stop()
	clients.Wait()
	for _, shard := range f.shards {
		product.Eventually(f.t, "no branch of a transaction is prepared", func() bool { return nothingIsPrepared(f.t, shard) })
	}
	f.eachHasItsNumber(n)
}

// client inserts until it is to stop. An INSERT that was under way at a proxy that was killed may have been done or not.
func (n *numbering) client(ctx context.Context, db *sql.DB) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for round := 0; ctx.Err() == nil; round++ {
		mark := n.marks.Add(n.batch) - n.batch
		var given int64
		if round%10 == 9 {
			given = n.given.Add(1) * apart
		}
		result, err := db.Exec(n.insert(mark, given))
		if err == nil {
			n.heard(result, mark, given)
			continue
		}
		if refused := new(mysql.MySQLError); errors.As(err, &refused) {
			n.mu.Lock()
			n.refused = append(n.refused, err)
			n.mu.Unlock()
		}
		<-again.C
	}
}

// insert returns an INSERT of rows for as many buyers. If given isn't 0, the rows provide consecutive numbers.
func (n *numbering) insert(mark, given int64) string {
	var b strings.Builder
	b.WriteString("INSERT INTO ticket (id, buyer, mark) VALUES ")
	for i := range n.batch {
		id := "NULL"
		if given > 0 {
			id = fmt.Sprint(given + i)
		}
		fmt.Fprintf(&b, "%s(%s, %d, %d)", strings.Repeat(", ", int(min(i, 1))), id, mark+i, mark+i)
	}
	return b.String()
}

func (n *numbering) heard(result sql.Result, mark, given int64) {
	first := given
	if given == 0 {
		first, _ = result.LastInsertId()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.batch {
		n.acknowledged[mark+i] = first + i
	}
	n.done.Add(n.batch)
}

// eachHasItsNumber reads the rows of all shards.
func (f *fleet) eachHasItsNumber(n *numbering) {
	f.t.Helper()
	for _, err := range n.refused[:min(3, len(n.refused))] {
		f.t.Errorf("an INSERT was refused: %v", err)
	}
	seen, kept := make(map[int64]bool, len(n.acknowledged)), 0
	for _, shard := range f.shards {
		conn, err := shard.Connect(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		defer conn.Close()
		rows, err := conn.Execute("SELECT id, mark FROM shop.ticket")
		if err != nil {
			f.t.Fatal(err)
		}
		for _, row := range rows.Values {
			id, mark := row[0].AsInt64(), row[1].AsInt64()
			if seen[id] {
				f.t.Errorf("number %d is there twice", id)
			}
			seen[id] = true
			if want, was := n.acknowledged[mark]; was {
				kept++
				if id != want {
					f.t.Errorf("row %d has number %d, and its client heard of %d", mark, id, want)
				}
			}
		}
	}
	if kept != len(n.acknowledged) {
		f.t.Errorf("%d rows were acknowledged, and %d are there", len(n.acknowledged), kept)
	}
	f.t.Logf("%d rows, %d of them acknowledged", len(seen), kept)
}
