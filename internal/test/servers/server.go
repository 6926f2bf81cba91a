package servers

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/cmd/dbserver"
)

// Server is a running server with an account that has all privileges from every host. One goroutine may restart
// it. The other methods may be called concurrently.
type Server struct {
	*dbserver.Server // replaced by Restart

	User, Password string

	installation *dbserver.Installation
	options      dbserver.Options
}

// Config returns the settings of a login by TCP with go-sql-driver. With an empty database, none is selected.
func (s *Server) Config(database string) *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", s.Addr()
	config.User, config.Passwd = s.User, s.Password
	config.DBName = database
	return config
}

// DSN returns Config as a data source name of go-sql-driver.
func (s *Server) DSN(database string) string {
	return s.Config(database).FormatDSN()
}

// DB opens a pool of connections by TCP. It is closed when the test ends.
func (s *Server) DB(t testing.TB, database string) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(s.Config(database))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatalf("connect to %s at %s: %v", s.Engine(), s.Addr(), err)
	}
	return db
}

// Exec runs statements as root, and fails the test if one fails.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	if err := s.Execute(t.Context(), statements...); err != nil {
		t.Fatalf("%s at %s: %v", s.Engine(), s.Addr(), err)
	}
}

// Restart starts a server that has ended, in the same directory and on the same port. It is a new process, so
// the test's old connections are lost.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	select {
	case <-s.Done():
	default:
		t.Fatalf("restart %s at %s: it runs; stop or kill it first", s.Engine(), s.Addr())
	}
	s.options.Port = s.Port()
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) start(ctx context.Context) error {
	running, err := dbserver.Start(ctx, s.installation, s.options)
	if err != nil {
		return err
	}
	s.Server = running
	return nil
}
