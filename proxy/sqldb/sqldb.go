package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"locus/proxy/backend"
)

// Open returns a database over a pool's connections. Each statement commits at once, whatever the server's
// defaults are. The owner closes the database before the pool.
func Open(pool *backend.Pool) *sql.DB {
	db := sql.OpenDB(connector{pool})
	db.SetMaxIdleConns(-1) // idle ones are the pool's
	return db
}

type connector struct{ pool *backend.Pool }

// settings of every connection: a number whose change is rolled back later would
// be given out twice.
var settings = backend.Default.With("autocommit", "1")

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.pool.Sweep(time.Now())
	lent, err := c.pool.Borrow(ctx, settings, 0)
	if err != nil {
		return nil, err
	}
	return &conn{pool: c.pool, lent: lent}, nil
}

// Driver implements driver.Connector.
func (connector) Driver() driver.Driver { return byName{} }

type byName struct{}

// Open implements driver.Driver.
func (byName) Open(string) (driver.Conn, error) {
	return nil, errors.New("sqldb: databases are opened by their pool")
}

// conn is a connection that is lent until database/sql closes it.
type conn struct {
	pool   *backend.Pool
	lent   *backend.Conn
	broken bool
}

var (
	_ driver.ExecerContext  = (*conn)(nil)
	_ driver.QueryerContext = (*conn)(nil)
	_ driver.Validator      = (*conn)(nil)
)

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	text, err := written(text, args)
	if err != nil {
		return nil, err
	}
	ok, err := c.lent.Own().Exec(ctx, text)
	if err != nil {
		return nil, c.failed(err)
	}
	return result{int64(ok.LastInsertID), int64(ok.AffectedRows)}, nil
}

type result struct{ last, affected int64 }

func (r result) LastInsertId() (int64, error) { return r.last, nil }
func (r result) RowsAffected() (int64, error) { return r.affected, nil }

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	text, err := written(text, args)
	if err != nil {
		return nil, err
	}
	answer, err := c.lent.Own().Query(ctx, text)
	if err != nil {
		return nil, c.failed(err)
	}
	return &rows{left: answer}, nil
}

// failed makes database/sql try another connection only if the server has received nothing.
func (c *conn) failed(err error) error {
	lost, is := errors.AsType[*backend.LostError](err)
	c.broken = c.broken || is
	switch {
	case backend.NotSent(err):
		return fmt.Errorf("%w (%w)", err, driver.ErrBadConn)
	case is:
		return unknownError{lost}
	}
	return err
}

// unknownError means that the effect of a statement is unknown. Its text does not say so, because a client
// would relate that to its own statement. The caller reports it.
type unknownError struct{ *backend.LostError }

func (e unknownError) Error() string {
	return fmt.Sprintf("shard %s: no answer of %s: %v", e.Shard, e.Addr, e.Err)
}

func (e unknownError) Unwrap() error { return e.LostError }

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.broken }

// Close gives the connection back.
func (c *conn) Close() error {
	if c.broken {
		c.pool.Discard(c.lent)
		return nil
	}
	c.pool.Return(c.lent)
	return nil
}

// Prepare implements driver.Conn.
func (*conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("sqldb: statements are sent as text")
}

// Begin implements driver.Conn.
func (*conn) Begin() (driver.Tx, error) { return nil, errors.New("sqldb: there are no transactions") }
