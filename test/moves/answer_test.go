package moves

import (
	"fmt"
	"sync"
	"testing"

	testlink "locus/internal/test/link"
	"locus/migrate/applier"
	"locus/router/catalog"
	"locus/test/product"
)

// A worker whose COMMIT got no answer asks the server whether it took effect, and asks again if that fails. Its
// transaction is written once.
func TestACommitWithoutAnAnswerIsAskedFor(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE t (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)")
		tables := p.read(map[string]catalog.Declaration{"t": byID})
		way := testlink.New(t, p.target.Addr())
		target := at(p.target)
		target.Addr = way.Addr()
		silence := sync.OnceFunc(func() { way.Swallow(testlink.Answers) })
		s := p.stream(applier.Config{Parts: all(1), Target: target, Stop: func(point applier.Point) error {
			if point == applier.Noted { // COMMIT is next
				silence()
			}
			return nil
		}}, tables)

		p.on(p.source, fmt.Sprintf("INSERT INTO t VALUES (%s, 1)", idOf(1, 1)))
		db := p.target.DB(t, p.database)
		defer db.Close()
		number := func(query string) (n int) {
			if err := db.QueryRow(query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		product.Eventually(t, "it is committed", func() bool { return number("SELECT COUNT(*) FROM t") == 1 })
		p.on(p.target, "RENAME TABLE locus.move_position TO locus.elsewhere")
		logins := func() (n int) {
			var name string
			if err := db.QueryRow("SHOW GLOBAL STATUS LIKE 'Connections'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := logins()
		way.Lead("")
		way.Deliver()
		way.Lead(p.target.Addr())
		product.Eventually(t, "the worker has asked twice, or has given up", func() bool {
			select {
			case <-s.ended:
				return true
			default:
				return logins() >= before+2
			}
		})
		p.on(p.target, "RENAME TABLE locus.elsewhere TO locus.move_position")
		p.settle(s)
		if n := number("SELECT SUM(changes) FROM locus.move_position WHERE job = '" + p.job + "'"); n != 1 {
			t.Errorf("one change is counted %d times", n)
		}
	})
}
