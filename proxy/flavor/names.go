package flavor

import "strings"

// Characteristic returns the server's name of a system variable. Variables of transactions have two names, such as tx_isolation and
// transaction_isolation. Other names are returned unchanged.
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

// VariableTables returns the schema of the tables session_variables, global_variables, session_status and global_status.
func (f Flavor) VariableTables() string {
	if f == MariaDB {
		return "information_schema"
	}
	return "performance_schema"
}

// VariableName returns an expression of VARIABLE_NAME that writes names of variables, or of status, as SHOW does. In MariaDB's
// tables all names are in upper case.
func (f Flavor) VariableName(ofVariables bool) string {
	switch {
	case f == MySQL:
		return "VARIABLE_NAME"
	case ofVariables:
		return "LOWER(VARIABLE_NAME)"
	}
	return "IF(VARIABLE_NAME LIKE 'WSREP%', LOWER(VARIABLE_NAME), CONCAT(LEFT(VARIABLE_NAME, 1), LOWER(SUBSTRING(VARIABLE_NAME, 2))))"
}

// TablesCountCommands reports whether the status tables have the Com_… counters of SHOW STATUS.
func (f Flavor) TablesCountCommands() bool { return f == MariaDB }

// HasStatusTable reports whether information_schema has the given table of variables or status.
func (f Flavor) HasStatusTable(name string) bool { return f == MariaDB || name == "processlist" }

// HasTableStatement reports whether TABLE name is a statement, short for SELECT * FROM name.
func (f Flavor) HasTableStatement() bool { return f == MySQL }

// Processes returns the table of the server's sessions, and whether SHOW PROCESSLIST has the column Progress.
func (f Flavor) Processes() (table string, progress bool) {
	if f == MariaDB {
		return "information_schema.PROCESSLIST", true
	}
	return "performance_schema.processlist", false // the server warns about the other table
}

// UserVariables returns the statement that lists the names of the session's user variables after a NULL. On a server that doesn't
// list them, it fails or returns no row.
func (f Flavor) UserVariables() string {
	if f == MariaDB {
		return "SELECT NULL UNION ALL SELECT VARIABLE_NAME FROM information_schema.USER_VARIABLES"
	}
	return "SELECT NULL FROM DUAL WHERE PS_CURRENT_THREAD_ID() IS NOT NULL " +
		"UNION ALL SELECT VARIABLE_NAME FROM performance_schema.user_variables_by_thread WHERE THREAD_ID = PS_CURRENT_THREAD_ID()"
}

// HasVariable reports whether the server has a system variable for which the proxy returns its own value.
func (f Flavor) HasVariable(name string) bool { return name != "gtid_mode" || f == MySQL }

// ConvertsNumbers reports whether numbers and times of the text protocol are sent in character_set_results. Decimals are in any
// case.
func (f Flavor) ConvertsNumbers() bool { return f == MariaDB }

// NamesSources reports whether a field without an alias is called by the name that its column has in a derived table, in whatever
// letters the statement writes it.
func (f Flavor) NamesSources() bool { return f == MariaDB }

// ProfilesSet reports whether a second SET that enables profiling appears in its own profile.
func (f Flavor) ProfilesSet() bool { return f == MariaDB }

// ListsPadding reports whether information_schema.COLLATIONS shows which collations compare trailing spaces.
func (f Flavor) ListsPadding() bool { return f == MySQL }

// NamesNoPad reports whether a collation's name says that it compares trailing spaces.
func (f Flavor) NamesNoPad(collation string) bool {
	return f == MariaDB && strings.Contains(collation, "nopad")
}

// KeepsTableStatistics reports whether information_schema shows the sizes of tables as they were up to a day ago, unless a session sets
// information_schema_stats_expiry.
func (f Flavor) KeepsTableStatistics() bool { return f == MySQL }

// WritesDefaults reports whether information_schema.COLUMNS holds column defaults as SQL: 'text', NULL or an expression. MySQL holds
// the plain text.
func (f Flavor) WritesDefaults() bool { return f == MariaDB }
