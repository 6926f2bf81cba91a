package exec

import (
	"context"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

// Host is a connection to a shard with temporary tables for one statement. It is neither reserved nor the transaction's.
type Host struct {
	*Execution
	At   txn.Lease
	made []string // temporary tables
}

// OnHost lends a connection for temporary tables, and drops the tables afterwards. It first waits for a reservation on the shard,
// which limits the number of hosts. Each host keeps a connection there while it takes others, so hosts could otherwise wait for
// each other's connections.
func (x *Execution) OnHost(shard router.ShardName, use func(*Host) error) error {
	pool, ok := x.Conns.Pools.Pool(shard)
	if !ok {
		return txn.Unregistered(shard)
	}
	release, err := pool.Reserve(x.Conns.Waits())
	if err != nil {
		return err
	}
	defer release()
	h := &Host{Execution: x}
	if h.At, err = x.LendApart(shard, 0, h.plain()); err != nil {
		return err
	}
	err = use(h)
	h.clean()
	return err
}

// plain returns the settings under which rows are written. No setting of the session may change a value.
func (h *Host) plain() *backend.Settings {
	return backend.Default.WithDatabase(h.Vars.Settings.Database()).
		With("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'").With("time_zone", "'+00:00'")
}

// Make creates a temporary table by executing the statements in their order.
func (h *Host) Make(name string, texts ...string) error {
	h.made = append(h.made, name)
	for _, text := range texts {
		if _, err := h.At.Conn.Own().Exec(h.Context, text); err != nil {
			return err
		}
	}
	return nil
}

// Unmake drops the temporary table that was made last.
func (h *Host) Unmake() error {
	last := len(h.made) - 1
	_, err := h.At.Conn.Own().Exec(h.Context, "DROP TEMPORARY TABLE "+h.made[last])
	if err == nil {
		h.made = h.made[:last]
	}
	return err
}

// Unread gives up the connection, because its answer is not wanted any more. It returns why.
func (h *Host) Unread(why error) error {
	_ = h.At.Conn.Lost(true, txn.ErrUnread)
	return why
}

// clean drops the temporary tables and ends the lease. A connection that may still have some is closed.
func (h *Host) clean() {
	if !h.At.Conn.Usable() || h.sweep() != nil {
		h.At.Lost()
		return
	}
	h.At.Done(h.At.Conn.Status())
}

func (h *Host) sweep() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.Context), txn.UndoTime)
	defer cancel()
	if h.At.Conn.InTransaction() { // with autocommit off
		if _, err := h.At.Conn.Own().Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
	}
	if len(h.made) == 0 {
		return nil
	}
	if err := h.At.Conn.Carry(ctx, h.plain()); err != nil { // the session's settings may contain READ ONLY
		return err
	}
	_, err := h.At.Conn.Own().Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+strings.Join(h.made, ", "))
	return err
}
