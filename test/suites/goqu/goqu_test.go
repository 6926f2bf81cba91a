//go:build long

package goqu

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "github.com/doug-martin/goqu/v9", Version: "v9.19.0",
	Sum: "h1:PD7t1X3tRcUiSdc5TEyOFKujZA5gs3VSA7wxSvBx7qo=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "goqu")
			return gomodule.Tests{
				Dir: dir, Packages: []string{"./dialect/mysql"}, Limit: 10 * time.Minute,
				Env: []string{"MYSQL_URI=" + at.DSN("goqu") + "?parseTime=true"},
			}.Run(t, cases)
		})
	})
}
