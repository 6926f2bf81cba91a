package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// switched is how often the table is sharded under load. Except for the last time it is made single again,
// which is also a switch.
const switched = 5

// switches shards a table of the default shard and makes it single again, while clients use it.
func (i *imports) switches(ctx context.Context, r *report) error {
	proxy := i.ready.proxy(0)
	if err := i.on(ctx, proxy, append([]string{pastForm(pastTable)}, pastRows(i.rows/4)...)...); err != nil {
		return err
	}
	var all timing
	loading, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for n := range movesClients {
		clients.Go(func() { i.use(loading, n, &all) })
	}
	defer func() { stop(); clients.Wait() }()
	id, err := i.beginImport(ctx)
	if err != nil {
		return err
	}
	if _, err := i.until(ctx, id, "ready"); err != nil {
		return err
	}
	for n := range switched {
		if _, err := i.locus(ctx, "cutover", id, "--to", "100%", "--yes"); err != nil {
			return err
		}
		if _, err := i.until(ctx, id, "cut"); err != nil {
			return err
		}
		if n == switched-1 {
			break
		}
		if _, err := i.locus(ctx, "rollback", id, "--yes"); err != nil {
			return err
		}
		if _, err := i.until(ctx, id, "ready"); err != nil {
			return err
		}
	}
	if err := sleep(ctx, i.length); err != nil { // errors that clients see after the import count, too
		return err
	}
	stop()
	clients.Wait()
	held, err := i.held(id, "")
	if err != nil {
		return err
	}
	why := ""
	if all.why != nil {
		why = ": " + all.why.Error()
	}
	times := all.take()
	r.figures = append(r.figures,
		figure{
			name: i.engine + ": statements that failed during an import", value: single(float64(all.failed)), judged: float64(all.failed), bound: bound{atMost, 0, 0},
			detail: fmt.Sprintf("of %d; %d clients on 3 proxies, a table of the default shard, sharded %d times and made single again in between%s", len(times), movesClients, switched, why),
		},
		figure{
			name: i.engine + ": statements held by an import's switch, p99", value: spreadOf(held.whole), judged: quantileOf(held.whole, 0.99), unit: "ms", bound: bound{atMost, 100, 100},
			detail: fmt.Sprintf("%d switches, forward and back, %v; judged by the slowest of a hundred", len(held.whole), held),
		})
	return nil
}

// quantileOf returns a quantile of sorted values, and 0 if there are none.
func quantileOf(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// use updates, reads and inserts orders through one of the proxies until ctx ends.
func (i *imports) use(ctx context.Context, number int, all *timing) {
	at := i.ready.proxy(number % len(i.ready.Proxies))
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		all.add(0, err)
		return
	}
	defer c.Close()
	rng := rand.New(rand.NewPCG(uint64(number), 7))
	for n := int64(0); ctx.Err() == nil; n++ {
		k := rng.Int64N(int64(i.rows / 4))
		uid := firstWriter + k
		text := fmt.Sprintf("UPDATE %s SET amount = amount + 1 WHERE order_id = %d", pastTable, newOwner(uid, writerSequences+k).order)
		switch n % 4 {
		case 0:
			order := newOwner(uid, writerSequences+int64(i.rows)*int64(number+1)+n).order
			text = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%d,%d,%d,1,'new',1)", pastTable, orderColumns, order, orderNumber(order), uid)
		case 1, 2:
			text = fmt.Sprintf("SELECT amount FROM %s WHERE buyer_uid = %d", pastTable, uid)
		}
		began := time.Now()
		_, err := c.Execute(text)
		if all.add(time.Since(began), err); err != nil {
			return
		}
	}
}
