// Package mysqlclient runs the tests of mysqlclient, and of the generic DB-API
// suite that it brings along.
package mysqlclient

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/pytest"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestSuite(t *testing.T) {
	dir := filepath.Join(stand.Installed(t, "mysqlclient"), "tests")
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).CheckAtOnce(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			at.Database(t, "test")
			file := filepath.Join(t.TempDir(), "my.cnf")
			text := fmt.Sprintf("[MySQLdb-tests]\nhost = %s\nport = %d\nuser = %s\npassword = %s\ndatabase = test\ndefault-character-set = utf8mb4\n",
				at.Host, at.Port, at.User, at.Password)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return pytest.Tests{
				Dir: dir, Env: []string{"TESTDB=" + file, "PYTHONPATH=" + dir}, Limit: 5 * time.Minute,
				Args: []string{".", "--import-mode", "append"},
			}.Run(t)
		})
	})
}
