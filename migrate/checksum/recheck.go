package checksum

import (
	"context"
	"errors"
	"fmt"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Recheck compares rows by their keys, such as those that changed since a whole
// comparison began, over connections to both servers. Nothing is written down.
func (v *Verifier) Recheck(ctx context.Context, source, target *link.Conn, keys map[*table.Table][]table.Key) (Result, error) {
	fresh := New(v.config, v.stream)
	for t, some := range keys {
		lane := table.Lane{Table: t, Genes: v.config.Parts.All()}
		w := &walk{Verifier: fresh, lane: lane, source: source, target: target}
		if err := w.settle(ctx, some); err != nil && !errors.Is(err, errEnough) {
			return fresh.result, fmt.Errorf("compare %d rows of %s: %w", len(some), t.Name, err)
		}
	}
	return fresh.result, nil
}
