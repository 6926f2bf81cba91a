package stand

import (
	"context"
	"database/sql"
	"net"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Endpoint is the address to which a suite's client connects, with a user who may create databases and has all
// privileges of root.
type Endpoint struct {
	Name           string // "direct" or "proxy"
	Host           string
	Port           int
	User, Password string
	TLS            bool // whether TLS is offered; the certificate is self-signed
}

// Addr returns the host and the port.
func (e Endpoint) Addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Config returns the configuration with which go-sql-driver logs in.
func (e Endpoint) Config(database string) *mysql.Config {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", e.Addr(), e.User, e.Password, database
	return c
}

// DSN returns Config as a data source name of go-sql-driver.
func (e Endpoint) DSN(database string) string { return e.Config(database).FormatDSN() }

// DB opens a pool of connections, closed when the test ends.
func (e Endpoint) DB(t testing.TB, database string) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(e.Config(database))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Database creates an empty database with a name that the suite wants. It replaces that of an earlier run, and
// is dropped at the end of the test.
func (e Endpoint) Database(t testing.TB, name string) {
	t.Helper()
	db := e.DB(t, "")
	drop := "DROP DATABASE IF EXISTS `" + name + "`"
	for _, statement := range []string{drop, "CREATE DATABASE `" + name + "`"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %s: %v", e.Name, statement, err)
		}
	}
	t.Cleanup(func() {
		// without cancellation, because the test's context has ended by then
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), drop); err != nil {
			t.Errorf("%s: %s: %v", e.Name, drop, err)
		}
	})
}
