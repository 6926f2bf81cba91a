package session

import (
	"testing"
	"time"

	"locus/test/shop"
)

// Only the server knows why a statement waits. Every client can read that in the process list.
func TestTheProcessListSaysWhatAStatementWaitsFor(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.proxy.must(t, "CREATE TABLE waited (id INT)")
		p.proxy.must(t, "BEGIN")
		p.proxy.must(t, "INSERT INTO waited VALUES (1)")
		other := open(t, "another", p.shop.DB(t, nil))
		dropped := make(chan string, 1)
		go func() { dropped <- other.say("DROP TABLE waited") }()

		p.waits(t, "Waiting for table metadata lock", "DROP TABLE waited")
		p.proxy.must(t, "COMMIT")
		if got := <-dropped; got != "" {
			t.Errorf("the table's end: %s", got)
		}

		p.proxy.must(t, "SELECT GET_LOCK('waited', 0)")
		locked := make(chan string, 1)
		go func() { locked <- other.value(t, " SELECT GET_LOCK('waited', 60); ") }()
		p.waits(t, "User lock", "SELECT GET_LOCK('waited', 60)")
		p.proxy.must(t, "SELECT RELEASE_LOCK('waited')")
		if got := <-locked; got != "1" {
			t.Errorf("the lock: %s", got)
		}
	})
}

// waits waits until the list shows one statement in a state.
func (p *pair) waits(t *testing.T, state, statement string) {
	t.Helper()
	const query = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = ? AND info = ?"
	found := "0"
	for until := time.Now().Add(20 * time.Second); found == "0" && time.Now().Before(until); {
		found = p.proxy.value(t, query, state, statement)
	}
	if found != "1" {
		t.Errorf("%s statements are in state %s; the list: %s", found, state, p.proxy.say("SHOW FULL PROCESSLIST"))
	}
}
