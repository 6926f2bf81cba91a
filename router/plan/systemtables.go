package plan

import (
	"slices"
	"strings"

	"locus/router/stmt"
)

// systemTables are the tables of the server's own that every user may read. They describe databases, the server's build, or the
// session. The other tables contain password hashes, keys, and the statements and locks of other users.
var systemTables = map[string]map[string]bool{
	"mysql": words("event", "func", "help_category", "help_keyword", "help_relation", "help_topic",
		"innodb_index_stats", "innodb_table_stats", "column_stats", "index_stats", "table_stats", "plugin", "component", "proc", "engine_cost", "server_cost",
		"time_zone", "time_zone_leap_second", "time_zone_name", "time_zone_transition", "time_zone_transition_type", "transaction_registry"),
	"performance_schema": words("column_masking_policy", "global_status", "global_variables", "processlist", "session_account_connect_attrs", "session_status",
		"session_variables", "variables_info", "variables_metadata", "session_connect_attrs"),
	"sys": words("version", "schema_auto_increment_columns", "schema_object_overview", "schema_redundant_indexes"),
}

// hiddenTables are the tables of information_schema that contain statements, accounts and rows of other users.
var hiddenTables = words("innodb_trx", "innodb_locks", "innodb_lock_waits", "innodb_buffer_page", "innodb_buffer_page_lru",
	"innodb_ft_being_deleted", "innodb_ft_config", "innodb_ft_deleted", "innodb_ft_index_cache", "innodb_ft_index_table", "innodb_metrics",
	"innodb_session_temp_tablespaces", "innodb_temp_table_info", "user_attributes", "user_statistics", "client_statistics",
	"thread_pool_groups", "thread_pool_queues", "thread_pool_stats", "thread_pool_waits", "resource_groups", "slave_status", "user_variables", "users")

// InformationTables are the tables of information_schema that may be read.
var InformationTables = words("administrable_role_authorizations", "all_plugins", "applicable_roles", "character_sets", "check_constraints",
	"collation_character_set_applicability", "collations", "column_privileges", "column_statistics", "columns", "columns_extensions",
	"enabled_roles", "engines", "events", "files", "geometry_columns", "global_status", "global_variables", "index_statistics",
	"innodb_buffer_pool_stats", "innodb_cached_indexes", "innodb_cmp", "innodb_cmp_per_index", "innodb_cmp_per_index_reset",
	"innodb_cmp_reset", "innodb_cmpmem", "innodb_cmpmem_reset", "innodb_columns", "innodb_datafiles", "innodb_fields", "innodb_foreign",
	"innodb_foreign_cols", "innodb_ft_default_stopword", "innodb_indexes", "innodb_sys_columns", "innodb_sys_datafiles", "innodb_sys_fields",
	"innodb_sys_foreign", "innodb_sys_foreign_cols", "innodb_sys_indexes", "innodb_sys_tables", "innodb_sys_tablespaces",
	"innodb_sys_tablestats", "innodb_sys_virtual", "innodb_tables", "innodb_tablespaces", "innodb_tablespaces_brief",
	"innodb_tablespaces_encryption", "innodb_tablestats", "innodb_virtual", "json_duality_view_columns", "json_duality_view_links",
	"json_duality_view_tables", "json_duality_views", "key_caches", "key_column_usage", "key_period_usage", "keywords", "libraries", "optimizer_costs", "optimizer_trace",
	"parameters", "partitions", "periods", "plugins", "processlist", "profiling", "referential_constraints", "role_column_grants",
	"role_routine_grants", "role_table_grants", "routine_libraries", "routines", "schema_privileges", "schemata", "schemata_extensions",
	"sequences", "session_status", "session_variables", "spatial_ref_sys", "sql_functions", "st_geometry_columns",
	"st_spatial_reference_systems", "st_units_of_measure", "statistics", "system_variables", "table_constraints",
	"table_constraints_extensions", "table_privileges", "table_statistics", "tables", "tables_extensions", "tablespaces",
	"tablespaces_extensions", "triggers", "user_privileges", "view_routine_usage", "view_table_usage", "views")

// pathTables contain file paths on a server's disk, including the paths of databases that a user with rights may not use.
var pathTables = words("files", "innodb_datafiles", "innodb_sys_datafiles", "innodb_tablespaces", "innodb_sys_tablespaces",
	"innodb_tablespaces_brief", "system_variables", "variables_info")

// HiddenTable reports whether a table of information_schema was reviewed and may not be read.
func HiddenTable(name string) bool { return hiddenTables[name] }

// checkSystemTables refuses to read the server's own tables that may not be read, and to change any of them.
func checkSystemTables(s *stmt.Statement, writes bool, ctx Context) error {
	if s.Kind == stmt.Show || s.Kind == stmt.Use {
		return nil
	}
	for _, name := range TablesOf(s) {
		schema, table := strings.ToLower(ctx.schemaOf(name)), strings.ToLower(name.Name)
		readable := systemTables[schema]
		switch {
		case schema == "information_schema" && !InformationTables[table]:
			if !hiddenTables[table] && !writes {
				continue // not a table of any server version that was reviewed; a shard without it returns an error
			}
		case readable == nil, readable[table] && !writes:
			continue
		}
		return refuse(NotAllowed, "%s.%s is the server's own table: connect to the shard for it", schema, table)
	}
	if routine := s.Routine; routine != nil && systemTables[strings.ToLower(ctx.schemaOf(*routine))] != nil {
		return refuse(NotAllowed, "%s.%s is the server's own routine, which may run any statement: connect to the shard for it", ctx.schemaOf(*routine), routine.Name)
	}
	return nil
}

// namesTheServers reports whether the words of an unread text, or the default database, may refer to the server's own tables.
func (u unread) namesTheServers(ctx Context) bool {
	return systemTables[strings.ToLower(ctx.Schema)] != nil || slices.ContainsFunc(u.bare, func(w string) bool {
		return systemTables[w] != nil && w != "sys" || hiddenTables[w]
	}) || slices.Contains(u.bare, "sys") && slices.ContainsFunc(u.bare, func(w string) bool { return w == "call" || strings.HasPrefix(w, "ps_") })
}

// namesSystemTables reports whether the words of a stored program, or the default database, may refer to the server's own tables.
func (u unread) namesSystemTables(ctx Context) bool {
	within := strings.ToLower(ctx.Schema)
	information := within == "information_schema" || slices.Contains(u.bare, "information_schema")
	return systemTables[within] != nil || slices.ContainsFunc(u.bare, func(w string) bool {
		return systemTables[w] != nil && w != "sys" || information && hiddenTables[w]
	}) || slices.Contains(u.bare, "sys") && slices.ContainsFunc(u.bare, func(w string) bool { return w == "call" || strings.HasPrefix(w, "ps_") })
}
