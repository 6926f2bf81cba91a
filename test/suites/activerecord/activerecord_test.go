//go:build long

package activerecord

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

// files are the tests, below test/cases.
var files = []string{
	"adapters/mysql2/*_test.rb", "adapters/mysql2/**/*_test.rb", "migration/*_test.rb", "migration_test.rb", "migrator_test.rb", "invertible_migration_test.rb",
	"adapter_test.rb", "base_test.rb", "batches_test.rb", "binary_test.rb", "bind_parameter_test.rb", "calculations_test.rb",
	"comment_test.rb", "connection_pool_test.rb", "connection_adapters/*_test.rb", "core_test.rb", "database_statements_test.rb",
	"date_time_precision_test.rb", "defaults_test.rb", "disconnected_test.rb", "explain_test.rb", "finder_test.rb", "fixtures_test.rb",
	"insert_all_test.rb", "json_attribute_test.rb", "locking_test.rb", "multiple_db_test.rb", "numeric_data_test.rb", "persistence_test.rb",
	"pooled_connections_test.rb", "primary_keys_test.rb", "query_cache_test.rb", "quoting_test.rb", "reflection_test.rb", "relations_test.rb",
	"schema_dumper_test.rb", "statement_cache_test.rb", "time_precision_test.rb", "transaction_callbacks_test.rb",
	"transaction_isolation_test.rb", "transactions_test.rb", "unsafe_raw_sql_test.rb", "validations/uniqueness_validation_test.rb", "view_test.rb",
}

const program = `
files = ARGV.flat_map { |pattern| Dir["test/cases/" + pattern] }.uniq.sort
ARGV.replace(%w[-v --seed 1])
files.each { |file| require File.expand_path(file) }
`

func TestSuite(t *testing.T) {
	source := stand.Installed(t, "rails")
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			for _, name := range []string{"activerecord_unittest", "activerecord_unittest2"} {
				at.Database(t, name)
			}
			// Tests write beside themselves.
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(dir, "config.yml")
			connection := fmt.Sprintf("{host: %s, port: %d, username: %s, password: %s, encoding: utf8mb4, collation: utf8mb4_", at.Host, at.Port, at.User, at.Password)
			text := "default_connection: mysql2\nconnections:\n  mysql2:\n    arunit: " + connection + "unicode_ci}\n    arunit2: " + connection + "general_ci}\n"
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return parse(stand.Command{
				Dir: filepath.Join(dir, "activerecord"), Limit: 45 * time.Minute, Env: []string{"ARCONN=mysql2", "ARCONFIG=" + config},
				Args: append([]string{"/usr/bin/ruby", "-Itest", "-W0", "-e", program}, files...),
			}.Output(t))
		})
	})
}

var (
	line   = regexp.MustCompile(`(?m)^(\S+#test_.*) = [\d.]+ s = ([.FES])$`)
	report = regexp.MustCompile(`(?ms)^ +\d+\) (?:Failure|Error):\n(\S+#test_.*?)(?: \[[^\n]*)?:\n(.*?)\n\n`)
	states = map[string]stand.State{".": stand.Passed, "F": stand.Failed, "E": stand.Failed, "S": stand.Skipped}
)

// parse reads what minitest says when it is asked to say more.
func parse(out []byte) stand.Outcomes {
	outcomes := stand.Outcomes{}
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		outcomes[m[1]] = stand.Outcome{State: states[m[2]]}
	}
	for _, m := range report.FindAllStringSubmatch(string(out), -1) {
		if o, ok := outcomes[m[1]]; ok {
			o.Detail = strings.TrimSpace(m[2])
			outcomes[m[1]] = o
		}
	}
	return outcomes
}
