package copies

import (
	"context"
	"fmt"
	"slices"

	"locus/migrate/link"
	"locus/migrate/table"
)

// Filled counts the changed rows.
type Filled struct{ Written, Deleted int }

// Copy copies most of the first server's rows to the other one, while clients write on the first. Rows written
// meanwhile may be missing. No client may write on the other server. Fill copies the rest.
func (p *Pair) Copy(ctx context.Context) (f Filled, err error) {
	if err := p.carried(ctx); err != nil {
		return f, err
	}
	err = p.pass(ctx, func(keys []table.Key) error {
		_, err := p.transfer(ctx, keys, &f)
		if link.Duplicate(err) { // another row, changed since it was copied, has its unique value
			err = nil
		}
		return err
	})
	return f, err
}

// Fill makes the other server's rows equal to those of the first. The caller prevents clients from reading or writing the rows
// on the other server, and from committing on the first, until Fill returns. If Fill ends early, some rows are equal and some
// are not. It may be repeated at any time.
func (p *Pair) Fill(ctx context.Context) (f Filled, err error) {
	if err := p.carried(ctx); err != nil {
		return f, err
	}
	err = p.pass(ctx, func(keys []table.Key) error { return p.replace(ctx, keys, &f) })
	if !link.Duplicate(err) {
		return f, err
	}
	// A row that must be deleted or changed still has a unique value that another row needs.
	if err := p.pass(ctx, func(keys []table.Key) error { return p.remove(ctx, keys, &f) }); err != nil {
		return f, err
	}
	return f, p.pass(ctx, func(keys []table.Key) error { return p.replace(ctx, keys, &f) })
}

// carried refuses tables with values that their texts don't represent exactly.
func (p *Pair) carried(ctx context.Context) error {
	typed := p.Table.TypedInside()
	if typed == "" {
		return nil
	}
	rows, err := p.first.Query(ctx, "SELECT "+p.Table.KeyList()+" FROM "+p.Table.SQL()+" WHERE "+typed+" LIMIT 1")
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("table %s has JSON values with a DECIMAL, a time or bytes inside, which their text does not tell, such as in row %q: %s", p.Table.Name, rows[0], table.TypedRemedy)
	}
	return err
}

// pass calls take with the keys of differing rows, in batches.
func (p *Pair) pass(ctx context.Context, take func([]table.Key) error) error {
	some := atOnce
	if p.Table.Large() {
		some = 1
	}
	return p.walk(ctx, func(where string, _ sum) error {
		keys, err := p.suspects(ctx, where)
		if err != nil {
			return err
		}
		for keys := range slices.Chunk(keys, some) {
			if err := take(keys); err != nil {
				return fmt.Errorf("table %s: %w", p.Table.Name, err)
			}
		}
		return nil
	})
}

func (p *Pair) remove(ctx context.Context, keys []table.Key, f *Filled) error {
	o, err := p.other.Send(ctx, p.Table.AppendKeyIn(append(link.Begin(nil), "DELETE FROM "+p.Table.SQL()+" WHERE "...), keys))
	f.Deleted += int(o.Affected)
	return err
}

// transfer makes the other server have the same rows as the first for the given keys. It returns the condition
// for these keys.
func (p *Pair) transfer(ctx context.Context, keys []table.Key, f *Filled) (where string, err error) {
	if err := p.remove(ctx, keys, f); err != nil {
		return "", err
	}
	where = string(p.Table.AppendKeyIn(nil, keys))
	var rows []table.Row
	err = p.first.Each(ctx, "SELECT "+p.Table.ReadList()+" FROM "+p.Table.SQL()+" WHERE "+where, func(values [][]byte) error {
		r, err := p.Table.Canonical(values)
		rows = append(rows, r)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := p.insert(ctx, rows); err != nil {
		return "", err
	}
	f.Written += len(rows)
	return where, nil
}

// replace calls transfer and verifies the result.
func (p *Pair) replace(ctx context.Context, keys []table.Key, f *Filled) error {
	where, err := p.transfer(ctx, keys, f)
	if err != nil {
		return err
	}
	first, other, err := p.sums(ctx, where)
	if err == nil && first != other {
		err = fmt.Errorf("rows that were written are other rows then, such as key %s: a client writes without a proxy, or the server stores other values: check its sql_mode and triggers", keys[0].Short())
	}
	return err
}

// statementBytes bounds the size of a statement with more than one row.
const statementBytes = 1 << 20

func (p *Pair) insert(ctx context.Context, rows []table.Row) (err error) {
	if slices.ContainsFunc(rows, p.Table.Lax) {
		if _, err := p.other.Exec(ctx, "SET SESSION sql_mode = '"+link.Lax+"'"); err != nil {
			return err
		}
		defer func() {
			if _, reset := p.other.Exec(ctx, "SET SESSION sql_mode = '"+link.Strict+"'"); err == nil {
				err = reset
			}
		}()
	}
	for len(rows) > 0 {
		s := p.Table.AppendInsert(link.Begin(nil))
		n := 0
		for ; n < len(rows) && (n == 0 || len(s)+rows[n].Size() < statementBytes); n++ {
			if n > 0 {
				s = append(s, ',')
			}
			s = p.Table.AppendValues(s, rows[n])
		}
		if _, err := p.other.Send(ctx, s); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
