package checksum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Recheck compares rows by key over connections to both servers, for example rows that changed since a full comparison
// began. It records nothing. Statements may be held meanwhile, so rows that are equal at first sight are not checked
// again.
func (v *Verifier) Recheck(ctx context.Context, source, target *link.Conn, keys map[*table.Table][]table.Key) (Result, error) {
	fresh := New(v.config, v.stream)
	fresh.config.Repair = nil
	for t, some := range keys {
		lane := table.Lane{Table: t, Genes: v.config.Parts.All()}
		w := &walk{Verifier: fresh, lane: lane, source: source, target: target}
		if err := w.recheck(ctx, some); err != nil {
			return fresh.result, fmt.Errorf("compare %d rows of %s: %w", len(some), t.Name, err)
		}
	}
	return fresh.result, nil
}

func (w *walk) recheck(ctx context.Context, keys []table.Key) error {
	for group := range slices.Chunk(keys, w.atOnce()) {
		left, err := w.glance(ctx, group)
		if err != nil {
			return err
		}
		if err := w.settle(ctx, left); err != nil {
			return err
		}
	}
	return nil
}

// glance reads rows at both servers concurrently and returns the keys of those that differ.
func (w *walk) glance(ctx context.Context, keys []table.Key) ([]table.Key, error) {
	var source map[string]table.Row
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() { source, failed = w.read(ctx, w.source, keys) })
	target, err := w.read(ctx, w.target, keys)
	reading.Wait()
	if err := errors.Join(failed, err); err != nil {
		return nil, err
	}
	var left []table.Key
	for _, k := range keys {
		if id := k.Encode(); !same(source[string(id)], target[string(id)]) {
			left = append(left, k)
		}
	}
	return left, nil
}
