package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locus/migrate/link"
)

// outside tells whether what is handed over is on a server outside of the cluster, where nobody obeys a map.
func (h *handover) outside() bool { return h.forward && h.read.Job.Outside() != nil }

// lock is the fence of a source outside of the cluster: all that would write there waits, as all reads, from when what had been
// written is committed until the connection is closed, be it because this process dies. The lock is on writing, so that the last
// rows can be given their genes; nobody else can ask for rows then.
func (h *handover) lock(ctx context.Context) error {
	c := h.passes[0].atGiver
	var tables []string
	for _, t := range h.passes[0].leg.shards.tables {
		tables = append(tables, t.SQL()+" WRITE")
	}
	// Whoever comes after a lock that waits does so too: of a transaction that goes on for longer the step is given up.
	if _, err := c.Exec(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	for _, p := range h.passes[1:] {
		hangUp(p.atGiver)
		p.atGiver = c
	}
	h.locked, h.fenced = c, time.Now()
	if _, err := c.Exec(ctx, "LOCK TABLES "+strings.Join(tables, ", ")); err != nil {
		if link.Transient(err) {
			return fmt.Errorf("lock the tables at %s: a transaction there goes on that has used them: %w", h.passes[0].giver.Addr, err)
		}
		return fmt.Errorf("lock the tables at %s: %w", h.passes[0].giver.Addr, err)
	}
	if f := h.move.owners.filler; f != nil {
		f.holds(c)
	}
	return AwaitPrepared(ctx, c, h.passes[0].giver.Addr)
}
