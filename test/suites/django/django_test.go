//go:build long

package django

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/lines"
	"locus/test/suites/pytest"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

// labels are the directories of tests.
var labels = []string{
	"backends", "basic", "bulk_create", "introspection", "inspectdb", "schema", "migrations", "migration_test_data_persistence",
	"transactions", "transaction_hooks", "atomic_hooks", "select_for_update", "delete", "update", "get_or_create", "ordering", "aggregation",
	"aggregation_regress", "annotations", "expressions", "expressions_window", "lookup", "queries", "raw_query", "dates", "datetimes", "datatypes",
	"db_functions", "fixtures", "force_insert_update", "indexes", "constraints", "model_fields", "timezones", "savepoints", "unmanaged_models",
	"cache", "sessions_tests", "admin_changelist", "auth_tests", "test_utils",
}

func TestSuite(t *testing.T) {
	source := stand.Installed(t, "django")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			// It connects to these to make others, of which it leaves nothing.
			for _, name := range []string{"django", "django2"} {
				at.Database(t, name)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "locus_settings.py"), []byte(settings(at)), 0o600); err != nil {
				t.Fatal(err)
			}
			report := filepath.Join(dir, "report")
			var have []string
			for _, label := range labels {
				if _, err := os.Stat(filepath.Join(source, "tests", label)); err == nil {
					have = append(have, label)
				}
			}
			stand.Command{
				Dir: filepath.Join(source, "tests"), Limit: 45 * time.Minute,
				Env:  []string{"PYTHONPATH=" + dir + ":" + here + ":" + source, "PYTHONDONTWRITEBYTECODE=1", "LOCUS_REPORT=" + report},
				Args: append([]string{pytest.Python, "-W", "ignore", "runtests.py", "--settings", "locus_settings", "--parallel", "1", "--noinput", "-v", "1"}, have...),
			}.Output(t)
			return lines.Read(t, report, "")
		})
	})
}

func settings(at stand.Endpoint) string {
	database := func(name string) string {
		return fmt.Sprintf("{'ENGINE': 'django.db.backends.mysql', 'HOST': %q, 'PORT': %d, 'USER': %q, 'PASSWORD': %q, 'NAME': %q, 'TEST': {'CHARSET': 'utf8mb4', 'NAME': 'test_%s'}}",
			at.Host, at.Port, at.User, at.Password, name, name)
	}
	return "TEST_RUNNER = 'runner.Runner'\nDATABASES = {'default': " + database("django") + ", 'other': " + database("django2") + "}\n" +
		"SECRET_KEY = 'tests'\nPASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']\nDEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\nUSE_TZ = False\n"
}
