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

	"locus/router"
	"locus/router/gene"
)

// checkTime bounds the search for an order of one table's operations.
const checkTime = 2 * time.Minute

// state is a row.
type state struct {
	there bool
	value int64
}

// model is a row of one server: operations happen one after the other.
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

// linearizable tells whether what clients saw of each row is what one server could
// have shown them, and says for which rows it is not.
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

// relevant leaves out writes of which it is unknown whether they happened and
// whose value nobody saw: what explains the others with them does so without.
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

// check holds everything that clients were told to each other and to what is on
// the servers at the end, and gives what is wrong.
func (w *world) check(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	wrong = append(wrong, r.wrong...)
	wrong = append(wrong, w.checkRegisters(t, r)...)
	wrong = append(wrong, w.checkItems(t, r)...)
	wrong = append(wrong, w.checkTransfers(t, r)...)
	return wrong
}

// owned tells whether a row is on the shard that owns its gene at the end.
func (w *world) owner(t *testing.T) func(shard int, g gene.Gene) bool {
	t.Helper()
	_, m := w.routes(t)
	return func(shard int, g gene.Gene) bool {
		return m.GenesOf(router.ShardName(fmt.Sprintf("s%d", shard))).Contains(g)
	}
}

func (w *world) checkRegisters(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	end, seen := r.now(), map[int64]int{}
	owns := w.owner(t)
	ops := slices.Clone(r.registers)
	w.all(t, "SELECT uid, value FROM register", func(shard int, rows *sql.Rows) error {
		op := operation{client: 99, kind: read, found: true, call: end, ends: end + 1}
		err := rows.Scan(&op.row, &op.value)
		seen[op.row]++
		if !owns(shard, gene.OfInt(op.row, gene.W16)) {
			wrong = append(wrong, fmt.Sprintf("register %d is on shard %d at the end", op.row, shard))
		}
		ops = append(ops, op)
		return err
	})
	for uid := range int64(registers) {
		if seen[uid] != 1 {
			wrong = append(wrong, fmt.Sprintf("register %d is there %d times at the end", uid, seen[uid]))
		}
	}
	return append(wrong, linearizable(ops, state{there: true})...)
}

func (w *world) checkItems(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	end := r.now()
	owns := w.owner(t)
	ops := slices.Clone(r.items)
	there, known := map[int64]int{}, map[int64]bool{}
	w.all(t, "SELECT item_id, uid, value, tag FROM item", func(shard int, rows *sql.Rows) error {
		var uid, tag int64
		op := operation{client: 99, kind: read, found: true, call: end, ends: end + 1}
		err := rows.Scan(&op.row, &uid, &op.value, &tag)
		there[op.row]++
		if !owns(shard, gene.OfInt(uid, gene.W16)) {
			wrong = append(wrong, fmt.Sprintf("item %d is on shard %d at the end", op.row, shard))
		}
		switch id, told := r.created[tag]; {
		case !told || id == -1 || id > 0 && id != op.row:
			wrong = append(wrong, fmt.Sprintf("item %d with tag %d: the client was told of %d", op.row, tag, id))
		case id > 0:
			ops = append(ops, op)
		}
		return err
	})
	for _, op := range r.items {
		if op.kind == insert && known[op.row] {
			wrong = append(wrong, fmt.Sprintf("item %d was made twice", op.row))
		}
		known[op.row] = known[op.row] || op.kind == insert
		if there[op.row] == 0 && op.kind == insert {
			ops = append(ops, operation{client: 99, row: op.row, kind: read, call: end, ends: end + 1})
		}
		if there[op.row] > 1 && op.kind == insert {
			wrong = append(wrong, fmt.Sprintf("item %d is there %d times at the end", op.row, there[op.row]))
		}
	}
	return append(wrong, linearizable(ops, state{})...)
}

func (w *world) checkTransfers(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	want, journal := map[int64]int64{}, map[int64]bool{}
	for uid := range int64(accounts) {
		want[uid] = balance
	}
	w.all(t, "SELECT transfer, uid, peer, amount FROM journal", func(_ int, rows *sql.Rows) error {
		var transfer, uid, peer, amount int64
		err := rows.Scan(&transfer, &uid, &peer, &amount)
		if journal[transfer] {
			wrong = append(wrong, fmt.Sprintf("transfer %d is there twice", transfer))
		}
		journal[transfer] = true
		want[uid] -= amount
		want[peer] += amount
		return err
	})
	var sum int64
	w.all(t, "SELECT uid, balance FROM account", func(_ int, rows *sql.Rows) error {
		var uid, have int64
		err := rows.Scan(&uid, &have)
		if have != want[uid] {
			wrong = append(wrong, fmt.Sprintf("account %d has %d, by the journal %d", uid, have, want[uid]))
		}
		sum += have
		return err
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
	until(t, "no branch is prepared", func() (bool, error) {
		branches := 0
		w.all(t, "XA RECOVER", func(int, *sql.Rows) error { branches++; return nil })
		return branches == 0, fmt.Errorf("%d are", branches)
	})
}
