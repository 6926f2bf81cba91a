//go:build long

package dbdmariadb

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
	dir := stand.Installed(t, "dbd-mariadb")
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			at.Database(t, "test")
			// It runs in no other.
			if _, err := at.DB(t, "").ExecContext(t.Context(), "ALTER DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"); err != nil {
				t.Fatalf("%s: %v", at.Name, err)
			}
			return tap.Tests{Dir: dir, Limit: 5 * time.Minute, Env: []string{
				fmt.Sprintf("DBI_DSN=DBI:MariaDB:database=test;host=%s;port=%d", at.Host, at.Port),
				"DBI_USER=" + at.User, "DBI_PASS=" + at.Password,
			}}.Run(t)
		})
	})
}
