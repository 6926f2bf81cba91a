package autoincrement

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
	"locus/idgen/ha"
)

// late is a server to which each login takes some time; its rows are numbered from 1.
type late struct {
	login time.Duration
	rows  int64
}

// Connect implements driver.Connector.
func (l *late) Connect(ctx context.Context) (driver.Conn, error) {
	select {
	case <-time.After(l.login): // virtual
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Driver implements driver.Connector.
func (*late) Driver() driver.Driver { return nil }

var errUnused = errors.New("generators don't ask for that")

// Prepare implements driver.Conn.
func (*late) Prepare(string) (driver.Stmt, error) { return nil, errUnused }

// Begin implements driver.Conn.
func (*late) Begin() (driver.Tx, error) { return nil, errUnused }

// Close implements driver.Conn.
func (*late) Close() error { return nil }

// ExecContext implements driver.ExecerContext.
func (l *late) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	l.rows++
	return result(l.rows), nil
}

type result int64

func (r result) LastInsertId() (int64, error) { return int64(r), nil }
func (result) RowsAffected() (int64, error)   { return 1, nil }

// One server never answers, and the other takes so long that it is asked again. The time limit for a call of
// one table must not end that call. If neither answers, the call still ends, even if its caller would wait
// forever.
func TestATableThatIsLateBesideOneThatIsAway(t *testing.T) {
	for login, answers := range map[time.Duration]bool{3 * time.Second: true, time.Hour: false} {
		synctest.Test(t, func(t *testing.T) {
			away, slow := sql.OpenDB(&late{login: time.Hour}), sql.OpenDB(&late{login: login})
			defer away.Close()
			defer slow.Close()
			const timeout = 5 * time.Second
			g, err := New(ha.Options{}, Table{DB: away, Name: "a", Timeout: timeout}, Table{DB: slow, Name: "b", Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			began := time.Now()
			n, err := idgen.One(context.Background(), g)
			if (err == nil) != answers || answers && n != 1<<1|1 {
				t.Errorf("a login of %s: %d, %v", login, n, err)
			}
			if took := time.Since(began); took <= timeout || took > 6*timeout {
				t.Errorf("a login of %s: ended after %s", login, took)
			}
		})
	}
}
