package transfers

import (
	"database/sql"
	"fmt"
	"testing"

	"locus/test/cluster"
)

// settled waits until no shard has a prepared branch, nor a decision to commit
// that is still needed.
func (b bank) settled(t *testing.T) {
	t.Helper()
	decisions := 0
	cluster.Until(t, "no branch is prepared", func() (bool, error) {
		branches := 0
		decisions = 0
		b.all(t, "XA RECOVER", func(*sql.Rows) error { branches++; return nil })
		b.all(t, "SELECT txn FROM locus.decision WHERE committed = 1", func(*sql.Rows) error { decisions++; return nil })
		return branches == 0, fmt.Errorf("%d branches are prepared", branches)
	})
	t.Logf("%d decisions wait to be removed", decisions)
}

// check compares the accounts with the journal, and the journal with the answers that clients got.
func (b bank) check(t *testing.T, outcomes map[int64]outcome) {
	t.Helper()
	want := map[int64]int64{}
	for uid := range int64(accounts) {
		want[uid] = balance
	}
	journal := map[int64]bool{}
	b.all(t, "SELECT transfer, uid, peer, amount FROM journal", func(rows *sql.Rows) error {
		var transfer, uid, peer, amount int64
		err := rows.Scan(&transfer, &uid, &peer, &amount)
		journal[transfer] = true
		want[uid] -= amount
		want[peer] += amount
		return err
	})
	var sum int64
	b.all(t, "SELECT uid, balance FROM account", func(rows *sql.Rows) error {
		var uid, have int64
		err := rows.Scan(&uid, &have)
		if have != want[uid] {
			t.Errorf("account %d has %d, by the journal %d", uid, have, want[uid])
		}
		sum += have
		delete(want, uid)
		return err
	})
	if sum != accounts*balance || len(want) > 0 {
		t.Errorf("all accounts have %d together, want %d; %d are missing", sum, accounts*balance, len(want))
	}
	counts := map[outcome]int{}
	for transfer, o := range outcomes {
		counts[o]++
		if o == committed && !journal[transfer] {
			t.Errorf("transfer %d was acknowledged, and is not there", transfer)
		}
		if o == rolledBack && journal[transfer] {
			t.Errorf("transfer %d was reported as rolled back, and is there", transfer)
		}
	}
	t.Logf("%d transfers: %d acknowledged, %d rolled back, %d unknown; %d in the journal",
		len(outcomes), counts[committed], counts[rolledBack], counts[unknown], len(journal))
	if counts[committed] < 100 {
		t.Errorf("only %d transfers were acknowledged", counts[committed])
	}
}
