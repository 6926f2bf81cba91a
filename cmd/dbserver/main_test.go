//go:build servers

package dbserver

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
)

// templates is the directory that all tests share, as the processes of one machine share theirs.
var templates string

func TestMain(m *testing.M) {
	if mode := os.Getenv(parentMode); mode != "" {
		os.Exit(parent(mode))
	}
	dir, err := os.MkdirTemp("", "dbserver-templates-")
	if err != nil {
		panic(err)
	}
	templates = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// engines runs a test for every engine. One that is missing is a failure, since
// nothing is claimed for a server that was not tested.
func engines(t *testing.T, test func(*testing.T, *Installation)) {
	for _, engine := range Engines() {
		t.Run(string(engine), func(t *testing.T) {
			installation, err := Find(t.Context(), engine, "")
			if err != nil {
				t.Fatal(err)
			}
			test(t, installation)
		})
	}
}

// run starts a server that is killed when the test ends.
func run(t *testing.T, installation *Installation, options Options) *Server {
	t.Helper()
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	options.Templates = templates
	s, err := Start(t.Context(), installation, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill() })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func mustExecute(t *testing.T, s *Server, statements ...string) {
	t.Helper()
	if err := s.Execute(t.Context(), statements...); err != nil {
		t.Fatal(err)
	}
}

// ask returns the first column of a query's only row, as root.
func ask(t *testing.T, s *Server, query string) string {
	t.Helper()
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	result, err := conn.Execute(query)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	value, err := result.GetString(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// login returns the error of a login by TCP.
func login(t *testing.T, config *mysql.Config) error {
	t.Helper()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.PingContext(t.Context())
}

func tcp(s *Server, user, password string) *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", s.Addr()
	config.User, config.Passwd = user, password
	return config
}
