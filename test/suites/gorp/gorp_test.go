//go:build long

package gorp

import (
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

var module = gomodule.Module{
	Path: "github.com/go-gorp/gorp/v3", Version: "v3.1.0",
	Sum: "h1:ItKF/Vbuj31dmV4jxA1qblpSwkl9g1typ24xoe70IGs=",
}

func TestSuite(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "gorp")
			return gomodule.Tests{
				Dir: dir, Limit: 10 * time.Minute,
				Env: []string{"GORP_TEST_DIALECT=mysql", "GORP_TEST_DSN=" + at.DSN("gorp") + "?parseTime=true"},
			}.Run(t, cases)
		})
	})
}
