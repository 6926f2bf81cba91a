package suites

import (
	"slices"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
	"locus/test/suites/gomodule"
)

// suites are the suites, those that take longest first. Each language has a suite on either engine in the short scale.
//
// In the short scale a suite without an engine does not run: the modules that Go suites depend on take long to build, and the others take
// long to run.
var suites = slices.Concat(drivers, mappers, sharding, applications, installers)

// drivers are tests of drivers, and sysbench.
var drivers = []suite{
	{
		name: "gosqldriver", short: servers.MySQL, databases: []string{"gotest"}, least: 345,
		tests: module{Module: goSQLDriver, Tests: gomodule.Tests{
			Env: goSQLDriverEnv, Limit: 5 * time.Minute,
			// It dials a public address, and panics where there is no way there.
			Skip: "^TestConnectorReturnsTimeout$",
		}},
	},
	{
		name: "mysql2", short: servers.MySQL, databases: []string{"suite"}, least: 434,
		tests: script{cases: "mysql2/cases.js"}, // its own tests are not published
	},
	{
		name: "mariadbnode", databases: []string{"suite"}, least: 13, // MariaDB's own connector; its tests are not published
		tests: script{cases: "mariadbnode/cases.js", inShop: "mariadbnode/shop.js"},
	},
	{
		name: "sysbench", short: servers.MariaDB, databases: []string{"sbtest"}, least: 66, inTurn: true,
		tests: sysbench{},
	},
	{
		name: "pymysql", short: servers.MySQL, databases: []string{"test1", "test2"}, least: 160,
		tests: pytest(program{
			part: "pymysql", copied: true, limit: 5 * time.Minute,
			files: map[string]string{"{dir}/pymysql/tests/databases.json": `[
				{"host": "{host}", "port": {port}, "user": "{user}", "passwd": "{password}", "database": "test1", "local_infile": true},
				{"host": "{host}", "port": {port}, "user": "{user}", "passwd": "{password}", "database": "test2", "local_infile": true}]`},
		}, "pymysql"),
	},
	{
		// It knows mysql_native_password only, which MySQL 9 does not have: with MySQL's shards it is compared with MariaDB.
		name: "mysqljs", short: servers.MariaDB, plain: servers.MariaDB, databases: []string{"test"}, least: 33, inTurn: true,
		tests: mysqljs{},
	},
	{
		name: "mysqlclient", short: servers.MariaDB, databases: []string{"test"}, least: 87,
		tests: pytest(program{
			part: "mysqlclient", start: "{source}/tests", limit: 5 * time.Minute,
			files: map[string]string{
				"{dir}/my.cnf": "[MySQLdb-tests]\nhost = {host}\nport = {port}\nuser = {user}\npassword = {password}\ndatabase = test\ndefault-character-set = utf8mb4\n",
			},
			env: []string{"TESTDB={dir}/my.cnf", "PYTHONPATH={source}/tests"},
		}, ".", "--import-mode", "append"),
	},
	{
		// As many clients at once as the server takes.
		name: "gosqldriver-concurrent", databases: []string{"gotest"}, least: 1, inTurn: true,
		tests: module{Module: goSQLDriver, Tests: gomodule.Tests{
			Env: append([]string{"MYSQL_TEST_CONCURRENT=1"}, goSQLDriverEnv...), Args: []string{"-test.run=^TestConcurrent$"}, Limit: 5 * time.Minute,
		}},
	},
	{
		name: "dbdmysql", databases: []string{"test"}, least: 2260, inTurn: true,
		tests: perl{part: "dbd-mysql", env: []string{"DBI_DSN=DBI:mysql:database=test;host={host};port={port}", "DBI_USER={user}", "DBI_PASS={password}"}},
	},
	{
		name: "dbdmariadb", databases: []string{"test"}, least: 3655, inTurn: true,
		setup: []string{"ALTER DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"}, // no other suite runs at the same time
		tests: perl{part: "dbd-mariadb", env: []string{"DBI_DSN=DBI:MariaDB:database=test;host={host};port={port}", "DBI_USER={user}", "DBI_PASS={password}"}},
	},
	{
		name: "php", databases: []string{"test"}, least: 620, inTurn: true, // its extensions pdo_mysql and mysqli
		tests: program{
			part: "php", copied: true, limit: 45 * time.Minute, outcomes: junit(phpName),
			args: []string{"/usr/bin/php", "run-tests.php", "-q", "--offline"}, all: []string{"ext/pdo_mysql/tests", "ext/mysqli/tests"},
			env: []string{
				"TEST_PHP_EXECUTABLE=/usr/bin/php", "TEST_PHP_JUNIT={report}", "NO_INTERACTION=1", "TEST_TIMEOUT=300",
				"MYSQL_TEST_HOST={host}", "MYSQL_TEST_PORT={port}", "MYSQL_TEST_USER={user}", "MYSQL_TEST_PASSWD={password}", "MYSQL_TEST_DB=test",
				"PDO_MYSQL_TEST_DSN=mysql:host={host};port={port};dbname=test",
				"PDO_MYSQL_TEST_HOST={host}", "PDO_MYSQL_TEST_PORT={port}", "PDO_MYSQL_TEST_USER={user}", "PDO_MYSQL_TEST_PASS={password}", "PDO_MYSQL_TEST_DB=test",
			},
		},
	},
	{
		name: "connectorj", databases: []string{"testj"}, least: 960, inTurn: true, prepareServer: timeZones,
		tests: connectorj{},
	},
}

var (
	goSQLDriver = gomodule.Module{
		Path: "github.com/go-sql-driver/mysql", Version: "v1.10.1",
		Sum: "h1:arlSnNLq6a5yxGxV7qg9lF4j0C+KwD6NbQyKr9QL6ME=",
	}
	goSQLDriverEnv = []string{
		"MYSQL_TEST_USER={user}", "MYSQL_TEST_PASS={password}", "MYSQL_TEST_PROT=tcp", "MYSQL_TEST_ADDR={addr}", "MYSQL_TEST_DBNAME=gotest",
	}
)

// mappers are tests of query builders and object-relational mappers.
var mappers = []suite{
	{
		// Scenarios of ours, and the tests of its driver: its own are a module that is not published.
		name: "gorm", short: servers.MariaDB, databases: []string{"gorm"}, least: 42, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "gorm.io/driver/mysql", Version: "v1.6.0", Sum: "h1:eNbLmNTpPpTOVZi8MMxCi2aaIm0ZpInbORNXDwyLGvg="},
			Tests: gomodule.Tests{
				Packages: []string{".", "./scenarios"}, Limit: 5 * time.Minute, Skip: "^TestShop",
				Env: []string{"GORM_DSN={dsn}?charset=utf8mb4&parseTime=True&loc=UTC"},
			},
			scenarios: "gorm/testdata", require: []string{"gorm.io/gorm@v1.31.2"}, inShop: []string{"TestShop"},
		},
	},
	{
		name: "sequelize", short: servers.MariaDB, databases: []string{"suite"}, least: 46, inTurn: true,
		tests: script{cases: "sequelize/cases.js", inShop: "sequelize/shop.js"},
	},
	{
		name: "knex", short: servers.MariaDB, databases: []string{"suite"}, least: 43,
		tests: script{cases: "knex/cases.js", inShop: "knex/shop.js"},
	},
	{
		name: "kysely", databases: []string{"suite"}, least: 11,
		tests: script{cases: "kysely/cases.js", inShop: "kysely/shop.js"},
	},
	{
		name: "typeorm", short: servers.MySQL, databases: []string{"suite"}, least: 45,
		tests: script{cases: "typeorm/cases.js", inShop: "typeorm/shop.js"},
	},
	{
		name: "gormv1", databases: []string{"gorm"}, least: 207, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "github.com/jinzhu/gorm", Version: "v1.9.16", Sum: "h1:+IyIjPEABKRpsu/F8OvDPy9fyQlgsg2luMV2ZIH5i5o="},
			Tests: gomodule.Tests{
				// The names of its cases contain addresses in memory; it uses no server.
				Skip: "^TestOpen_ReturnsError_WithBadArgs$", Limit: 10 * time.Minute,
				Env: []string{"GORM_DIALECT=mysql", "GORM_DSN={dsn}?charset=utf8mb4&parseTime=True"},
			},
		},
	},
	{
		name: "gorp", databases: []string{"gorp"}, least: 51, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "github.com/go-gorp/gorp/v3", Version: "v3.1.0", Sum: "h1:ItKF/Vbuj31dmV4jxA1qblpSwkl9g1typ24xoe70IGs="},
			Tests:  gomodule.Tests{Tags: "integration", Limit: 10 * time.Minute, Env: []string{"GORP_TEST_DIALECT=mysql", "GORP_TEST_DSN={dsn}?parseTime=true"}},
		},
	},
	{
		name: "goqu", databases: []string{"goqu"}, least: 20, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "github.com/doug-martin/goqu/v9", Version: "v9.19.0", Sum: "h1:PD7t1X3tRcUiSdc5TEyOFKujZA5gs3VSA7wxSvBx7qo="},
			Tests:  gomodule.Tests{Packages: []string{"./dialect/mysql"}, Limit: 10 * time.Minute, Env: []string{"MYSQL_URI={dsn}?parseTime=true"}},
		},
	},
	{
		name: "sqlx", databases: []string{"sqlx"}, least: 55, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "github.com/jmoiron/sqlx", Version: "v1.4.0", Sum: "h1:1PLqN7S1UYp5t4SrVVnt4nUVNemrDAtxlulVe+Qgm3o="},
			Tests: gomodule.Tests{
				Limit: 10 * time.Minute,
				Env:   []string{"SQLX_POSTGRES_DSN=skip", "SQLX_SQLITE_DSN=skip", "SQLX_MYSQL_DSN={dsn}?parseTime=true"},
			},
		},
	},
	{
		// The last version whose tests depend on published modules only.
		name: "xorm", databases: []string{"xorm_test"}, least: 285, inTurn: true,
		tests: module{
			Module: gomodule.Module{Path: "xorm.io/xorm", Version: "v1.1.2", Sum: "h1:bje+1KZvK3m5AHtZNfUDlKEEyuw/IRHT+an0CLIG5TU="},
			Tests: gomodule.Tests{
				Packages: []string{"./integrations"}, Limit: 10 * time.Minute,
				Args: []string{"-db=mysql", "-conn_str={dsn}?charset=utf8mb4"},
			},
		},
	},
	{
		// By PyMySQL. The modules that need no other server, and no threads.
		name: "peewee", databases: []string{"peewee_test"}, least: 690, inTurn: true,
		tests: pytest(program{
			part: "peewee", start: "{source}", limit: 10 * time.Minute,
			env: []string{
				"PEEWEE_TEST_BACKEND=mysql", "PEEWEE_MYSQL_HOST={host}", "PEEWEE_MYSQL_PORT={port}", "PEEWEE_MYSQL_USER={user}",
				"PEEWEE_MYSQL_PASSWORD={password}", "USER=peewee", "TZ=UTC",
			},
		}, peeweeFiles...),
	},
	{name: "sqlalchemy-pymysql", databases: []string{"test", "test_schema"}, least: 305, inTurn: true, tests: sqlalchemy("pymysql")},
	{name: "sqlalchemy-mysqldb", databases: []string{"test", "test_schema"}, least: 305, inTurn: true, tests: sqlalchemy("mysqldb")},
	{
		// It connects to these databases to make others, of which it leaves nothing. It uses mysqlclient.
		name: "django", databases: []string{"django", "django2"}, least: 4400, inTurn: true,
		tests: program{
			part: "django", start: "{source}/tests", limit: 45 * time.Minute, outcomes: lines,
			files: map[string]string{"{dir}/locus_settings.py": djangoSettings},
			env:   []string{"PYTHONPATH={dir}:{here}/django:{source}", "PYTHONDONTWRITEBYTECODE=1", "LOCUS_REPORT={report}"},
			args: append([]string{
				python, "-W", "ignore", "runtests.py", "--settings", "locus_settings", "--parallel", "1", "--noinput", "-v", "1",
			}, djangoLabels...),
		},
	},
	{
		// By mysql2, the driver of Ruby.
		name: "activerecord", databases: []string{"activerecord_unittest", "activerecord_unittest2"}, least: 2700, inTurn: true,
		tests: program{
			part: "rails", copied: true, start: "{source}/activerecord", limit: 45 * time.Minute, outcomes: minitest,
			files: map[string]string{"{dir}/config.yml": activeRecordConfig},
			env:   []string{"ARCONN=mysql2", "ARCONFIG={dir}/config.yml"},
			args:  append([]string{"/usr/bin/ruby", "-Itest", "-W0", "-e", activeRecordProgram}, activeRecordFiles...),
		},
	},
}

// sharding are mappers whose cases declare their tables by comments. A plain server ignores the comments, and the proxy shards the tables.
var sharding = []suite{
	{
		name: "peewee-sharded", databases: []string{"suite"}, least: 20, cluster: scattering(""), spread: shopTables,
		tests: scenarios{
			part: "peewee", args: []string{python}, env: []string{"PYTHONPATH={source}:{here}/scenarios", "PYTHONDONTWRITEBYTECODE=1"},
			cases: "peewee/cases.py", inShop: "peewee/shop.py",
		},
	},
	{
		// Relations are read on MySQL only: MariaDB has no lateral derived tables.
		name: "drizzle", databases: []string{"suite"}, least: 16, cluster: scattering(""), spread: shopTables,
		tests: script{cases: "drizzle/cases.js", inShop: "drizzle/shop.js"},
	},
	{
		// It drops all tables at its end.
		name: "eloquent", databases: []string{"suite"}, least: 21, cluster: scattering(""),
		tests: scenarios{args: []string{"/usr/bin/php"}, cases: "eloquent/cases.php", inShop: "eloquent/shop.php"},
	},
	{
		name: "sequel", databases: []string{"suite"}, least: 19, cluster: scattering(""), spread: shopTables,
		tests: scenarios{args: []string{"/usr/bin/ruby", "-W0"}, cases: "sequel/cases.rb", inShop: "sequel/shop.rb"},
	},
	{
		name: "doctrine", databases: []string{"suite"}, least: 17, cluster: scattering(""), spread: shopTables,
		tests: scenarios{args: []string{"/usr/bin/php"}, cases: "doctrine/cases.php", inShop: "doctrine/shop.php"},
	},
	{
		name: "mikroorm", databases: []string{"suite"}, least: 16, cluster: scattering(""), spread: shopTables,
		tests: script{cases: "mikroorm/cases.js", inShop: "mikroorm/shop.js"},
	},
	{
		name: "dbixclass", databases: []string{"suite"}, least: 18, cluster: scattering(""), spread: shopTables,
		tests: scenarios{args: []string{"/usr/bin/perl", "-I{here}/scenarios"}, cases: "dbixclass/cases.pl", inShop: "dbixclass/shop.pl"},
	},
}

// shopTables are the sharded tables that the cases of mappers fill.
var shopTables = []string{"users", "orders", "items"}

// applications are applications with undeclared tables, and with tables that are sharded by the owner of their rows.
var applications = []suite{
	{name: "wordpress", databases: []string{"wordpress"}, least: 130, inTurn: true, tests: wordpress},
	{
		name: "wordpress-sharded", databases: []string{"wordpress"}, least: 130, inTurn: true, tests: wordpress,
		cluster: scattering(`  wordpress.wp_users: {kind: sharded, owner: ID}
  wordpress.wp_usermeta: {kind: sharded, owner: user_id}
  wordpress.wp_posts: {kind: sharded, owner: ID}
  wordpress.wp_postmeta: {kind: sharded, owner: post_id}
  wordpress.wp_comments: {kind: sharded, owner: comment_post_ID}
  wordpress.wp_commentmeta: {kind: sharded, owner: comment_id}
  wordpress.wp_term_relationships: {kind: sharded, owner: object_id}
`),
		spread: []string{"wp_users", "wp_usermeta", "wp_posts", "wp_postmeta", "wp_comments", "wp_commentmeta", "wp_term_relationships"},
	},
	{name: "mediawiki", databases: []string{"mediawiki"}, least: 80, inTurn: true, tests: mediawiki},
	{
		name: "mediawiki-sharded", databases: []string{"mediawiki"}, least: 80, inTurn: true, tests: mediawiki,
		cluster: scattering(`  mediawiki.user_properties: {kind: sharded, owner: up_user}
  mediawiki.user_groups: {kind: sharded, owner: ug_user}
  mediawiki.watchlist: {kind: sharded, owner: wl_user}
  mediawiki.page_props: {kind: sharded, owner: pp_page}
  mediawiki.pagelinks: {kind: sharded, owner: pl_from}
  mediawiki.categorylinks: {kind: sharded, owner: cl_from}
  mediawiki.templatelinks: {kind: sharded, owner: tl_from}
`),
		spread: []string{"user_properties", "user_groups", "watchlist", "page_props", "pagelinks", "categorylinks", "templatelinks"},
	},
	{
		name: "ghost", databases: []string{"ghost"}, least: 200, inTurn: true, checkProxy: ghostCannotBeSharded,
		tests: application{
			part: "ghost", args: []string{"node", "{here}/ghost/cases.js"}, limit: 15 * time.Minute, counted: true,
			// Ghost fills milestones on a day that it draws by lot when it starts, of which today is one.
			uncounted: []string{"milestones"},
		},
	},
}

var (
	wordpress = application{
		part: "wordpress", root: "/usr/share/wordpress", limit: 10 * time.Minute, args: append(frozen, "{here}/wordpress/cases.php"),
	}
	mediawiki = application{
		part: "mediawiki", root: "/usr/share/mediawiki", limit: 10 * time.Minute, args: append(frozen, "{here}/mediawiki/cases.php"),
		// Random values, and caches, whose texts contain them.
		unlike: []string{
			"user.user_token", "user.user_password", "user.user_email_token", "page.page_random", "job.job_random", "job.job_token", "objectcache.value",
			"objectcache.keyname", "objectcache.modtoken", "recentchanges.rc_params", "site_stats.ss_row_id",
		},
	}
	// frozen runs PHP with a fixed time.
	frozen = []string{"faketime", "-f", "2026-01-02 03:04:05", "/usr/bin/php", "-d", "memory_limit=512M"}
)

// scattering declares tables, and a user that may write to several shards at once.
func scattering(declarations string) shop.Options {
	return shop.Options{Declarations: declarations, User: ", scatter_writes: allow", Spanning: txn.XA}
}
