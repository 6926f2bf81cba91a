// Package pymysql runs the tests of PyMySQL.
package pymysql

import (
	"encoding/json"
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
	source := stand.Installed(t, "pymysql")
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).CheckAtOnce(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			at.Database(t, "test1")
			at.Database(t, "test2")
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			connect(t, at, filepath.Join(dir, "pymysql", "tests", "databases.json"))
			return pytest.Tests{Dir: dir, Args: []string{"pymysql"}, Limit: 5 * time.Minute}.Run(t)
		})
	})
}

// connect tells the suite in a file where to connect to.
func connect(t *testing.T, at stand.Endpoint, path string) {
	t.Helper()
	database := func(name string) map[string]any {
		return map[string]any{
			"host": at.Host, "port": at.Port, "user": at.User, "passwd": at.Password,
			"database": name, "local_infile": true,
		}
	}
	text, err := json.Marshal([]any{database("test1"), database("test2")})
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
