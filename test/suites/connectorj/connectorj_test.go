//go:build long

package connectorj

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/lines"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

// jars are the distribution's.
var jars = []string{"mariadb-java-client.jar", "junit4.jar", "hamcrest.jar", "jna.jar"}

// Those that need what neither end has: several servers, a service of Amazon's,
// gigabytes.
var left = []string{"AuroraListenerTest", "GiganticLoadDataInfileTest"}

func TestSuite(t *testing.T) {
	source := filepath.Join(stand.Installed(t, "connector-j"), "src", "test")
	suite := compile(t, source)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, server := range servers.Shared(t, engine, 3) {
			timeZones(t, server, filepath.Join(source, "resources", "timezoneTest.sql"))
		}
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			at.Database(t, "testj")
			return suite.run(t, at, cases)
		})
	})
}

// timeZones loads the two time zones that a class of tests needs. It would load
// them itself into the server that it is at; they belong on each of them.
func timeZones(t *testing.T, server *servers.Server, file string) {
	t.Helper()
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

// suite is the compiled tests.
type suite struct {
	path    string // Java's class path
	classes []string
}

func compile(t *testing.T, source string) suite {
	t.Helper()
	out := t.TempDir()
	path := []string{out, filepath.Join(source, "resources")}
	for _, jar := range jars {
		path = append(path, filepath.Join("/usr/share/java", jar))
	}
	s := suite{path: strings.Join(path, ":")}
	report, err := filepath.Abs("Report.java")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"javac", "-nowarn", "-encoding", "UTF-8", "-cp", s.path, "-d", out, report}
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
		if name := strings.TrimSuffix(filepath.Base(test), ".class"); !slices.Contains(left, name) {
			s.classes = append(s.classes, "org.mariadb.jdbc."+name)
		}
	}
	return s
}

// run runs all classes, or those of the cases.
func (s suite) run(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
	t.Helper()
	classes := s.classes
	if len(cases) > 0 {
		classes = slices.DeleteFunc(slices.Clone(classes), func(class string) bool {
			return !slices.ContainsFunc(cases, func(name string) bool { return strings.HasPrefix("org.mariadb.jdbc."+name, class+".") })
		})
	}
	dir := t.TempDir()
	stand.Command{
		Dir: dir, Limit: 45 * time.Minute,
		Env: []string{
			"TEST_DB_HOST=" + at.Host, fmt.Sprintf("TEST_DB_PORT=%d", at.Port), "TEST_DB_USER=" + at.User,
			"TEST_DB_PASSWORD=" + at.Password, "TEST_DB_DATABASE=testj", "TEST_DB_OTHER=allowPublicKeyRetrieval=true",
		},
		Args: append([]string{"java", "-Dreport=" + filepath.Join(dir, "report"), "-cp", s.path, "Report"}, classes...),
	}.Output(t)
	return lines.Read(t, filepath.Join(dir, "report"), "org.mariadb.jdbc.")
}
