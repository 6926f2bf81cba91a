package suites

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/suites/report"
	"locus/test/suites/stand"
)

// connectorj is the JUnit tests of MariaDB Connector/J.
type connectorj struct{}

// jars are the distribution's.
var jars = []string{"mariadb-java-client.jar", "junit4.jar", "hamcrest.jar", "jna.jar"}

// leftOut are the classes that need an environment that neither end has: several servers, a service of Amazon's, or gigabytes.
var leftOut = []string{"AuroraListenerTest", "GiganticLoadDataInfileTest"}

func connectorjSource(t *testing.T) string {
	t.Helper()
	return filepath.Join(stand.Installed(t, "connector-j"), "src", "test")
}

func (connectorj) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	return compile(t, connectorjSource(t)).run, nil
}

// timeZones loads the two time zones that a class of tests needs. The class itself loads them into one server only.
func timeZones(t *testing.T, server *servers.Server) {
	t.Helper()
	file := filepath.Join(connectorjSource(t), "resources", "timezoneTest.sql")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := server.DB(t, "mysql").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// classes is the compiled tests.
type classes struct {
	path  string // Java's class path
	names []string
}

func compile(t *testing.T, source string) classes {
	t.Helper()
	out := t.TempDir()
	path := []string{out, filepath.Join(source, "resources")}
	for _, jar := range jars {
		path = append(path, filepath.Join("/usr/share/java", jar))
	}
	c := classes{path: strings.Join(path, ":")}
	program, err := filepath.Abs("connectorj/Report.java")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"javac", "-nowarn", "-encoding", "UTF-8", "-cp", c.path, "-d", out, program}
	err = filepath.WalkDir(filepath.Join(source, "java"), func(path string, entry fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".java") {
			args = append(args, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	said := stand.Command{Dir: out, Args: args, Limit: 5 * time.Minute}.Output(t)
	tests, err := filepath.Glob(filepath.Join(out, "org", "mariadb", "jdbc", "*Test.class"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("nothing is compiled (%v):\n%s", err, said)
	}
	for _, test := range tests {
		if name := strings.TrimSuffix(filepath.Base(test), ".class"); !slices.Contains(leftOut, name) {
			c.names = append(c.names, "org.mariadb.jdbc."+name)
		}
	}
	return c
}

// run runs all classes, or those of the cases.
func (c classes) run(t *testing.T, at place, cases []string) stand.Outcomes {
	t.Helper()
	names := c.names
	if len(cases) > 0 {
		names = slices.DeleteFunc(slices.Clone(names), func(class string) bool {
			return !slices.ContainsFunc(cases, func(name string) bool { return strings.HasPrefix("org.mariadb.jdbc."+name, class+".") })
		})
	}
	dir := t.TempDir()
	stand.Command{
		Dir: dir, Limit: 45 * time.Minute,
		Env: at.fill(t, []string{
			"TEST_DB_HOST={host}", "TEST_DB_PORT={port}", "TEST_DB_USER={user}", "TEST_DB_PASSWORD={password}", "TEST_DB_DATABASE={database}",
			"TEST_DB_OTHER=allowPublicKeyRetrieval=true",
		}),
		Args: append([]string{"java", "-Dreport=" + filepath.Join(dir, "report"), "-cp", c.path, "Report"}, names...),
	}.Output(t)
	return report.Lines(t, filepath.Join(dir, "report"), "org.mariadb.jdbc.")
}
