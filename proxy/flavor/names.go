package flavor

import "strings"

// Characteristic returns the name by which the server has, and reports, a system variable: those of transactions have two,
// such as tx_isolation and transaction_isolation. Other names are returned as they are.
func (f Flavor) Characteristic(name string) string {
	const older, newer = "tx_", "transaction_"
	what := strings.TrimPrefix(strings.TrimPrefix(name, older), newer)
	switch {
	case what != "isolation" && what != "read_only" || what == name:
		return name
	case f == MariaDB:
		return older + what
	}
	return newer + what
}

// VariableTables returns the schema that has the tables session_variables, global_variables, session_status, global_status.
func (f Flavor) VariableTables() string {
	if f == MariaDB {
		return "information_schema"
	}
	return "performance_schema"
}

// VariableName returns an expression of VARIABLE_NAME that spells a name as SHOW does: of variables or of status. MariaDB's
// tables have all names in capitals.
func (f Flavor) VariableName(ofVariables bool) string {
	switch {
	case f == MySQL:
		return "VARIABLE_NAME"
	case ofVariables:
		return "LOWER(VARIABLE_NAME)"
	}
	return "IF(VARIABLE_NAME LIKE 'WSREP%', LOWER(VARIABLE_NAME), CONCAT(LEFT(VARIABLE_NAME, 1), LOWER(SUBSTRING(VARIABLE_NAME, 2))))"
}

// TablesCountCommands tells whether the tables of status have the counters Com_…, as SHOW STATUS has.
func (f Flavor) TablesCountCommands() bool { return f == MariaDB }

// HasStatusTable tells whether information_schema has the table of variables or of status of that name.
func (f Flavor) HasStatusTable(name string) bool { return f == MariaDB || name == "processlist" }

// HasTableStatement tells whether TABLE name stands for SELECT * FROM name.
func (f Flavor) HasTableStatement() bool { return f == MySQL }

// Processes returns the table of what the server's sessions do, and whether SHOW PROCESSLIST has the column Progress.
func (f Flavor) Processes() (table string, progress bool) {
	if f == MariaDB {
		return "information_schema.PROCESSLIST", true
	}
	return "performance_schema.processlist", false // it warns of the other
}

// UserVariables returns the statement that lists the names of the session's user variables, behind a NULL. It fails, or gives no row,
// on a server that does not list them.
func (f Flavor) UserVariables() string {
	if f == MariaDB {
		return "SELECT NULL UNION ALL SELECT VARIABLE_NAME FROM information_schema.USER_VARIABLES"
	}
	return "SELECT NULL FROM DUAL WHERE PS_CURRENT_THREAD_ID() IS NOT NULL " +
		"UNION ALL SELECT VARIABLE_NAME FROM performance_schema.user_variables_by_thread WHERE THREAD_ID = PS_CURRENT_THREAD_ID()"
}

// HasVariable tells whether the server has a system variable of which the proxy gives its own value.
func (f Flavor) HasVariable(name string) bool { return name != "gtid_mode" || f == MySQL }

// ProfilesSet tells whether a SET that turns profiling on twice is in its own profile.
func (f Flavor) ProfilesSet() bool { return f == MariaDB }

// ListsPadding tells whether information_schema.COLLATIONS says for which collations trailing spaces count in comparisons.
func (f Flavor) ListsPadding() bool { return f == MySQL }

// NamesNoPad tells whether the name of a collation says that trailing spaces count in comparisons.
func (f Flavor) NamesNoPad(collation string) bool {
	return f == MariaDB && strings.Contains(collation, "nopad")
}

// WritesDefaults tells whether information_schema.COLUMNS has the default of a column as SQL: 'text', NULL or an expression.
// MySQL has the bare text.
func (f Flavor) WritesDefaults() bool { return f == MariaDB }
