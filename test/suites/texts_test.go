package suites

import (
	"path"
	"strings"
	"time"
)

// phpName returns the file of a test of PHP, which is reported with its title.
func phpName(_, name string) string {
	file, _, _ := strings.Cut(name, " (")
	return path.Clean(file)
}

// sqlalchemy is the suite that SQLAlchemy has for the authors of dialects.
func sqlalchemy(driver string) program {
	return pytest(program{
		limit: 30 * time.Minute,
		files: map[string]string{
			"{dir}/setup.cfg": "[sqla_testing]\nrequirement_cls = requirements:Requirements\nprofile_file = profiles.txt\n",
			"{dir}/conftest.py": `import sqlalchemy.testing.plugin.pytestplugin
from sqlalchemy.dialects import registry
from sqlalchemy.testing.plugin.pytestplugin import *
`,
			"{dir}/requirements.py": `from sqlalchemy.testing.requirements import SuiteRequirements

class Requirements(SuiteRequirements):
    pass
`,
			"{dir}/test_suite.py": "from sqlalchemy.testing.suite import *\n",
		},
	}, "test_suite.py", "--dburi", "mysql+"+driver+"://{user}:{password}@{addr}/test?charset=utf8mb4")
}

// djangoLabels are the directories of tests that concern databases.
var djangoLabels = []string{
	"backends", "basic", "bulk_create", "introspection", "inspectdb", "schema", "migrations", "migration_test_data_persistence",
	"transactions", "transaction_hooks", "select_for_update", "delete", "update", "get_or_create", "ordering", "aggregation",
	"aggregation_regress", "annotations", "expressions", "expressions_window", "lookup", "queries", "raw_query", "dates", "datetimes", "datatypes",
	"db_functions", "fixtures", "force_insert_update", "indexes", "constraints", "model_fields", "timezones", "unmanaged_models",
	"cache", "sessions_tests", "admin_changelist", "auth_tests", "test_utils",
}

const djangoSettings = `TEST_RUNNER = 'runner.Runner'
DATABASES = {
    name: {
        'ENGINE': 'django.db.backends.mysql', 'HOST': '{host}', 'PORT': {port}, 'USER': '{user}', 'PASSWORD': '{password}',
        'NAME': database, 'TEST': {'CHARSET': 'utf8mb4', 'NAME': 'test_' + database},
    } for name, database in (('default', 'django'), ('other', 'django2'))
}
SECRET_KEY = 'tests'
PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
USE_TZ = False
`

const activeRecordConfig = `default_connection: mysql2
connections:
  mysql2:
    arunit: {host: {host}, port: {port}, username: {user}, password: {password}, encoding: utf8mb4, collation: utf8mb4_unicode_ci}
    arunit2: {host: {host}, port: {port}, username: {user}, password: {password}, encoding: utf8mb4, collation: utf8mb4_general_ci}
`

const activeRecordProgram = `
files = ARGV.flat_map { |pattern| Dir["test/cases/" + pattern] }.uniq.sort
ARGV.replace(%w[-v --seed 1])
files.each { |file| require File.expand_path(file) }
`

// activeRecordFiles are the tests of the adapter, of migrations, of transactions and of whatever else reaches the server, below test/cases.
var activeRecordFiles = []string{
	"adapters/mysql2/*_test.rb", "adapters/mysql2/**/*_test.rb", "migration/*_test.rb", "migration_test.rb", "migrator_test.rb", "invertible_migration_test.rb",
	"adapter_test.rb", "base_test.rb", "batches_test.rb", "binary_test.rb", "bind_parameter_test.rb", "calculations_test.rb",
	"comment_test.rb", "connection_pool_test.rb", "connection_adapters/*_test.rb", "core_test.rb", "database_statements_test.rb",
	"date_time_precision_test.rb", "defaults_test.rb", "disconnected_test.rb", "explain_test.rb", "finder_test.rb", "fixtures_test.rb",
	"insert_all_test.rb", "json_attribute_test.rb", "locking_test.rb", "multiple_db_test.rb", "numeric_data_test.rb", "persistence_test.rb",
	"pooled_connections_test.rb", "primary_keys_test.rb", "query_cache_test.rb", "quoting_test.rb", "reflection_test.rb", "relations_test.rb",
	"schema_dumper_test.rb", "statement_cache_test.rb", "time_precision_test.rb", "transaction_callbacks_test.rb",
	"transaction_isolation_test.rb", "transactions_test.rb", "unsafe_raw_sql_test.rb", "validations/uniqueness_validation_test.rb", "view_test.rb",
}

var peeweeFiles = []string{
	"tests/db_tests.py", "tests/expressions.py", "tests/fields.py", "tests/keys.py", "tests/manytomany.py", "tests/models.py",
	"tests/model_save.py", "tests/model_sql.py", "tests/prefetch_tests.py", "tests/queries.py", "tests/regressions.py", "tests/results.py",
	"tests/schema.py", "tests/sql.py", "tests/transactions.py", "tests/dataset.py", "tests/hybrid.py", "tests/kv.py", "tests/migrations.py",
	"tests/pool.py", "tests/pwiz_integration.py", "tests/reflection.py", "tests/returning.py", "tests/shortcuts.py", "tests/signals.py",
}
