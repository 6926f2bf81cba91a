package stand

import (
	"context"
	"database/sql"
	"net"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Endpoint is what a suite's client connects to, and its account there, which
// may make databases and do whatever root may.
type Endpoint struct {
	Name           string // "direct" or "proxy"
	Host           string
	Port           int
	User, Password string
	TLS            bool // whether TLS is offered; the certificate is self-signed
}

// Addr is the endpoint's host and port.
func (e Endpoint) Addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Config is how go-sql-driver logs in.
func (e Endpoint) Config(database string) *mysql.Config {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName = "tcp", e.Addr(), e.User, e.Password, database
	return c
}

// DSN is Config as go-sql-driver's data source name.
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

// Database makes an empty database of a name that the suite wants, in place of
// what an earlier run left, and drops it when the test ends.
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
		// The test's context is done by now.
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), drop); err != nil {
			t.Errorf("%s: %s: %v", e.Name, drop, err)
		}
	})
}
