//go:build servers

package lookup

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
)

// Of two clients that insert one absent value at the same time, on two shards, exactly one succeeds at every isolation level.
func TestOneOfTwoInserts(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
		levels := []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
		for round := range scale.Of(12, 400) {
			level := levels[round%len(levels)]
			inserted := make([]error, 2)
			var clients sync.WaitGroup
			for i := range inserted {
				clients.Go(func() { inserted[i] = insertOne(t, db, level, 2*round+i, fmt.Sprintf("New%d@x", round)) })
			}
			clients.Wait()
			won := 0
			for _, err := range inserted {
				if err == nil {
					won++
				} else if !loses(err) {
					t.Errorf("%s: %v", level, err)
				}
			}
			if won != 1 {
				t.Fatalf("%s, round %d: %d have inserted the value: %v", level, round, won, inserted)
			}
		}
		s.checkEntries(t)
	})
}

// insertOne inserts a row in a transaction, and repeats it after a deadlock.
func insertOne(t *testing.T, db *sql.DB, level string, id int, email string) error {
	for {
		c, err := db.Conn(t.Context())
		if err != nil {
			return err
		}
		for _, text := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL " + level, "BEGIN", fmt.Sprintf("INSERT INTO users VALUES (%d, '%s', '')", id, email), "COMMIT"} {
			if _, err = c.ExecContext(t.Context(), text); err != nil {
				_, _ = c.ExecContext(t.Context(), "ROLLBACK")
				break
			}
		}
		_ = c.Close()
		if e := new(mysql.MySQLError); !errors.As(err, &e) || e.Number != 1213 && e.Number != 1205 {
			return err
		}
	}
}

// loses reports whether a statement failed because of another session's rows.
func loses(err error) bool {
	e := new(mysql.MySQLError)
	return errors.As(err, &e) && (e.Number == 1062 || e.Number == 1213 || e.Number == 1205)
}

// expected reports whether a value is too long, or whether an INSERT that handles duplicates was refused because the look-up table is not filled
// yet.
func expected(err error) bool {
	e := new(mysql.MySQLError)
	return errors.As(err, &e) && (e.Number == 1406 || strings.Contains(e.Message, "locus-1209") || strings.Contains(e.Message, "is not filled"))
}

// Clients that change rows at the same time leave one entry for each row. Meanwhile the look-up table is filled.
func TestClientsAtOnce(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := indexed(t, engine)
		must(t, db, "DROP TABLE users_by_email")
		for id := range 25 {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'row%d', '')", id, id))
		}
		deadline := time.Now().Add(scale.Of(4*time.Second, time.Minute))
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() { change(t, db, uint64(i), deadline) })
		}
		must(t, db, entries)
		fill := func() error {
			_, err := db.ExecContext(t.Context(), "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
			return err
		}
		err := fill()
		for err != nil && loses(err) && time.Now().Before(deadline) { // rows that were equal before the look-up table existed
			if _, err := db.ExecContext(t.Context(), "DELETE FROM users WHERE id > 12"); err != nil && !loses(err) {
				t.Error(err)
			}
			err = fill()
		}
		clients.Wait()
		if err != nil {
			must(t, db, "DELETE FROM users WHERE id > 0")
			err = fill()
		}
		if err != nil {
			t.Fatal(err)
		}
		s.checkEntries(t)
	})
}

// change runs statements that may be rolled back by a deadlock with other clients.
func change(t *testing.T, db *sql.DB, seed uint64, deadline time.Time) {
	r := rand.New(rand.NewPCG(seed, 2))
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	_, err = c.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1")
	for n := 0; err == nil && time.Now().Before(deadline); n++ {
		st := randomStatement(r)
		switch r.IntN(10) {
		case 0:
			st = statement{text: "BEGIN"}
		case 1, 2:
			st = statement{text: "COMMIT"}
		case 3:
			st = statement{text: "ROLLBACK"}
		case 4:
			st = statement{text: "SET SESSION TRANSACTION ISOLATION LEVEL " + []string{"READ COMMITTED", "REPEATABLE READ"}[r.IntN(2)]}
		}
		var rows *sql.Rows
		if rows, err = c.QueryContext(t.Context(), st.text, st.args...); err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			_ = rows.Close()
		}
		if err != nil && !loses(err) && !expected(err) {
			t.Errorf("client %d, statement %d: %s %q: %v", seed, n, st.text, st.args, err)
			return
		}
		err = nil
	}
	_, _ = c.ExecContext(t.Context(), "ROLLBACK")
}
