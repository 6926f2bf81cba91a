package plan

import (
	"regexp"
	"strings"

	"locus/router/stmt"
)

// ForOneStatement are the variables that a hint, or SET STATEMENT, may set for one statement. They limit the resources of a
// statement, or change how a server runs it, and don't affect its answer. A session may set each of them.
var ForOneStatement = words("big_tables", "bulk_insert_buffer_size", "eq_range_index_dive_limit", "expensive_subquery_limit",
	"histogram_generation_max_mem_size", "in_predicate_conversion_threshold", "innodb_lock_wait_timeout", "internal_tmp_mem_storage_engine",
	"join_buffer_size", "join_buffer_space_limit", "join_cache_level", "lock_wait_timeout", "log_slow_query", "log_slow_query_time",
	"long_query_time", "max_execution_time", "max_heap_table_size", "max_length_for_sort_data", "max_rowid_filter_size",
	"max_seeks_for_key", "max_statement_time", "max_tmp_tables", "min_examined_row_limit", "mrr_buffer_size", "myisam_sort_buffer_size",
	"optimizer_max_subgraph_pairs", "optimizer_prune_level", "optimizer_search_depth", "optimizer_selectivity_sampling_limit", "optimizer_switch",
	"optimizer_use_condition_selectivity", "query_alloc_block_size", "query_cache_type", "query_prealloc_size",
	"range_alloc_block_size", "range_optimizer_max_mem_size", "read_buffer_size", "read_rnd_buffer_size", "rowid_merge_buff_size",
	"slow_query_log", "sort_buffer_size", "sql_buffer_result", "tmp_disk_table_size", "tmp_memory_table_size", "tmp_table_size",
	"use_stat_tables")

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
		if !ForOneStatement[name] && !OnOneShard[name] {
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
			case ForOneStatement[name]:
			case name == "sql_select_limit":
				return refuse(NotAllowed, "the hint SET_VAR(sql_select_limit): each shard would obey it by itself; use LIMIT")
			default:
				return refuse(NotAllowed, "the hint SET_VAR(%s): each shard would obey it by itself; SET the variable for the session, or leave it out", name)
			}
		}
	}
	return nil
}
