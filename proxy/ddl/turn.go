package ddl

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// turnWait is the time limit, in seconds, of the wait for another definition of the same table, through any
// proxy.
const turnWait = 60

// inTurn makes a definition while no other definition of the same tables is in progress.
func (d *definition) inTurn(do func() error) error {
	end, err := d.takeTurn()
	if err != nil {
		return undone(err)
	}
	defer end()
	return do()
}

// takeTurn waits until no other definition of the same tables is in progress. Two concurrent definitions could
// run in a different order on each shard, so that each takes effect only on some shards. One could also undo
// the other's changes. The lock is a named lock of the default shard, and ends with its connection.
func (d *definition) takeTurn() (end func(), err error) {
	l, err := d.Conns.LendApart(d.catalog.First(), 0, backend.Default)
	if err != nil {
		return nil, err
	}
	names := d.turns()
	for _, name := range names {
		if err := d.turn(l, name); err != nil {
			l.Lost()
			return nil, err
		}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), txn.UndoTime)
		defer cancel()
		for _, name := range names {
			if _, err := l.Conn.Own().Exec(ctx, "DO RELEASE_LOCK('"+name+"')"); err != nil {
				l.Lost()
				return
			}
		}
		l.Done(l.Conn.Status())
	}, nil
}

// turns returns the names of the locks, in an order that is the same for all proxies.
func (d *definition) turns() (names []string) {
	all := d.Facts.Statement.Tables
	if routine := d.Facts.Statement.Defined; routine != nil {
		all = []stmt.TableName{routine.Name}
	}
	for _, table := range all {
		h := fnv.New64a()
		_, _ = h.Write([]byte(d.quoted(table)))
		names = append(names, fmt.Sprintf("locus definition %016x", h.Sum64()))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (d *definition) turn(l txn.Lease, name string) error {
	rows, err := l.Conn.Query(d.Conns.Waits(), fmt.Sprintf("SELECT GET_LOCK('%s', %d)", name, turnWait))
	if err != nil {
		return err
	}
	if len(rows.Rows) != 1 || string(rows.Rows[0][0]) != "1" {
		return wire.Errorf(mysql.ER_LOCK_WAIT_TIMEOUT, wire.StateGeneral, "another definition of the table has been running for %d seconds: try again when it has ended", turnWait)
	}
	return nil
}
