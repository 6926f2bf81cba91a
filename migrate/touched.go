package migrate

import (
	"context"
	"fmt"

	"locus/migrate/checksum"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/gene"
)

// touched are the rows that a stream has brought changes of since the last
// comparison began: what has to be compared again before their genes change hands.
type touched struct {
	keys map[*table.Table]map[string]table.Key
	// tooMany: some were forgotten.
	tooMany bool
}

// mostTouched bounds how many rows are remembered.
const mostTouched = 200_000

// take adds what a stream has brought since it was last asked.
func (t *touched) take(from *stream) {
	keys, whole := from.TakeTouched()
	t.tooMany = t.tooMany || !whole
	n := 0
	for _, some := range t.keys {
		n += len(some)
	}
	for of, some := range keys {
		for _, k := range some {
			if n++; n > mostTouched {
				t.tooMany = true
				return
			}
			if t.keys == nil {
				t.keys = map[*table.Table]map[string]table.Key{}
			}
			if t.keys[of] == nil {
				t.keys[of] = map[string]table.Key{}
			}
			t.keys[of][string(k.Encode())] = k
		}
	}
}

// of takes out those of genes, and those whose keys don't tell their gene.
func (t *touched) of(genes gene.Set) map[*table.Table][]table.Key {
	out := map[*table.Table][]table.Key{}
	for of, some := range t.keys {
		for name, k := range some {
			g, tells := of.GeneOfKey(k)
			if tells && !genes.Contains(g) {
				continue
			}
			out[of] = append(out[of], k)
			delete(some, name)
		}
	}
	return out
}

// recheck compares the rows of a step's genes that changed since they were last
// compared. Before the fence it leaves little to be compared within.
func (h *handover) recheck(ctx context.Context) error {
	h.touched.take(h.receiver)
	switch {
	case !h.touched.tooMany:
	case h.to == h.read.Job.From: // going back must not have to wait for a comparison
		return nil
	default:
		return fmt.Errorf("too many rows have changed since the last comparison, or it is not known which")
	}
	keys := h.touched.of(h.genes)
	if len(keys) == 0 {
		return nil
	}
	result, err := checksum.New(h.comparison(h.genes), h.receiver).Recheck(ctx, h.atGiver, h.atReceiver, keys)
	switch {
	case err != nil:
	case len(result.Differences) > 0:
		return problemText("the servers differ in %d rows or more, such as %s", len(result.Differences), result.Differences[0])
	case result.Unsettled > 0:
		err = fmt.Errorf("%d rows changed too often to be compared", result.Unsettled)
	default:
		return nil
	}
	h.touched.tooMany = true // those that were taken out are not compared
	return err
}

// comparison is of genes of the giver with the receiver's.
func (h *handover) comparison(genes gene.Set) checksum.Config {
	return checksum.Config{
		Job: h.id + "/step", Source: h.giver, Target: h.receiverAt(), Tables: h.tables, Parts: table.Split(genes, 1),
	}
}

func (h *handover) receiverAt() link.Server {
	if h.giver == h.source {
		return h.target
	}
	return h.source
}
