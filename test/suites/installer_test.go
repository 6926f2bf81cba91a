package suites

import (
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/suites/stand"
)

// installer is a program of the distribution that creates its tables with files of SQL. The client runs the package's own
// files, as the package's installer does, and then a file of this repository with statements as the program sends them. The
// client's output, the definitions and the rows are compared.
type installer struct {
	files []string // below the installed packages; compressed ones end in .gz
	uses  string   // in the directory installers
	// unlike are the columns, as table.column, whose values differ from run to run.
	unlike []string
}

func (i installer) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	source := stand.Installed(t, "installers")
	return func(t *testing.T, at place, _ []string) stand.Outcomes {
		outcomes := stand.Outcomes{}
		for _, file := range i.files {
			outcomes[file] = i.feed(t, at, source+"/"+file, "")
		}
		outcomes[i.uses] = i.feed(t, at, at.fill(t, []string{"{here}/installers/" + i.uses})[0], "--force --verbose")
		db := at.DB(t, at.database)
		for _, table := range tables(t, db) {
			outcomes["rows of "+table] = stand.Outcome{State: stand.Passed, Result: application{unlike: i.unlike}.rows(t, db, table)}
		}
		for what, query := range definitions {
			for _, line := range column(t, db, query) {
				name, text, _ := strings.Cut(line, "\n")
				outcomes[what+" "+name] = stand.Outcome{State: stand.Passed, Result: text}
			}
		}
		return outcomes
	}, nil
}

// definitions are queries for the objects in the database. Each object has one line, which begins with its name.
var definitions = map[string]string{
	"column": "SELECT CONCAT_WS('\n', CONCAT(TABLE_NAME, '.', COLUMN_NAME), ORDINAL_POSITION, COLUMN_TYPE, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, '(none)'), EXTRA, COALESCE(COLLATION_NAME, ''))" +
		" FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
	"index part": "SELECT CONCAT_WS('\n', CONCAT(TABLE_NAME, '.', INDEX_NAME, '.', SEQ_IN_INDEX), COLUMN_NAME, NON_UNIQUE, COALESCE(SUB_PART, ''))" +
		" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()",
	"foreign key": "SELECT CONCAT_WS('\n', CONCAT(TABLE_NAME, '.', CONSTRAINT_NAME), REFERENCED_TABLE_NAME, DELETE_RULE, UPDATE_RULE)" +
		" FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()",
	"trigger": "SELECT CONCAT_WS('\n', TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_TIMING, EVENT_MANIPULATION, ACTION_STATEMENT, SQL_MODE)" +
		" FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
	"routine": "SELECT CONCAT_WS('\n', ROUTINE_NAME, ROUTINE_TYPE, ROUTINE_DEFINITION, SQL_MODE)" +
		" FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()",
}

// feed gives a file to the client. The shell prints the exit status, which Command ignores.
func (installer) feed(t *testing.T, at place, file, options string) stand.Outcome {
	t.Helper()
	script := `if [ "${0%.gz}" = "$0" ]; then cat "$0"; else zcat "$0"; fi | mariadb -h "$H" -P "$P" -u "$U" -p"$W" ` + options + ` "$D" 2>&1; echo "exit status $?"`
	out := string(stand.Command{
		Args: []string{"bash", "-c", script, file}, Limit: 10 * time.Minute,
		Env: at.fill(t, []string{"H={host}", "P={port}", "U={user}", "W={password}", "D={database}"}),
	}.Output(t))
	said, ended := strings.CutSuffix(out, "exit status 0\n")
	if !ended {
		return stand.Outcome{State: stand.Failed, Detail: out}
	}
	return stand.Outcome{State: stand.Passed, Result: said}
}

// installers are programs whose tables are not declared. Everything that they use must work as on one server.
var installers = []suite{
	{
		name: "kea", short: servers.MariaDB, databases: []string{"kea"}, least: 800,
		tests: installer{files: []string{"usr/share/kea/scripts/mysql/dhcpdb_create.mysql"}, uses: "kea.sql", unlike: []string{"dhcp4_server.modification_ts", "dhcp6_server.modification_ts"}},
	},
	{
		name: "roundcube", databases: []string{"roundcube"}, least: 150,
		tests: installer{files: []string{"usr/share/dbconfig-common/data/roundcube/install/mysql"}, uses: "roundcube.sql"},
	},
	{
		name: "bacula", databases: []string{"bacula"}, least: 200,
		tests: installer{files: []string{"usr/share/dbconfig-common/data/bacula-director-mysql/install/mysql"}, uses: "bacula.sql"},
	},
	{
		name: "zabbix", databases: []string{"zabbix"}, least: 1800,
		tests: installer{
			files: []string{
				"usr/share/zabbix-server-mysql/schema.sql.gz", "usr/share/zabbix-server-mysql/images.sql.gz",
				"usr/share/zabbix-server-mysql/data.sql.gz", "usr/share/zabbix-server-mysql/double.sql.gz",
			},
			uses: "zabbix.sql", unlike: []string{"changelog.clock"},
		},
	},
}
