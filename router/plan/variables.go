package plan

import (
	"regexp"
	"strings"

	"locus/router/stmt"
)

// OnOneShard are the variables that SET STATEMENT may set in addition, because its statement runs on one shard only.
var OnOneShard = words("character_set_results", "check_constraint_checks", "collation_connection", "default_week_format",
	"div_precision_increment", "foreign_key_checks", "group_concat_max_len", "innodb_strict_mode", "lc_messages", "lc_time_names",
	"max_error_count", "max_recursive_iterations", "max_sort_length", "note_verbosity", "old_mode", "sql_notes", "sql_safe_updates",
	"sql_select_limit", "sql_warnings", "standard_compliant_cte", "time_zone", "timestamp", "unique_checks", "sql_mode")

// checkSetStatement refuses variables that SET STATEMENT may not set.
func checkSetStatement(l *stmt.Lexed) error {
	names, there, ok := l.ForStatement()
	if there && !ok {
		return refuse(NotAllowed, "SET STATEMENT whose values are more than constants: use SET, then the statement")
	}
	for _, name := range names {
		if !stmt.ForOneStatement[name] && !OnOneShard[name] {
			return refuse(NotAllowed, "SET STATEMENT of %s, on which more than this statement may depend: use SET, if the session may set it", name)
		}
	}
	return nil
}

var setVar = regexp.MustCompile(`(?i)set_var[ \t\r\n]*\([ \t\r\n]*([a-z0-9_]+)[ \t\r\n]*=[ \t\r\n]*([a-z0-9_.]+|'[^'\\]*')[ \t\r\n]*\)`)

// checkHints refuses hints that do more than change how a server runs the statement.
func checkHints(hints []string) error {
	for _, hint := range hints {
		lower := strings.ToLower(hint)
		if strings.Contains(lower, "resource_group") {
			return refuse(NotAllowed, "the hint RESOURCE_GROUP moves a thread of the server, which others use after it: leave it out")
		}
		matches := setVar.FindAllStringSubmatch(hint, -1)
		if len(matches) != strings.Count(lower, "set_var") {
			return refuse(NotAllowed, "a hint SET_VAR that is more than a name and a constant: SET the variable for the session")
		}
		for _, m := range matches {
			switch name := strings.ToLower(m[1]); {
			case stmt.ForOneStatement[name]:
			case name == "sql_select_limit":
				return refuse(NotAllowed, "the hint SET_VAR(sql_select_limit): each shard would obey it by itself; use LIMIT")
			default:
				return refuse(NotAllowed, "the hint SET_VAR(%s): each shard would obey it by itself; SET the variable for the session, or leave it out", name)
			}
		}
	}
	return nil
}
