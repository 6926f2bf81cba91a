package copies

import (
	"context"
	"errors"
	"slices"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Difference is the result of a comparison.
type Difference struct {
	// Keys lists the rows that differ permanently, in no particular order.
	Keys []table.Key
	// Beyond is the number of further rows that differed when they were read once, after enough rows were
	// found.
	Beyond int
	// Unsettled is the number of rows that a client was writing at each check.
	Unsettled int
	// Rows is the number of compared rows on the other server.
	Rows uint64
}

// Equal reports whether all rows were compared and are equal.
func (d Difference) Equal() bool { return len(d.Keys) == 0 && d.Unsettled == 0 }

// Compare compares all rows while clients write them. After most differing rows it only counts further ones. If
// most is 0, it ends at the first piece with differing rows.
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

// atOnce is the number of keys in one query.
const atOnce = 500

// settle determines which of the suspect rows differ permanently.
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

// held compares a row while it is locked. settled is false if another transaction held the row for too long.
func (p *Pair) held(ctx context.Context, k table.Key) (same, settled bool, err error) {
	for range looks {
		same, settled, err = p.heldOnce(ctx, k)
		if settled || err != nil && !link.Transient(err) {
			return same, settled, err
		}
	}
	return false, false, nil
}

// heldOnce locks the row on the first server, then on the other. A write on the first server is then committed
// on the other one too. A missing row can't be locked on every server, so heldOnce reads the first server
// again.
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
