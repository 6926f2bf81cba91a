//go:build long

package sqlalchemy

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

// files are what the suite wants in the directory that it is run from.
var files = map[string]string{
	"setup.cfg": "[sqla_testing]\nrequirement_cls = requirements:Requirements\nprofile_file = profiles.txt\n",
	"conftest.py": `import sqlalchemy.testing.plugin.pytestplugin
from sqlalchemy.dialects import registry
from sqlalchemy.testing.plugin.pytestplugin import *
`,
	"requirements.py": `from sqlalchemy.testing.requirements import SuiteRequirements

class Requirements(SuiteRequirements):
    pass
`,
	"test_suite.py": "from sqlalchemy.testing.suite import *\n",
}

func TestSuite(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, driver := range []string{"pymysql", "mysqldb"} {
			t.Run(driver, func(t *testing.T) {
				stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
					for _, name := range []string{"test", "test_schema"} {
						at.Database(t, name)
					}
					dir := t.TempDir()
					for name, text := range files {
						if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					uri := fmt.Sprintf("mysql+%s://%s:%s@%s/test?charset=utf8mb4", driver, at.User, at.Password, at.Addr())
					return pytest.Tests{Dir: dir, Args: []string{"test_suite.py", "--dburi", uri}, Limit: 30 * time.Minute}.Run(t)
				})
			})
		}
	})
}
