//go:build long

package dbdmysql

import (
	"fmt"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/stand"
	"locus/test/suites/tap"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestSuite(t *testing.T) {
	dir := stand.Installed(t, "dbd-mysql")
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			at.Database(t, "test")
			return tap.Tests{Dir: dir, Limit: 5 * time.Minute, Env: []string{
				fmt.Sprintf("DBI_DSN=DBI:mysql:database=test;host=%s;port=%d", at.Host, at.Port),
				"DBI_USER=" + at.User, "DBI_PASS=" + at.Password,
			}}.Run(t)
		})
	})
}
