package session_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/txn"
)

// Limits of how often one shard is sent one statement of a client, whatever is lost. A read is sent again only if no row has gone to the client:
// three times, and a fourth time if every other shard that could answer is lost too. A write or a COMMIT is never sent again, because its effect may
// have happened.
const (
	mostReads   = 5
	mostWrites  = 1
	mostCommits = 1
)

// faultScripts contains the commands that the clients send.
var faultScripts = map[string]string{
	"a read":                     "> SELECT id FROM orders WHERE user_id = 3",
	"a scatter":                  "> SELECT id FROM orders WHERE amount > 5",
	"a read for update":          "> BEGIN\n> SELECT id FROM orders WHERE user_id = 3 FOR UPDATE\n> COMMIT",
	"a read that is stored":      "> SELECT unheard(id) FROM orders WHERE user_id = 3",
	"an INSERT":                  "> INSERT INTO orders (user_id, amount) VALUES (3, 5)",
	"an INSERT of two":           "> INSERT INTO orders (user_id, amount) VALUES (1, 5), (3, 5)",
	"an UPDATE":                  "> UPDATE orders SET amount = 1 WHERE user_id = 3",
	"an UPDATE of two":           "> UPDATE orders SET amount = 1 WHERE user_id IN (1, 3)",
	"a LIMIT of two":             "> UPDATE orders SET amount = 1 WHERE user_id IN (1, 3) LIMIT 3",
	"a LIMIT within two":         "> BEGIN\n> DELETE FROM orders WHERE user_id IN (1, 3) LIMIT 3\n> COMMIT",
	"a first row of two":         "> UPDATE orders SET amount = 1 WHERE user_id IN (1, 3) ORDER BY amount LIMIT 3",
	"first rows within two":      "> BEGIN\n> DELETE FROM orders WHERE user_id IN (1, 3) ORDER BY amount LIMIT 3\n> COMMIT",
	"rows returned by two":       "> INSERT INTO orders (user_id, amount) VALUES (1, 5), (3, 5) RETURNING id",
	"rows of two that are found": "> DELETE FROM carts WHERE n IN (SELECT page FROM visits)",
	"a DELETE of two":            "> DELETE FROM orders WHERE user_id IN (1, 3)",
	"a transaction":              "> BEGIN\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> SELECT id FROM orders WHERE user_id = 3\n> COMMIT",
	"a transaction of two":       "> BEGIN\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> UPDATE orders SET amount = 2 WHERE user_id = 1\n> SELECT id FROM orders WHERE user_id = 1\n> COMMIT",
	"a rollback":                 "> BEGIN\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> SAVEPOINT a\n> UPDATE orders SET amount = 2 WHERE user_id = 1\n> ROLLBACK TO a\n> ROLLBACK",
	"without autocommit":         "> SET autocommit = 0\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> COMMIT\n> SET autocommit = 1",
	"a setting":                  "> SET sql_mode = 'ANSI'\n> SELECT id FROM orders WHERE user_id = 3\n> SET sql_mode = DEFAULT",
	"locked tables":              "> LOCK TABLES orders WRITE\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> UNLOCK TABLES",
	"a named lock":               "> SELECT GET_LOCK('a', 1)\n> SELECT RELEASE_LOCK('a')",
	"a global table":             "> UPDATE country SET name = 'x' WHERE code = 'y'",
	"a definition":               "> CREATE TABLE fresh (id BIGINT PRIMARY KEY, user_id BIGINT) COMMENT 'locus: owner=user_id'",
	"a change of definition":     "> ALTER TABLE orders ADD KEY (amount)",
	"a database":                 "> CREATE DATABASE fresh",
	"maintenance":                "> ANALYZE TABLE orders",
	"a cursor":                   cursor,
	"a cursor in a transaction":  "> BEGIN\n" + cursor + "\n> COMMIT",
	"a cursor, stored":           "> SELECT unheard(id) FROM orders WHERE user_id = 3\n" + cursor,
	"a cursor and locks":         "> LOCK TABLES orders WRITE\n" + cursor + "\n> UNLOCK TABLES",
	"a cursor and its update":    cursor + "\n> UPDATE orders SET amount = 1 WHERE user_id = 3\nfetch p 5",
	"a temporary table, stored":  "> CREATE TEMPORARY TABLE brief (id INT)\n> SELECT id FROM brief\n> DROP TEMPORARY TABLE brief",
	"a procedure, stored":        "> CALL unheard(1)\n> SELECT id FROM orders WHERE user_id = 3",
	"a client's XA":              "> XA START 'a'\n> UPDATE orders SET amount = 1 WHERE user_id = 3\n> XA END 'a'\n> XA PREPARE 'a'\n> XA COMMIT 'a'",
	"rows that are gathered":     "> SELECT a.id FROM orders a JOIN orders b USING (amount)",
	"INSERT of a query":          "> INSERT INTO orders (user_id, amount) SELECT user_id, amount FROM orders",
	"found rows":                 "> SELECT SQL_CALC_FOUND_ROWS id FROM orders WHERE user_id = 3\n> SELECT FOUND_ROWS()",
	"a rename":                   "> RENAME TABLE orders TO bought",
	"columns":                    "> ALTER TABLE orders ADD colour INT",
	"SHOW":                       "> SHOW TABLES\n> SHOW CREATE TABLE orders",
	"EXPLAIN":                    "> EXPLAIN SELECT id FROM orders WHERE amount > 5",
	"a change of database":       "use shop\n> SELECT id FROM orders WHERE user_id = 3",
	"a prepared read":            "prepare e: SELECT id FROM orders WHERE user_id = ?\nexecute e: 3\nclose e",
}

const cursor = "prepare p: SELECT id FROM orders WHERE user_id = ?\nexecute p with cursor: 3\nfetch p 1\nfetch p 5"

// refusedSetting matches a SET that failed. The settings afterwards differ from those without the fault.
var refusedSetting = regexp.MustCompile(`(?m)^> SET .*\n(  s.*\n)*  = error`)

// TestFaults cuts the connection at each statement that shards receive: only at that statement, from that statement on, and at
// each statement with the same text. It also makes a shard refuse each statement once, as after KILL QUERY. It checks that no
// statement is sent too often, and that no setting of the session changes. When a session ends, its stand checks that it has
// returned all connections.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, script := range faultScripts {
		for how, spanning := range map[string]txn.Spanning{"multi": txn.Multi, "xa": txn.XA} {
			if spanning == txn.XA && !strings.Contains(name, "two") && !strings.Contains(name, "rollback") { // scripts without "two" in their names use one shard
				continue
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				whole := playFaulty(t, script, spanning, func(int, string) fakeshard.Reply { return fakeshard.Reply{} })
				if whole.received == nil || whole.settings == "" && !strings.Contains(name, "stored") { // stored code keeps its connection
					t.Fatalf("nothing was sent, or the session has ended:\n%s", whole.played)
				}
				for n, at := range whole.received {
					before := slices.Contains(whole.received[:n], at)
					lost := fakeshard.Reply{Cut: []fakeshard.Cut{fakeshard.Before, fakeshard.Within}[n%2]}
					killed := fakeshard.Reply{Code: mysql.ER_QUERY_INTERRUPTED, State: "70100"}
					for when, fault := range map[string]func(int, string) fakeshard.Reply{
						"lost once":     func(i int, _ string) fakeshard.Reply { return only(i == n, lost) },
						"lost from":     func(i int, _ string) fakeshard.Reply { return only(i >= n, lost) },
						"lost whenever": func(_ int, text string) fakeshard.Reply { return only(text == at, lost) },
						"killed":        func(i int, _ string) fakeshard.Reply { return only(i == n, killed) },
					} {
						if when == "lost whenever" && before {
							continue
						}
						t.Run(fmt.Sprintf("%s %d", when, n), func(t *testing.T) { playFaulty(t, script, spanning, fault).check(t, whole) })
					}
				}
			})
		}
	}
}

// only returns a reply if a condition holds, and otherwise one without effect.
func only(holds bool, r fakeshard.Reply) fakeshard.Reply {
	if holds {
		return r
	}
	return fakeshard.Reply{}
}

// faulty is the outcome of a script.
type faulty struct {
	played   string
	received []string // by all shards together
	settings string   // the settings that a new connection gets for the session; empty if the session has ended, or a SET has failed
}

// playFaulty plays a script. fault gets the number and the text of each statement that shards receive, and can return a reply that cuts the
// connection or refuses the statement.
func playFaulty(t *testing.T, script string, spanning txn.Spanning, fault func(n int, text string) fakeshard.Reply) (out faulty) {
	t.Helper()
	o := usual()
	o.spanning = spanning
	a := &actor{stand: newStand(t, o)}
	a.begin()
	var mu sync.Mutex
	tap := func(text string) (fakeshard.Reply, bool) {
		mu.Lock()
		defer mu.Unlock()
		out.received = append(out.received, text)
		r := fault(len(out.received)-1, text)
		return r, r.Cut != fakeshard.Whole || r.Code != 0
	}
	for _, shard := range a.shards {
		shard.Tap(tap)
	}
	ended := false
	for line := range strings.SplitSeq(script, "\n") {
		said := a.act(line)
		out.played += line + "\n" + said
		if ended = strings.Contains(said, "the session ends") || strings.HasPrefix(line, "prepare") && strings.Contains(said, "= error"); ended {
			break
		}
	}
	for _, shard := range a.shards {
		shard.Tap(nil)
	}
	if ended || refusedSetting.MatchString(out.played) {
		return out
	}
	a.act("> ROLLBACK")
	for _, shard := range a.shards {
		shard.Drop()
	}
	a.options.settings = true
	said := a.act("> SELECT id FROM orders WHERE user_id = 3") // runs on a new connection, which gets all settings
	for line := range strings.SplitSeq(said[max(0, strings.LastIndex(said, "  s1: [use]")):], "\n") {
		if strings.HasPrefix(line, "  s1: ") { // the other shards may get late statements
			out.settings += line + "\n"
		}
	}
	return out
}

// check compares the outcome with that of the same script without faults.
func (f faulty) check(t *testing.T, whole faulty) {
	t.Helper()
	if f.settings != "" && whole.settings != "" && f.settings != whole.settings {
		t.Errorf("settings have changed:\n%s\nwithout faults:\n%s\n%s", f.settings, whole.settings, f.played)
	}
	sent := map[string]int{}
	command := ""
	for i, line := range strings.Split(f.played, "\n") {
		if !strings.HasPrefix(line, "  ") {
			command = fmt.Sprintf("line %d, %s", i, line)
			continue
		}
		shard, text, is := strings.Cut(line[2:], ": ")
		if !is || !strings.HasPrefix(shard, "s") || len(shard) != 2 {
			continue
		}
		if strings.Contains(text, "`locus_gathered_") { // rows of several shards, which can be equal
			continue
		}
		key := command + ": " + shard + ": " + text
		if sent[key]++; sent[key] > mostOf(text) {
			t.Errorf("%s was sent %q %d times:\n%s", shard, text, sent[key], f.played)
		}
	}
}

// mostOf returns how often a shard may be sent a text for one command.
func mostOf(text string) int {
	for _, prefix := range []string{"COMMIT", "XA COMMIT", "XA PREPARE"} {
		if strings.HasPrefix(text, prefix) {
			return mostCommits
		}
	}
	for _, prefix := range []string{"INSERT", "UPDATE", "DELETE", "CREATE", "ALTER"} {
		if strings.HasPrefix(text, prefix) {
			return mostWrites
		}
	}
	return mostReads
}
