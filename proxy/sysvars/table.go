package sysvars

import (
	"iter"
	"maps"
	"strings"

	"locus/router/stmt"
)

// Class is how the proxy handles a system variable.
type Class uint8

const (
	// unclassified variables are not checked yet, so they can't be set. A server that is newer than this table may have added them.
	unclassified Class = iota
	// Applied variables are set on every connection that serves the session. The server decides whether the variable exists and the value is
	// valid. Its effect is the same on one shard and on several. Neither routes, transactions nor the reads of moves depend on it.
	Applied
	// Answered variables are kept and answered by the session.
	Answered
	// ReadOnly variables are answered by the proxy, and can't be set.
	ReadOnly
	// Ignored variables concern the connection to the client, which is the proxy's. The session records the value, and uses only the timeouts.
	Ignored
	// Forbidden variables would affect other sessions, or cause IDs and routes that differ from the cluster's.
	Forbidden
	// EqualOnly variables can only be set to the value that the shards have.
	EqualOnly
)

func (c Class) String() string {
	return [...]string{"not known", "applied", "answered by the proxy", "read-only", "ignored", "refused", "equal only"}[c]
}

// variable describes how the proxy handles one system variable.
type variable struct {
	class Class
	// set assigns a constant, by a function of the variable or of its class. takes gets the value as it was written.
	set   func(s *Set, v stmt.Variable, literal string) error
	takes func(*Set, stmt.Variable) error
	// sql returns the variable's value as SQL, or "" if a shard's value applies. If sql is nil, a shard's value applies, or, for an ignored
	// variable, the value that was set.
	sql func(*Answers, question) (sql string)
	// carried contains the names of the settings that an assignment changes. changes contains the variables that the client is notified of. nil
	// means the variable's own name.
	carried, changes []string
	// path is set if the value is a path on a server. Users with limited rights don't see it.
	path bool
	// ours is set if no shard has a variable of that name.
	ours bool
	// diagnoses is set if a query for the variable does not change the diagnostics.
	diagnoses bool
}

// variables contains every variable that a session can set on the server versions that were checked, and those that the proxy answers.
var variables = allVariables()

// special contains the variables that have their own functions.
var special = map[string]variable{
	autocommit:              {class: Answered, set: setAutocommit},
	"insert_id":             {class: Answered, takes: takeForcedID},
	"identity":              {class: Answered, takes: takeInsertID, sql: insertID},
	"last_insert_id":        {class: Answered, takes: takeInsertID, sql: insertID},
	"locus_context":         {class: Answered, set: setContext, sql: contextText, ours: true},
	"locus_read":            {class: Answered, set: setRead, sql: read, ours: true},
	"locus_partial":         {class: Answered, set: setPartial, sql: partial, ours: true},
	"locus_shard":           {class: Answered, set: setShard, sql: shardNamed, ours: true},
	"transaction_isolation": {class: Answered, set: setIsolation},
	"tx_isolation":          {class: Answered, set: setIsolation},
	"transaction_read_only": {class: Answered, set: setReadOnly},
	"tx_read_only":          {class: Answered, set: setReadOnly},

	"error_count":        {class: ReadOnly, sql: errorCount, diagnoses: true},
	"warning_count":      {class: ReadOnly, sql: warningCount, diagnoses: true},
	"gtid_mode":          {class: ReadOnly, sql: gtidMode},
	"hostname":           {class: ReadOnly, sql: hostname},
	"max_allowed_packet": {class: ReadOnly, sql: maxAllowedPacket},
	"port":               {class: ReadOnly, sql: port},

	netReadTimeout:  {class: Ignored, set: setIgnored, sql: timeout},
	netWriteTimeout: {class: Ignored, set: setIgnored, sql: timeout},
	waitTimeout:     {class: Ignored, set: setIgnored, sql: timeout},

	"version":         {class: ReadOnly, sql: version},
	"version_comment": {class: ReadOnly, sql: versionComment},

	"pseudo_thread_id":               {class: Forbidden, sql: connectionID},
	"session_track_transaction_info": {class: EqualOnly, set: setTransactionTracking},

	characterSetClient:     {class: Applied, set: setCharsetVariable},
	characterSetConnection: {class: Applied, set: setCharsetVariable},
	"optimizer_switch":     {class: Applied, set: setIncremental},
	"optimizer_trace":      {class: Applied, set: setIncremental},
	"profiling":            {class: Applied, set: setProfiling},
	"sql_mode":             {class: Applied, set: setMode},

	// SET has these names too, but they are no variables.
	"names":   {takes: takeNames, carried: []string{"names"}, changes: charsets},
	"charset": {takes: takeCharset, carried: []string{"names", characterSetClient, characterSetResults, collationConnection}, changes: charsets},
}

// setters contains the functions that assign variables without functions of their own.
var setters = map[Class]func(*Set, stmt.Variable, string) error{Applied: setApplied, Ignored: setIgnored, EqualOnly: setEqual}

// byClass contains the other variables.
var byClass = map[Class]string{
	Ignored: `interactive_timeout net_buffer_length net_retry_count session_track_gtids tcp_nodelay thread_pool_priority`,
	Forbidden: `default_master_connection gtid_domain_id gtid_seq_no immediate_server_version log_disabled_statements max_relay_log_size
		original_commit_timestamp original_server_version pseudo_replica_mode pseudo_slave_mode rand_seed1 rand_seed2 redirect_url
		require_row_format server_id skip_parallel_replication skip_replication sql_log_off sql_slave_skip_counter
		wsrep_gtid_seq_no`,
	EqualOnly: `binlog_alter_two_phase binlog_annotate_row_events binlog_direct_non_transactional_updates binlog_format binlog_row_image
		binlog_row_value_options binlog_rows_query_log_events binlog_transaction_compression
		binlog_transaction_compression_level_zstd completion_type connection_memory_chunk_size connection_memory_limit
		default_collation_for_utf8mb4 enable_cascade_triggers enforce_storage_engine explicit_defaults_for_timestamp
		external_table_secondary_storage_engine external_table_storage_engine global_connection_memory_tracking
		group_replication_consistency gtid_next innodb_ft_user_stopword_table innodb_tmpdir log_slow_disabled_statements
		lower_case_table_names parser_max_mem_size rbr_exec_mode resultset_metadata sql_auto_is_null sql_log_bin
		transaction_write_set_extraction use_secondary_engine wsrep_on wsrep_osu_method wsrep_trx_fragment_size
		wsrep_trx_fragment_unit xa_detach_on_prepare`,
	Applied: `alter_algorithm analyze_max_length analyze_sample_percentage aria_repair_threads aria_sort_buffer_size aria_stats_method
		auto_increment_increment auto_increment_offset big_tables block_encryption_mode bulk_insert_buffer_size
		character_set_collations character_set_database character_set_filesystem character_set_results character_set_server
		check_constraint_checks collation_connection collation_database collation_server column_compression_threshold
		column_compression_zlib_level column_compression_zlib_strategy column_compression_zlib_wrap cte_max_recursion_depth
		deadlock_search_depth_long deadlock_search_depth_short deadlock_timeout_long deadlock_timeout_short default_regex_flags
		default_storage_engine default_table_encryption default_tmp_storage_engine default_week_format div_precision_increment
		enable_secondary_engine_statistics end_markers_in_json eq_range_index_dive_limit expensive_subquery_limit explain_format
		explain_json_format_version foreign_key_checks generated_random_password_length group_concat_max_len
		histogram_generation_max_mem_size histogram_size histogram_type idle_readonly_transaction_timeout
		idle_transaction_timeout idle_write_transaction_timeout in_predicate_conversion_threshold
		information_schema_stats_expiry innodb_compression_default innodb_ddl_buffer_size innodb_ddl_threads
		innodb_default_encryption_key_id innodb_ft_enable_stopword innodb_lock_wait_timeout innodb_parallel_read_threads
		innodb_snapshot_isolation innodb_strict_mode innodb_table_locks internal_tmp_mem_storage_engine join_buffer_size
		join_buffer_space_limit join_cache_level keep_files_on_create lc_messages lc_time_names lock_wait_timeout
		log_queries_not_using_indexes log_slow_admin_statements log_slow_always_query_time log_slow_filter log_slow_max_warnings
		log_slow_min_examined_row_limit log_slow_query log_slow_query_time log_slow_rate_limit log_slow_slave_statements
		log_slow_verbosity log_warnings long_query_time low_priority_updates max_delayed_threads max_error_count
		max_execution_time max_heap_table_size max_insert_delayed_threads max_join_size max_length_for_sort_data
		max_points_in_geometry max_recursive_iterations max_rowid_filter_size max_seeks_for_key max_session_mem_used
		max_sort_length max_sp_recursion_depth max_statement_time max_tmp_session_space_usage max_tmp_tables max_user_connections
		mhnsw_default_distance mhnsw_default_m mhnsw_ef_search
		min_examined_row_limit mrr_buffer_size myisam_repair_threads myisam_sort_buffer_size myisam_stats_method new new_mode
		note_verbosity old old_alter_table old_mode old_passwords optimizer_adjust_secondary_key_costs
		optimizer_extra_pruning_depth optimizer_join_limit_pref_ratio optimizer_max_sel_arg_weight optimizer_max_sel_args
		optimizer_max_subgraph_pairs optimizer_prune_level optimizer_scan_setup_cost optimizer_search_depth
		optimizer_selectivity_sampling_limit optimizer_trace_features optimizer_trace_limit optimizer_trace_max_mem_size
		optimizer_trace_offset optimizer_use_condition_selectivity optimizer_where_cost preload_buffer_size
		print_identified_with_as_hex profiling_history_size progress_report_time query_alloc_block_size
		query_cache_strip_comments query_cache_type query_cache_wlock_invalidate query_prealloc_size range_alloc_block_size
		range_optimizer_max_mem_size read_buffer_size read_rnd_buffer_size restrict_fk_on_non_standard_key rowid_merge_buff_size
		secondary_engine_cost_threshold select_into_buffer_size select_into_disk_sync select_into_disk_sync_delay
		session_track_schema session_track_state_change session_track_system_variables set_operations_buffer_size
		show_create_table_skip_secondary_engine show_create_table_verbosity show_gipk_in_create_table_and_information_schema
		show_old_temporals slow_query_log sort_buffer_size sql_big_selects sql_buffer_result sql_generate_invisible_primary_key
		sql_if_exists sql_notes sql_quote_show_create sql_require_primary_key sql_safe_updates sql_select_limit sql_warnings
		standard_compliant_cte storage_engine system_versioning_alter_history system_versioning_asof
		system_versioning_insert_history terminology_use_previous time_zone timestamp tmp_disk_table_size tmp_memory_table_size
		tmp_table_size transaction_alloc_block_size transaction_allow_batching transaction_prealloc_size unique_checks
		updatable_views_with_limit use_stat_tables windowing_use_high_precision wsrep_causal_reads wsrep_dirty_reads
		wsrep_retry_autocommit wsrep_sync_wait`,
}

// paths contains the servers' variables for the locations of their files, keys and sockets.
const paths = `admin_ssl_ca admin_ssl_capath admin_ssl_cert admin_ssl_crl admin_ssl_crlpath admin_ssl_key aria_log_dir_path basedir
		caching_sha2_password_private_key_path caching_sha2_password_public_key_path character_sets_dir datadir ft_stopword_file
		general_log_file init_file innodb_data_file_path innodb_data_home_dir innodb_doublewrite_dir innodb_log_group_home_dir
		innodb_temp_data_file_path innodb_temp_tablespaces_dir innodb_tmpdir innodb_undo_directory lc_messages_dir
		log_bin_basename log_bin_index log_error log_slow_query_file pid_file plugin_dir relay_log_basename relay_log_index
		relay_log_info_file replica_load_tmpdir secure_file_priv sha256_password_private_key_path
		sha256_password_public_key_path slave_load_tmpdir slow_query_log_file socket ssl_ca ssl_capath ssl_cert ssl_crl
		ssl_crlpath ssl_key tmpdir wsrep_data_home_dir`

// allVariables returns the special variables and those in lists.
func allVariables() map[string]variable {
	all := maps.Clone(special)
	for class, list := range byClass {
		for name := range strings.FieldsSeq(list) {
			all[name] = variable{class: class, set: setters[class]}
		}
	}
	for name := range strings.FieldsSeq(paths) {
		row := all[name]
		row.path = true
		all[name] = row
	}
	return all
}

// All returns each checked variable with its class.
func All() iter.Seq2[string, Class] {
	return func(yield func(string, Class) bool) {
		for name, row := range variables {
			if row.class != unclassified && !yield(name, row.class) {
				return
			}
		}
	}
}

// Classified reports whether the effect of a session variable was checked.
func Classified(name string) bool { return variables[name].class != unclassified }

// HidesPath reports whether a variable's value is a path on a server.
func HidesPath(name string) bool { return variables[name].path }
