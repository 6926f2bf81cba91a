package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// buyers is the number of buyers: few enough that some place several orders.
const buyers = 10_000

// products lists the shop's products. The price of each is its number and 99 cents.
var products = []string{
	"kettle", "lamp", "notebook", "umbrella", "bicycle bell", "tea", "wool socks", "map of the town",
	"pocket knife", "watering can", "candle", "door mat",
}

// trickle places orders through one proxy, and through the next one after an error.
type trickle struct {
	addrs     []string
	password  string
	perSecond float64
	out       io.Writer
	said      map[string]bool // kinds of errors that were printed
}

// retryEvery is the pause after an error. Because of the pause, errors caused by stopping the demo are not
// printed.
const retryEvery = time.Second

// run places orders until ctx ends, despite errors.
func (t *trickle) run(ctx context.Context) {
	t.said = map[string]bool{}
	for i := 0; ctx.Err() == nil; i++ {
		err := t.session(ctx, t.addrs[i%len(t.addrs)])
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryEvery):
			t.say(err)
		}
	}
}

// say prints an error once for each kind.
func (t *trickle) say(err error) {
	kind := err.Error()
	var refused *mysql.MyError
	if errors.As(err, &refused) {
		kind = fmt.Sprint(refused.Code)
	}
	if !t.said[kind] && len(t.said) < 20 {
		t.said[kind] = true
		fmt.Fprintf(t.out, "an order failed (the shop continues, and logs this once): %v\n", err)
	}
}

// session places orders over one connection until an error occurs.
func (t *trickle) session(ctx context.Context, addr string) error {
	c, err := connect(ctx, addr, t.password)
	if err != nil {
		return err
	}
	defer c.close()
	if err := stock(ctx, c); err != nil {
		return err
	}
	pace := time.NewTicker(time.Duration(float64(time.Second) / t.perSecond))
	defer pace.Stop()
	for {
		if err := order(ctx, c); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pace.C:
		}
	}
}

// stock fills the table of products if it is empty.
func stock(ctx context.Context, c *conn) error {
	if err := c.allow(ctx); err != nil {
		return err
	}
	result, err := c.Execute("SELECT COUNT(*) FROM product")
	if err != nil {
		return fmt.Errorf("count the products: %w", err)
	}
	n, err := result.GetInt(0, 0)
	if err != nil || n > 0 {
		return err
	}
	rows := make([]string, len(products))
	for i, name := range products {
		rows[i] = fmt.Sprintf("(%d, '%s', %d.99)", i+1, name, i+1)
	}
	if _, err := c.Execute("INSERT INTO product (product_id, name, price) VALUES " + strings.Join(rows, ", ")); err != nil {
		return fmt.Errorf("fill the table of products: %w", err)
	}
	return nil
}

// order places one order of a random buyer with its items, in a transaction.
func order(ctx context.Context, c *conn) error {
	if err := c.allow(ctx); err != nil {
		return err
	}
	if err := c.Begin(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := purchase(c); err != nil {
		return errors.Join(err, c.Rollback())
	}
	if err := c.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func purchase(c *conn) error {
	items := make([]item, 1+rand.IntN(3))
	cents := 0
	for i := range items {
		items[i] = item{product: 1 + rand.IntN(len(products)), quantity: 1 + rand.IntN(4)}
		cents += items[i].quantity * items[i].cents()
	}
	result, err := c.Execute(fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, %d.%02d, 'new')",
		1+rand.IntN(buyers), cents/100, cents%100))
	if err != nil {
		return fmt.Errorf("insert an order: %w", err)
	}
	rows := make([]string, len(items))
	for i, it := range items {
		rows[i] = fmt.Sprintf("(%d, %d, %d, %d.%02d)", result.InsertId, it.product, it.quantity, it.cents()/100, it.cents()%100)
	}
	if _, err := c.Execute("INSERT INTO order_item (order_id, product_id, quantity, price) VALUES " + strings.Join(rows, ", ")); err != nil {
		return fmt.Errorf("insert items of order %d: %w", result.InsertId, err)
	}
	return nil
}

type item struct{ product, quantity int }

func (i item) cents() int { return 100*i.product + 99 }
