package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/migrate/link"
)

// AwaitPrepared waits until a server has no prepared transaction from before the call. Prepared transactions
// lock rows that are about to change hands or to be repaired.
func AwaitPrepared(ctx context.Context, c *link.Conn, addr string) error {
	waited, err := prepared(ctx, c)
	if err != nil {
		return err
	}
	for len(waited) > 0 {
		if err := pause(ctx, fleetLook/10); err != nil {
			return fmt.Errorf("prepared transaction %q on %s is not decided: %w", slices.Sorted(maps.Keys(waited)), addr, context.Cause(ctx))
		}
		now, err := prepared(ctx, c)
		if err != nil {
			return err
		}
		maps.DeleteFunc(waited, func(name string, _ bool) bool { return !now[name] })
	}
	return nil
}

// prepared returns the names of the branches that are prepared on a server.
func prepared(ctx context.Context, c *link.Conn) (map[string]bool, error) {
	rows, err := c.Query(ctx, "XA RECOVER")
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, row := range rows {
		parts := make([]string, len(row))
		for i, v := range row {
			parts[i] = string(v)
		}
		names[strings.Join(parts, " ")] = true
	}
	return names, nil
}
