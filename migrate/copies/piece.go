package copies

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"locus/migrate/link"
	"locus/migrate/table"
)

// pieceRows is the number of rows that one query compares.
const pieceRows = 5000

// piece is the range of rows above one key, up to and including another. nil represents an end of the table.
type piece struct{ above, upTo table.Key }

func (p *Pair) where(s piece) string {
	switch {
	case s.above == nil && s.upTo == nil:
		return "TRUE"
	case s.upTo == nil:
		return p.Table.Beyond(s.above)
	case s.above == nil:
		return "NOT " + p.Table.Beyond(s.upTo)
	}
	return p.Table.Beyond(s.above) + " AND NOT " + p.Table.Beyond(s.upTo)
}

// errStop ends a walk early.
var errStop = errors.New("enough is known")

// walk divides the table into pieces by the first server's keys, and calls differing for each piece that
// differs.
func (p *Pair) walk(ctx context.Context, differing func(where string, other sum) error) error {
	p.rows = 0
	for s := (piece{}); ; s = (piece{above: s.upTo}) {
		end, err := p.first.Query(ctx, "SELECT "+p.Table.KeyList()+" FROM "+p.Table.SQL()+" WHERE "+p.where(s)+p.Table.Order()+" LIMIT 1 OFFSET "+strconv.Itoa(pieceRows-1))
		if err != nil {
			return err
		}
		if len(end) > 0 {
			s.upTo = end[0]
		}
		where := p.where(s)
		first, other, err := p.sums(ctx, where)
		if err != nil {
			return err
		}
		p.rows += other.rows
		if first != other {
			if err := differing(where, other); errors.Is(err, errStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if s.upTo == nil {
			return nil
		}
	}
}

// sum is one server's checksum of a piece.
type sum struct {
	rows      uint64
	high, low string
}

// sums queries both servers concurrently.
func (p *Pair) sums(ctx context.Context, where string) (first, other sum, err error) {
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() { first, failed = p.sum(ctx, p.first, where) })
	other, err = p.sum(ctx, p.other, where)
	asking.Wait()
	return first, other, errors.Join(failed, err)
}

func (p *Pair) sum(ctx context.Context, c *link.Conn, where string) (sum, error) {
	rows, err := c.Query(ctx, "SELECT COUNT(*), BIT_XOR(CAST(CONV(LEFT(d,16),16,10) AS UNSIGNED)), BIT_XOR(CAST(CONV(RIGHT(d,16),16,10) AS UNSIGNED))"+
		" FROM (SELECT "+p.Table.Digest()+" AS d FROM "+p.Table.SQL()+" WHERE "+where+") rows_of_piece")
	if err != nil {
		return sum{}, err
	}
	n, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	return sum{n, string(rows[0][1]), string(rows[0][2])}, err
}

// digests returns the digests of a server's rows that match a condition, by key.
func (p *Pair) digests(ctx context.Context, c *link.Conn, where string) (map[string]string, error) {
	found := map[string]string{}
	err := c.Each(ctx, "SELECT "+p.Table.KeyList()+","+p.Table.Digest()+" FROM "+p.Table.SQL()+" WHERE "+where, func(values [][]byte) error {
		last := len(values) - 1
		found[string(table.Key(values[:last]).Encode())] = string(values[last])
		return nil
	})
	return found, err
}

// suspects returns the keys of rows that differed when they were read once.
func (p *Pair) suspects(ctx context.Context, where string) ([]table.Key, error) {
	first, err := p.digests(ctx, p.first, where)
	if err != nil {
		return nil, err
	}
	other, err := p.digests(ctx, p.other, where)
	if err != nil {
		return nil, err
	}
	var ids []string
	for id, digest := range first {
		if other[id] != digest {
			ids = append(ids, id)
		}
		delete(other, id)
	}
	ids = slices.AppendSeq(ids, maps.Keys(other))
	slices.Sort(ids) // sorted, so that the same rows are reported each time
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		if keys[i], err = table.DecodeKey([]byte(id), len(p.Table.Key.Columns)); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
