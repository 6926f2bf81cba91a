package exec

import (
	"context"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

// workspace is a connection to a shard with temporary tables for one statement. It is neither reserved nor the transaction's.
type workspace struct {
	x     *Execution
	lease txn.Lease
	made  []string // temporary tables
}

// onWorkspace lends a connection for temporary tables, and drops the tables afterwards. It first waits for a reservation on the shard,
// which limits the number of workspaces. Each keeps a connection there while it takes others, so they could otherwise wait for each
// other's connections.
func (x *Execution) onWorkspace(shard router.ShardName, use func(*workspace) error) error {
	pool, ok := x.Conns.Pools.Pool(shard)
	if !ok {
		return txn.Unregistered(shard)
	}
	release, err := pool.Reserve(x.Conns.Waits())
	if err != nil {
		return err
	}
	defer release()
	w := &workspace{x: x}
	if w.lease, err = x.LendApart(shard, 0, w.plain()); err != nil {
		return err
	}
	err = use(w)
	w.clean()
	return err
}

// plain returns the settings under which rows are written. No setting of the session may change a value.
func (w *workspace) plain() *backend.Settings {
	return backend.Default.WithDatabase(w.x.Vars.Settings.Database()).
		With("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'").With("time_zone", "'+00:00'")
}

// create creates a temporary table by executing the statements in their order.
func (w *workspace) create(name string, texts ...string) error {
	w.made = append(w.made, name)
	for _, text := range texts {
		if _, err := w.lease.Conn.Own().Exec(w.x.Context, text); err != nil {
			return err
		}
	}
	return nil
}

// dropLast drops the temporary table that was made last.
func (w *workspace) dropLast() error {
	last := len(w.made) - 1
	_, err := w.lease.Conn.Own().Exec(w.x.Context, "DROP TEMPORARY TABLE "+w.made[last])
	if err == nil {
		w.made = w.made[:last]
	}
	return err
}

// giveUp gives up the connection, because its answer is not wanted any more. It returns why.
func (w *workspace) giveUp(why error) error {
	_ = w.lease.Conn.Lost(true, txn.ErrUnread)
	return why
}

// clean drops the temporary tables and ends the lease. A connection that may still have some is closed.
func (w *workspace) clean() {
	if !w.lease.Conn.Usable() || w.sweep() != nil {
		w.lease.Lost()
		return
	}
	w.lease.Done(w.lease.Conn.Status())
}

func (w *workspace) sweep() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.x.Context), txn.UndoTime)
	defer cancel()
	if w.lease.Conn.InTransaction() { // with autocommit off
		if _, err := w.lease.Conn.Own().Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
	}
	if len(w.made) == 0 {
		return nil
	}
	if err := w.lease.Conn.Carry(ctx, w.plain()); err != nil { // the session's settings may contain READ ONLY
		return err
	}
	_, err := w.lease.Conn.Own().Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+strings.Join(w.made, ", "))
	return err
}
