//go:build long

package sqlx

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "github.com/jmoiron/sqlx", Version: "v1.4.0",
	Sum: "h1:1PLqN7S1UYp5t4SrVVnt4nUVNemrDAtxlulVe+Qgm3o=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "sqlx")
			return gomodule.Tests{
				Dir: dir, Limit: 10 * time.Minute,
				Env: []string{"SQLX_POSTGRES_DSN=skip", "SQLX_SQLITE_DSN=skip", "SQLX_MYSQL_DSN=" + at.DSN("sqlx") + "?parseTime=true"},
			}.Run(t, cases)
		})
	})
}
