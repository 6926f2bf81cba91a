package main

import "math/rand/v2"

// script contains the steps that a client repeats, and a function that chooses the values of the next iteration.
type script struct {
	steps []step
	next  func() draw
}

// scripting writes the script of the i-th of n clients.
type scripting func(i, n int) script

// spelling determines whether the client or the proxy fills in IDs and versions.
type spelling int

const (
	full    spelling = iota // the client provides IDs and increments the version column
	stamped                 // the proxy does
)

// fresh numbers the orders whose IDs the client provides, over all lanes and rounds, so that none occurs twice.
type fresh struct{ sequence int64 }

func newFresh() *fresh { return &fresh{freshSequences} }

// deal returns a function that draws one of the client's own buyers. Clients share no buyers, so that none
// waits for another's row lock, unless there are more clients than buyers.
func deal(owners []owner, i, n int, f *fresh) func() draw {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
	mine := max(1, len(owners)/n)
	return func() draw {
		o := owners[(i+n*rng.IntN(mine))%len(owners)]
		f.sequence++
		id := o.orderID(f.sequence)
		return draw{buyer: o.uid, order: o.order, freshOrder: id, freshNumber: orderNumber(id)}
	}
}

const readColumns = "order_id, buyer_uid, amount, status, created_at"

func selectByBuyer() step {
	return step{
		sql:  "SELECT " + readColumns + " FROM test_order WHERE buyer_uid = {buyer}",
		want: want{rows: 1, first: order},
	}
}

func selectByOrder() step {
	return step{
		sql:  "SELECT " + readColumns + " FROM test_order WHERE order_id = {order}",
		want: want{rows: 1, first: order},
	}
}

func selectOfBuyer() step {
	return step{
		sql:  "SELECT " + readColumns + " FROM test_order WHERE buyer_uid = {buyer} AND order_id = {order}",
		want: want{rows: 1, first: order},
	}
}

func updateOfBuyer(s spelling) step {
	set := "amount = amount + 1"
	if s == full {
		set += ", version = version + 1"
	}
	return step{
		sql:  "UPDATE test_order SET " + set + " WHERE buyer_uid = {buyer} AND order_id = {order}",
		want: want{affected: 1},
	}
}

func insert(s spelling) step {
	const values = "19.99, 'new', '2026-01-02 03:04:05.678')"
	if s == stamped {
		return step{
			sql:  "INSERT INTO test_order (buyer_uid, amount, status, created_at) VALUES ({buyer}, " + values,
			want: want{affected: 1},
		}
	}
	return step{
		sql: "INSERT INTO test_order (order_id, order_no, buyer_uid, version, amount, status, created_at) " +
			"VALUES ({freshOrder}, {freshNumber}, {buyer}, 1, " + values,
		want: want{affected: 1},
	}
}

// transaction returns five commands: BEGIN, three statements of one owner, COMMIT.
func transaction(s spelling) []step {
	return []step{
		{sql: "BEGIN", bare: true}, selectOfBuyer(), updateOfBuyer(s), insert(s), {sql: "COMMIT", bare: true},
	}
}

// scatterWidth readers in a row are about half on each of two shards.
const scatterWidth = 100

// dealRange draws a range of readers, of all shards.
func dealRange(i, n int) func() draw {
	rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
	return func() draw {
		from := firstReader + rng.Int64N(readers-scatterWidth)
		return draw{low: from, high: from + scatterWidth - 1, width: scatterWidth}
	}
}

const readerRange = " FROM test_order WHERE buyer_uid BETWEEN {low} AND {high}"

// countAll expects the count of the whole range only if one answer covers all shards.
func countAll(first field) step {
	return step{sql: "SELECT COUNT(*), SUM(amount)" + readerRange, want: want{rows: 1, first: first}}
}

func firstTen() step {
	return step{sql: "SELECT order_id, buyer_uid, amount" + readerRange + " ORDER BY order_id LIMIT 10", want: want{rows: 10}}
}
