// Package gosqldriver runs the tests of github.com/go-sql-driver/mysql.
package gosqldriver

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "github.com/go-sql-driver/mysql", Version: "v1.10.1",
	Sum: "h1:arlSnNLq6a5yxGxV7qg9lF4j0C+KwD6NbQyKr9QL6ME=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).CheckAtOnce(t, tests(dir))
	})
}

func tests(dir string, env ...string) stand.Run {
	return func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
		at.Database(t, "gotest")
		return gomodule.Tests{
			Dir: dir, Limit: 5 * time.Minute,
			// It dials a public address, and panics where there is no way there.
			Skip: "^TestConnectorReturnsTimeout$",
			Env: append(env,
				"MYSQL_TEST_USER="+at.User, "MYSQL_TEST_PASS="+at.Password, "MYSQL_TEST_PROT=tcp",
				"MYSQL_TEST_ADDR="+at.Addr(), "MYSQL_TEST_DBNAME=gotest",
			),
		}.Run(t, cases)
	}
}
