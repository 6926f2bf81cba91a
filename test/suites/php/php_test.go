//go:build long

package php

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/junit"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestSuite(t *testing.T) {
	source := stand.Installed(t, "php")
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "test")
			// Tests write beside themselves.
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			return run(t, at, dir, cases)
		})
	})
}

func run(t *testing.T, at stand.Endpoint, dir string, cases []string) stand.Outcomes {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.xml")
	if len(cases) == 0 {
		cases = []string{"ext/pdo_mysql/tests", "ext/mysqli/tests"}
	}
	stand.Command{
		Dir: dir, Limit: 45 * time.Minute,
		Env: []string{
			"TEST_PHP_EXECUTABLE=/usr/bin/php", "TEST_PHP_JUNIT=" + report, "NO_INTERACTION=1", "TEST_TIMEOUT=300",
			"MYSQL_TEST_HOST=" + at.Host, fmt.Sprintf("MYSQL_TEST_PORT=%d", at.Port),
			"MYSQL_TEST_USER=" + at.User, "MYSQL_TEST_PASSWD=" + at.Password, "MYSQL_TEST_DB=test",
			fmt.Sprintf("PDO_MYSQL_TEST_DSN=mysql:host=%s;port=%d;dbname=test", at.Host, at.Port),
			"PDO_MYSQL_TEST_HOST=" + at.Host, fmt.Sprintf("PDO_MYSQL_TEST_PORT=%d", at.Port),
			"PDO_MYSQL_TEST_USER=" + at.User, "PDO_MYSQL_TEST_PASS=" + at.Password, "PDO_MYSQL_TEST_DB=test",
		},
		Args: append([]string{"/usr/bin/php", "run-tests.php", "-q", "--offline"}, cases...),
	}.Output(t)
	return junit.Read(t, report, func(_, name string) string {
		file, _, _ := strings.Cut(name, " (") // the title of the test
		return path.Clean(file)
	})
}
