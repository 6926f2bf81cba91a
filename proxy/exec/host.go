package exec

import (
	"context"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

// Host is a shard's connection that has temporary tables for one statement. It is neither reserved nor the transaction's.
type Host struct {
	*Request
	At   txn.Lease
	made []string // temporary tables
}

// OnHost lends a connection for temporary tables, and takes those away again. It waits until few enough do so on the shard: each
// has a connection there while it takes others, and must not wait for those who wait for its own.
func (r *Request) OnHost(shard router.ShardName, use func(*Host) error) error {
	pool, ok := r.Conns.Pools.Pool(shard)
	if !ok {
		return txn.Unregistered(shard)
	}
	release, err := pool.Reserve(r.Conns.Waits())
	if err != nil {
		return err
	}
	defer release()
	h := &Host{Request: r}
	if h.At, err = r.Apart(shard, h.plain()); err != nil {
		return err
	}
	err = use(h)
	h.clean()
	return err
}

// plain are the settings under which rows are written: nothing of the session's may change a value.
func (h *Host) plain() *backend.Settings {
	return backend.Default.WithDatabase(h.Vars.Settings.Database()).
		With("sql_mode", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'").With("time_zone", "'+00:00'")
}

// Make makes a temporary table, by one statement after the other.
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

// Unread gives up the connection, whose answer is not wanted any more.
func (h *Host) Unread(why error) error {
	_ = h.At.Conn.Lost(true, txn.ErrUnread)
	return why
}

// clean takes the temporary tables away. A connection that may have some left is closed.
func (h *Host) clean() {
	if !h.At.Conn.Usable() || h.swept() != nil {
		h.At.Lost()
		return
	}
	h.At.Done(h.At.Conn.Status())
}

func (h *Host) swept() error {
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
	if err := h.At.Conn.Carry(ctx, h.plain()); err != nil { // READ ONLY among them, say
		return err
	}
	_, err := h.At.Conn.Own().Exec(ctx, "DROP TEMPORARY TABLE IF EXISTS "+strings.Join(h.made, ", "))
	return err
}
