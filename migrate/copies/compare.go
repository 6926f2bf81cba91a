package copies

import (
	"context"
	"errors"
	"slices"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Difference is what a comparison found.
type Difference struct {
	// Keys are those of rows that are not the same and stay so, in no order that means something.
	Keys []table.Key
	// Beyond is how many more looked different once enough were found: they were read once.
	Beyond int
	// Unsettled are rows that somebody was writing whenever they were looked at.
	Unsettled int
	// Rows is how many the other server has of those that were compared.
	Rows uint64
}

// Equal tells whether all rows were compared and are the same.
func (d Difference) Equal() bool { return len(d.Keys) == 0 && d.Unsettled == 0 }

// Compare compares all rows, while they are written. Once as many as most were found to differ, others are counted; with most at 0
// it ends at the first piece in which rows differ.
func (p *Pair) Compare(ctx context.Context, most int) (d Difference, err error) {
	err = p.walk(ctx, func(where string, _ sum) error {
		keys, err := p.suspects(ctx, where)
		if err != nil {
			return err
		}
		if most > 0 && len(d.Keys) >= most {
			d.Beyond += len(keys)
			return nil
		}
		if err := p.settle(ctx, keys, max(most, 1), &d); err != nil {
			return err
		}
		if most == 0 && !d.Equal() {
			return errStop
		}
		return nil
	})
	d.Rows = p.rows
	return d, err
}

// atOnce is how many keys are asked for at a time.
const atOnce = 500

// settle finds out which of the suspects differ and stay so.
func (p *Pair) settle(ctx context.Context, keys []table.Key, most int, d *Difference) error {
	for look := range looks {
		if len(keys) == 0 {
			return nil
		}
		if look > 0 {
			if err := pause(ctx, again); err != nil {
				return err
			}
		}
		var left []table.Key
		for some := range slices.Chunk(keys, atOnce) {
			differ, err := p.suspects(ctx, string(p.Table.AppendKeyIn(nil, some)))
			if err != nil {
				return err
			}
			left = append(left, differ...)
		}
		keys = left
	}
	for i, k := range keys {
		if len(d.Keys) >= most {
			d.Beyond += len(keys) - i
			return nil
		}
		switch same, settled, err := p.held(ctx, k); {
		case err != nil:
			return err
		case !settled:
			d.Unsettled++
		case !same:
			d.Keys = append(d.Keys, k)
		}
	}
	return nil
}

// held compares a row while nobody can write it. Not settled: somebody held it for too long.
func (p *Pair) held(ctx context.Context, k table.Key) (same, settled bool, err error) {
	for range looks {
		same, settled, err = p.heldOnce(ctx, k)
		if settled || err != nil && !link.Transient(err) {
			return same, settled, err
		}
	}
	return false, false, nil
}

// heldOnce locks the row on the first server, and then on the other: what was written there is committed by then. A row that is not
// there can't be locked everywhere, so the first server is asked again.
func (p *Pair) heldOnce(ctx context.Context, k table.Key) (same, settled bool, err error) {
	for _, c := range []*link.Conn{p.first, p.other} {
		if _, err := c.Exec(ctx, "START TRANSACTION"); err != nil {
			return false, false, err
		}
		defer func() {
			if c.Broken() == nil {
				_, ended := c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
				err = errors.Join(err, ended)
			}
		}()
	}
	where := string(p.Table.AppendKeyIn(nil, []table.Key{k})) + " LOCK IN SHARE MODE"
	var seen [3]string
	for i, c := range []*link.Conn{p.first, p.other, p.first} {
		found, err := p.digests(ctx, c, where)
		if err != nil {
			return false, false, err
		}
		seen[i] = found[string(k.Encode())]
	}
	return seen[0] == seen[1], seen[0] == seen[2], nil
}
