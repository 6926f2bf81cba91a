package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locus/migrate/link"
)

// outside reports whether the old owner is a server outside of the cluster. Its clients don't use the proxies, so the route
// map doesn't affect them.
func (h *handover) outside() bool { return h.forward && h.read.Job.Outside() != nil }

// lock is the fence of a source outside of the cluster. It waits until running transactions have committed.
// From then on, all reads and writes of the tables block until the connection is closed, also if this process
// dies. It takes write locks, so that this connection can still set the genes of the last rows.
func (h *handover) lock(ctx context.Context) error {
	c := h.passes[0].atOld
	var tables []string
	for _, t := range h.passes[0].leg.shards.tables {
		tables = append(tables, t.SQL()+" WRITE")
	}
	// Statements that come after a waiting lock wait too. If a transaction runs for longer than this limit, the
	// step is given up.
	if _, err := c.Exec(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	for _, p := range h.passes[1:] {
		hangUp(p.atOld)
		p.atOld = c
	}
	h.locked, h.fenced = c, time.Now()
	if _, err := c.Exec(ctx, "LOCK TABLES "+strings.Join(tables, ", ")); err != nil {
		if link.Transient(err) {
			return fmt.Errorf("lock the tables at %s: a transaction there goes on that has used them: %w", h.passes[0].old.Addr, err)
		}
		return fmt.Errorf("lock the tables at %s: %w", h.passes[0].old.Addr, err)
	}
	if f := h.move.owners.filler; f != nil {
		f.holds(c)
	}
	return AwaitPrepared(ctx, c, h.passes[0].old.Addr)
}
