package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/control/declared"
	"locus/internal/test/servers"
	"locus/router/catalog"
)

// Clients define tables on both shards while the primary of one is switched over, and while it is killed. A
// definition exists on all shards, or its error names the shards that have it, and repeating the statement
// completes it.
func TestTablesAreDefinedWhilePrimariesChange(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := spanning(t, engine)
		s.declareExtra(t)
		l := s.load(t)
		l.more(t, 20)
		d := &definer{stand: s}
		d.during(t, "a switchover", func() {
			to := (s.primary(t) + 1) % 3
			servers.Eventually(t, "roles change", func() error {
				_, err := s.to(to).Run(t.Context())
				return err
			})
		})
		d.during(t, "a kill", func() {
			first := s.primary(t)
			s.kill(t, first)
			s.wantNamedAnother(t, first)
			s.restart(t, first)
			s.wantJoined(t, first)
		})
		l.more(t, 20)
		l.end()
		s.wantAcknowledged(t, l)
		t.Logf("%d definitions, %d ended with an error", d.n, d.failed)
	})
}

const extra = "CREATE TABLE " + schema + ".extra (uid BIGINT NOT NULL PRIMARY KEY, n BIGINT"

// declareExtra creates a table that the test drops and creates again.
func (s *stand) declareExtra(t *testing.T) {
	t.Helper()
	for _, at := range []int{s.primary(t), 3} {
		s.servers[at].Exec(t, extra+", "+catalog.OwnGeneDefinition+")")
	}
	state, err := declared.Read(t.Context(), s.kv)
	must(t, err)
	like := state.Cluster.Tables[catalog.TableName{Schema: schema, Name: "counter"}]
	_, err = declared.NewTables(s.kv, slog.New(slog.DiscardHandler)).Declare(t.Context(), catalog.TableName{Schema: schema, Name: "extra"}, like, "test")
	must(t, err)
	servers.Eventually(t, "the proxies know the table", func() error {
		for i := range s.proxies {
			if _, err := s.db(t, i, "app").Exec("UPDATE extra SET n = 1 WHERE uid = 1"); err != nil {
				return err
			}
		}
		return nil
	})
}

// definer sends definitions one after the other.
type definer struct {
	*stand
	n, failed int
}

// definition is a statement, and the question whether a server has done it.
type definition struct{ statement, asks string }

func (d *definer) next() definition {
	d.n++
	const there = " FROM information_schema.%s WHERE TABLE_SCHEMA = '" + schema + "' AND TABLE_NAME = '%s'"
	switch n := d.n / 4; d.n % 4 {
	case 0: // on one shard after the other, while statements continue
		return definition{fmt.Sprintf("ALTER TABLE counter ADD COLUMN c%d INT NULL", n), "SELECT COUNT(*)" + fmt.Sprintf(there, "COLUMNS", "counter") + fmt.Sprintf(" AND COLUMN_NAME = 'c%d'", n)}
	case 1: // on all shards at once
		return definition{fmt.Sprintf("ALTER TABLE counter ADD INDEX i%d (n)", n), "SELECT COUNT(*)" + fmt.Sprintf(there, "STATISTICS", "counter") + fmt.Sprintf(" AND INDEX_NAME = 'i%d'", n)}
	case 2:
		return definition{"DROP TABLE extra", "SELECT 1 - COUNT(*)" + fmt.Sprintf(there, "TABLES", "extra")}
	}
	return definition{extra + ")", "SELECT COUNT(*)" + fmt.Sprintf(there, "TABLES", "extra")}
}

// during sends them while something happens, and one of each kind after it.
func (d *definer) during(t *testing.T, what string, happens func()) {
	t.Helper()
	ctx, ended := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for last := 4; last > 0 && !t.Failed(); {
			if d.define(t, what, d.next()); ctx.Err() != nil {
				last--
			}
		}
	}()
	defer func() { ended(); <-done }()
	happens()
}

// again contains the errors by which a repeated statement finds that nothing is left to do.
var again = []uint16{1050, 1051, 1060, 1061}

func (d *definer) define(t *testing.T, what string, one definition) {
	db := d.db(t, 0, "app")
	defer db.Close()
	_, err := db.Exec(one.statement)
	if err != nil {
		d.failed++
		t.Logf("%s: %s: %v", what, one.statement, err)
		d.told(t, one, err.Error())
	}
	servers.Eventually(t, one.statement, func() error {
		if err != nil {
			_, err = db.Exec(one.statement)
		}
		if e, is := errors.AsType[*mysql.MySQLError](err); is && slices.Contains(again, e.Number) {
			err = nil
		}
		return err
	})
	servers.Eventually(t, what+": "+one.statement+", which the client was told to be done", func() error {
		for _, at := range []int{d.primary(t), 3} { // the primary may have been killed just now
			if has, err := d.has(t, at, one); err != nil || !has {
				return errors.Join(fmt.Errorf("server %d lacks it", at), err)
			}
		}
		return nil
	})
}

// told compares the text of an error with the tables on the shard whose primary doesn't change.
func (d *definer) told(t *testing.T, one definition, said string) {
	has, err := d.has(t, 3, one)
	if err != nil {
		t.Error(err)
	}
	nothing := strings.Contains(said, "nothing was done on any") || strings.Contains(said, "dropped there again") || strings.Contains(said, "it was done on no other shard")
	somewhere := strings.Contains(said, "it was done on s1") || strings.Contains(said, "the columns are on s1") || strings.Contains(said, "it was made on s1 and could not")
	if !nothing && !somewhere && !strings.Contains(said, "s1") {
		t.Logf("%q says nothing of s1, which has it: %v", said, has)
	}
	if nothing && has && !strings.Contains(said, "on s1 is not known") && !strings.Contains(said, "whether s1 has done it") || somewhere && !has {
		t.Errorf("%s: shard s1 has it: %v, and the client was told: %s", one.statement, has, said)
	}
}

func (d *definer) has(t *testing.T, server int, one definition) (bool, error) {
	db := d.servers[server].DB(t, "")
	defer db.Close()
	n := 0
	err := db.QueryRow(one.asks).Scan(&n)
	return n > 0, err
}
