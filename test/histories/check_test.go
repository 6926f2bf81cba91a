package histories

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"locus/idgen/gene"
	harness "locus/test/cluster"
)

// checkTime bounds the search for an order of one table's operations.
const checkTime = 2 * time.Minute

// state is a row.
type state struct {
	there bool
	value int64
}

// model is a row on a single server, on which operations happen one after the other.
func model(first state) porcupine.Model {
	return porcupine.Model{
		Init:  func() any { return first },
		Step:  step,
		Equal: func(a, b any) bool { return a == b },
	}
}

func step(before, input, _ any) (bool, any) {
	s, op := before.(state), input.(operation)
	switch op.kind {
	case insert:
		return !s.there, state{true, op.value}
	case read:
		return op.found == s.there && (!op.found || op.value == s.value), s
	case write, remove:
	}
	if !op.unknown && op.found != s.there {
		return false, s
	}
	switch {
	case !s.there:
		return true, s
	case op.kind == remove:
		return true, state{}
	}
	return true, state{true, op.value}
}

// linearizable checks whether a single server could have given the clients the same answers. It returns a text for each row
// for which that is impossible.
func linearizable(ops []operation, first state) (wrong []string) {
	rows := map[int64][]operation{}
	for _, op := range ops {
		rows[op.row] = append(rows[op.row], op)
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		ops := relevant(rows[row])
		history := make([]porcupine.Operation, len(ops))
		for i, op := range ops {
			history[i] = porcupine.Operation{ClientId: op.client, Input: op, Call: op.call, Output: op, Return: op.ends}
		}
		if result := porcupine.CheckOperationsTimeout(model(first), history, checkTime); result != porcupine.Ok {
			wrong = append(wrong, fmt.Sprintf("row %d, of gene %s: no order of its %d operations explains them (%s)%s",
				row, gene.OfInt(row, gene.W16).Format(gene.W16), len(ops), result, suspects(ops)))
		}
	}
	return wrong
}

// relevant omits writes whose effect is unknown and whose value no client saw. They don't help to explain the other
// operations.
func relevant(ops []operation) []operation {
	seen := map[int64]bool{}
	for _, op := range ops {
		if op.kind == read && op.found {
			seen[op.value] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(ops), func(op operation) bool { return op.kind == write && op.unknown && !seen[op.value] })
}

// suspects names reads of a value after a later one was read or written.
func suspects(ops []operation) string {
	ops = slices.Clone(ops)
	slices.SortFunc(ops, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	written := map[int64]operation{}
	for _, op := range ops {
		if op.kind == write || op.kind == insert {
			written[op.value] = op
		}
	}
	for i, op := range ops {
		if op.kind != read || !op.found {
			continue
		}
		for _, before := range ops[:i] {
			if before.kind == write && !before.unknown && before.ends < op.call && before.value != op.value && before.call > written[op.value].ends && written[op.value].ends > 0 {
				return fmt.Sprintf("; such as the read of %d at %v, after %d was acknowledged at %v", op.value, time.Duration(op.call), before.value, time.Duration(before.ends))
			}
		}
	}
	return ""
}

// check compares all answers that clients received with each other and with the rows at the end, and returns
// the errors.
func (w *world) check(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	return slices.Concat(r.wrong, w.checkRegisters(t, r), w.checkItems(t, r), w.checkTransfers(t, r), w.checkSeats(t, r), w.checkTickets(t, r))
}

// strays returns the rows on shards that don't own them, when no move is active.
func (w *world) strays(t *testing.T) (wrong []string) {
	t.Helper()
	tables := []string{"register", "item", "account", "journal"}
	if w.hot == nil {
		tables = append(tables, "seat", "ticket", "stub")
	}
	for _, table := range tables {
		if n := w.rows(t, "0, 0, 0, 0", table, func([4]int64) {}); n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d rows of %s are on a shard that does not own them", n, table))
		}
	}
	if w.hot != nil {
		wrong = append(wrong, w.hot.strays(t, w)...)
	}
	return wrong
}

func (w *world) checkRegisters(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	end, seen := r.now(), map[int64]int{}
	ops := slices.Clone(r.registers)
	w.rows(t, "number, value, 0, 0", "register", func(row [4]int64) {
		seen[row[0]]++
		ops = append(ops, operation{client: theEnd, row: row[0], kind: read, found: true, value: row[1], call: end, ends: end + 1})
	})
	for uid := range int64(registers) {
		if seen[uid] != 1 {
			wrong = append(wrong, fmt.Sprintf("register %d is there %d times at the end", uid, seen[uid]))
		}
	}
	return append(wrong, linearizable(ops, state{there: true})...)
}

// theEnd is the client that reads everything at the end.
const theEnd = 99

func (w *world) checkItems(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	end := r.now()
	ops := slices.Clone(r.items)
	there := map[int64]int{}
	w.rows(t, "uid, item_id, value, tag", "item", func(row [4]int64) {
		id, tag := row[1], row[3]
		there[id]++
		switch told, known := r.created[tag]; {
		case !known || told == -1 || told > 0 && told != id:
			wrong = append(wrong, fmt.Sprintf("item %d with tag %d: the client was told of %d", id, tag, told))
		case told > 0:
			ops = append(ops, operation{client: theEnd, row: id, kind: read, found: true, value: row[2], call: end, ends: end + 1})
		}
	})
	made := map[int64]bool{}
	for _, op := range r.items {
		if op.kind != insert {
			continue
		}
		switch n := there[op.row]; {
		case made[op.row]:
			wrong = append(wrong, fmt.Sprintf("item %d was made twice", op.row))
		case n > 1:
			wrong = append(wrong, fmt.Sprintf("item %d is there %d times at the end", op.row, n))
		case n == 0:
			ops = append(ops, operation{client: theEnd, row: op.row, kind: read, call: end, ends: end + 1})
		}
		made[op.row] = true
	}
	return append(wrong, linearizable(ops, state{})...)
}

func (w *world) checkTransfers(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	want, journal := map[int64]int64{}, map[int64]bool{}
	for uid := range int64(accounts) {
		want[uid] = balance
	}
	w.rows(t, "number, transfer, peer, amount", "journal", func(row [4]int64) {
		if journal[row[1]] {
			wrong = append(wrong, fmt.Sprintf("transfer %d is there twice", row[1]))
		}
		journal[row[1]] = true
		want[row[0]] -= row[3]
		want[row[2]] += row[3]
	})
	var sum int64
	w.rows(t, "number, balance, 0, 0", "account", func(row [4]int64) {
		if row[1] != want[row[0]] {
			wrong = append(wrong, fmt.Sprintf("account %d has %d, by the journal %d", row[0], row[1], want[row[0]]))
		}
		sum += row[1]
	})
	if sum != accounts*balance {
		wrong = append(wrong, fmt.Sprintf("all accounts have %d together, want %d", sum, accounts*balance))
	}
	for transfer, o := range r.transfers {
		if o == committed && !journal[transfer] {
			wrong = append(wrong, fmt.Sprintf("transfer %d was acknowledged, and is not there", transfer))
		}
		if o == rolledBack && journal[transfer] {
			wrong = append(wrong, fmt.Sprintf("transfer %d was reported as rolled back, and is there", transfer))
		}
	}
	return wrong
}

// settled waits until no shard has a prepared branch.
func (w *world) settled(t *testing.T) {
	t.Helper()
	harness.Until(t, "no branch is prepared", func() (bool, error) {
		branches := 0
		w.All(t, "XA RECOVER", func(int, *sql.Rows) error { branches++; return nil })
		return branches == 0, fmt.Errorf("%d are", branches)
	})
}
