package checksum

import (
	"context"
	"fmt"
	"strconv"

	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// walk is the traversal of a lane.
type walk struct {
	*Verifier
	lane           table.Lane
	source, target *link.Conn
	state          checkpoint.Lane
	clean          bool // no difference so far
}

// lane compares one lane to its end.
func (v *Verifier) lane(ctx context.Context, l table.Lane, state checkpoint.Lane) error {
	through, err := table.DecodeKey(state.Through, len(l.Table.Key.Columns))
	if err != nil {
		return err
	}
	w := &walk{Verifier: v, lane: l, state: state, clean: true}
	if w.source, err = link.Dial(ctx, v.config.Source); err != nil {
		return err
	}
	defer w.source.Close()
	if w.target, err = link.Dial(ctx, v.config.Target); err != nil {
		return err
	}
	defer w.target.Close()
	for step := l.Walk(through); ; {
		if v.config.Throttle != nil {
			if err := v.config.Throttle(ctx); err != nil {
				return err
			}
		}
		upTo, err := w.end(ctx, step)
		if err != nil {
			return err
		}
		if err := w.piece(ctx, l.Within(step, upTo)); err != nil {
			return err
		}
		if upTo != nil {
			through, step = upTo, l.Walk(upTo)
		} else if !step.Last {
			step = l.Beyond(step, through)
		} else {
			return w.note(ctx, through, true)
		}
		if err := w.note(ctx, through, false); err != nil {
			return err
		}
	}
}

// end returns the last key of the next piece, or nil if the rest of the step is one piece.
func (w *walk) end(ctx context.Context, s table.Step) (table.Key, error) {
	t := w.lane.Table
	rows, err := w.source.Query(ctx, "SELECT "+t.KeyList()+" FROM "+t.SQL()+" WHERE "+s.Where+t.Order()+
		" LIMIT 1 OFFSET "+strconv.Itoa(w.config.PieceRows-1))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// note records how far the lane is equal, but not beyond the first difference, so that a resumed comparison finds it
// again.
func (w *walk) note(ctx context.Context, through table.Key, done bool) error {
	if !w.clean {
		return nil
	}
	w.state.Through, w.state.Done = through.Encode(), done
	_, err := w.target.Exec(ctx, checkpoint.LaneSQL(w.config.Job, checkpoint.Verify, w.lane.Name(), w.state))
	if err != nil {
		return fmt.Errorf("write how far is compared: %w", err)
	}
	return nil
}

// sum is one server's checksum of a piece.
type sum struct{ rows, high, low string }

func (w *walk) sum(ctx context.Context, c *link.Conn, where string) (sum, error) {
	t := w.lane.Table
	rows, err := c.Query(ctx, "SELECT COUNT(*), BIT_XOR(CAST(CONV(LEFT(d,16),16,10) AS UNSIGNED)), BIT_XOR(CAST(CONV(RIGHT(d,16),16,10) AS UNSIGNED))"+
		" FROM (SELECT "+t.Digest()+" AS d FROM "+t.SQL()+" WHERE "+where+") rows_of_piece")
	if err != nil {
		return sum{}, err
	}
	return sum{string(rows[0][0]), string(rows[0][1]), string(rows[0][2])}, nil
}

// piece compares one piece.
func (w *walk) piece(ctx context.Context, where string) error {
	s, err := w.sum(ctx, w.source, where)
	if err != nil {
		return fmt.Errorf("at the source: %w", err)
	}
	t, err := w.sum(ctx, w.target, where)
	if err != nil {
		return fmt.Errorf("at the target: %w", err)
	}
	n, err := strconv.ParseInt(s.rows, 10, 64)
	if err != nil {
		return err
	}
	w.compared(w.lane.Table, n)
	w.state.Rows += uint64(n)
	if s == t {
		return nil
	}
	keys, err := w.suspects(ctx, where)
	if err != nil {
		return err
	}
	return w.settle(ctx, keys)
}

// suspects returns the keys whose rows differed when first read.
func (w *walk) suspects(ctx context.Context, where string) ([]table.Key, error) {
	target := map[string]string{}
	err := w.digests(ctx, w.target, where, func(k table.Key, digest string) { target[string(k.Encode())] = digest })
	if err != nil {
		return nil, fmt.Errorf("at the target: %w", err)
	}
	var keys []table.Key
	err = w.digests(ctx, w.source, where, func(k table.Key, digest string) {
		id := string(k.Encode())
		if other, there := target[id]; !there || other != digest {
			keys = append(keys, k)
		}
		delete(target, id)
	})
	if err != nil {
		return nil, fmt.Errorf("at the source: %w", err)
	}
	for id := range target {
		k, err := table.DecodeKey([]byte(id), len(w.lane.Table.Key.Columns))
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func (w *walk) digests(ctx context.Context, c *link.Conn, where string, take func(k table.Key, digest string)) error {
	t := w.lane.Table
	return c.Each(ctx, "SELECT "+t.KeyList()+","+t.Digest()+" FROM "+t.SQL()+" WHERE "+where, func(values [][]byte) error {
		last := len(values) - 1
		take(values[:last:last], string(values[last]))
		return nil
	})
}
