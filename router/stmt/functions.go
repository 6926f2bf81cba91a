package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for name := range strings.FieldsSeq(list) {
			out[name] = true
		}
	}
	return out
}

// clocks are functions of the statement's time.
var clocks = set(`now current_timestamp localtime localtimestamp curdate current_date curtime current_time
	utc_date utc_time utc_timestamp unix_timestamp`)

// volatiles depend on the server, or differ at each call.
var volatiles = set(`rand uuid uuid_short uuid_v4 uuid_v7 random_bytes sysdate sleep benchmark connection_id
	last_insert_id found_rows row_count user session_user system_user current_user current_role
	get_lock release_lock release_all_locks is_free_lock is_used_lock
	name_const nextval lastval setval version sys_guid`)

// oneServer reports whether a function's result depends on the number of the row, or on the server. RAND(seed) starts
// its sequence once for a statement where the seed is constant. Servers take the seed for constant where a condition
// fixes its columns, too.
func oneServer(f *ast.FuncCallExpr) bool {
	switch f.FnName.L {
	case "rand":
		return len(f.Args) > 0
	case "uuid_short":
		return true
	}
	return false
}

// serverVariables are the system variables that identify a server, its files or its positions. The other
// variables of a session have the same values on all shards.
var serverVariables = set(`server_id server_uuid server_uid datadir basedir tmpdir socket pid_file general_log_file log_error
	log_bin_basename log_bin_index relay_log relay_log_basename relay_log_index slow_query_log_file report_host report_port
	gtid_executed gtid_purged gtid_owned gtid_current_pos gtid_binlog_pos gtid_binlog_state gtid_slave_pos last_gtid rand_seed1
	rand_seed2 statement_id hostname port`)

// oracleWords are functions that sql_mode ORACLE reads without parentheses. The parser reads them as columns.
var oracleWords = map[string]Feature{"rownum": UnknownFunction | Volatile, "sysdate": Volatile}

// serverFunctions are functions of the server's state rather than of tables: they read files, or wait for replication.
var serverFunctions = set(`load_file master_pos_wait source_pos_wait master_gtid_wait wait_for_executed_gtid_set
	wait_until_sql_thread_after_gtids ps_thread_id ps_current_thread_id binlog_gtid_pos wsrep_sync_wait_upto_gtid
	wsrep_last_written_gtid wsrep_last_seen_gtid roles_graphml can_access_column can_access_database can_access_table can_access_user
	can_access_view get_dd_column_privileges get_dd_create_options get_dd_index_sub_part_length internal_auto_increment
	internal_avg_row_length internal_check_time internal_checksum internal_data_free internal_data_length internal_dd_char_length
	internal_get_comment_or_error internal_get_enabled_role_json internal_get_hostname internal_get_username
	internal_get_view_warning_or_error internal_index_column_cardinality internal_index_length internal_is_enabled_role
	internal_is_mandatory_role internal_keys_disabled internal_max_data_length internal_table_rows internal_update_time
	is_visible_dd_object`)

// otherFunctions are built-in functions of several rows, with their own grammar, or not needed on several shards. They
// run on one shard.
var otherFunctions = set(`bit_and bit_or bit_xor count cume_dist dense_rank first_value group_concat json_arrayagg json_objectagg lag lead
	last_value max median min nth_value ntile percent_rank percentile_cont percentile_disc rank row_number std stddev stddev_pop
	stddev_samp sum avg variance var_pop var_samp grouping exists json_table distance st_collect
	trim_oracle lpad_oracle ltrim_oracle replace_oracle rpad_oracle rtrim_oracle substr_oracle concat_operator_oracle decode_oracle
	column_check column_exists column_list column_json column_add column_create column_delete column_get decode_histogram des_decrypt
	des_encrypt encode encrypt extractvalue updatexml old_password schemas icu_version gtid_subset gtid_subtract
	asymmetric_decrypt asymmetric_encrypt asymmetric_sign asymmetric_verify create_asymmetric_priv_key create_asymmetric_pub_key
	create_digest asymmetric_derive create_dh_parameters st_mpointfromtext st_mpolyfromtext st_geomcollfromwkb st_linefromwkb
	st_mlinefromwkb st_mpointfromwkb st_mpolyfromwkb st_pointfromwkb st_polyfromwkb geomcollection st_lineinterpolatepoint
	st_lineinterpolatepoints st_pointatdistance`)

// grouping reports for a row of WITH ROLLUP which columns are summed up.
const grouping = "grouping"

// KnownFunction reports whether a built-in function is classified.
func KnownFunction(name string) bool {
	return scalars[name] || volatiles[name] || clocks[name] || serverFunctions[name] || otherFunctions[name]
}

// OfArguments reports whether a built-in function is classified as depending on its arguments alone: servers with equal
// settings return equal results.
func OfArguments(name string) bool {
	return scalars[name] && !volatiles[name] && !clocks[name] && name != "database" && name != "schema"
}

// schemaFunctions are functions of the schema sys that only compute.
var schemaFunctions = set(`extract_schema_from_file_name extract_table_from_file_name format_bytes format_path format_statement
	format_time list_add list_drop quote_identifier version_major version_minor version_patch`)

// reaching reports whether a function accesses the server's state.
func reaching(f *ast.FuncCallExpr) bool {
	switch f.Schema.L {
	case "":
		return serverFunctions[f.FnName.L]
	case "sys":
		return !schemaFunctions[f.FnName.L]
	case "mysql", "performance_schema", "information_schema":
		return true
	}
	return false
}

// scalar reports whether a function is built-in and depends on one row's values. The parser gives literals such as
// DATE'…' function names that no text can contain.
func scalar(f *ast.FuncCallExpr) bool {
	switch f.FnName.L {
	case ast.DateLiteral, ast.TimeLiteral, ast.TimestampLiteral:
		return true
	}
	return f.Schema.L == "" && scalars[f.FnName.L]
}

// scalars are the built-in functions of one row's values. Any other may be an aggregate (such as ST_COLLECT, which
// looks similar) or a stored function, and isn't run on several shards for one answer.
var scalars = set(
	// values and control flow
	`coalesce greatest least if ifnull nullif isnull interval nvl nvl2 decode any_value default values in benchmark`,
	// numbers
	`abs acos asin atan atan2 bit_count ceil ceiling conv cos cot crc32 crc32c degrees div exp floor format ln log log10
	log2 mod pi pow power radians rand round sign sin sqrt tan truncate`,
	// strings
	`ascii bin bit_length char char_func char_length character_length chr concat concat_ws convert elt export_set field find_in_set
	from_base64 hex insert insert_func instr lcase left length lengthb locate lower lpad ltrim make_set mid
	natural_sort_key oct octet_length ord position quote regexp_instr regexp_like regexp_replace regexp_substr repeat
	replace reverse right rpad rtrim sformat soundex space strcmp substr substring substring_index to_base64 to_char
	trim ucase unhex upper weight_string charset coercibility collation compress uncompress uncompressed_length`,
	// time
	`add_months adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add
	date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime get_format
	hour last_day localtime localtimestamp makedate maketime microsecond minute month monthname now period_add
	period_diff quarter sec_to_time second str_to_date subdate subtime sysdate time time_format time_to_sec timediff
	timestamp timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week weekday
	weekofyear year yearweek`,
	// hashes, keys and addresses
	`aes_decrypt aes_encrypt kdf md5 password random_bytes sha sha1 sha2 statement_digest statement_digest_text
	inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid uuid uuid_short
	uuid_to_bin bin_to_uuid sys_guid`,
	// JSON
	`json_array json_array_append json_array_insert json_array_intersect json_compact json_contains json_contains_path json_depth
	json_detailed json_equals json_exists json_extract json_insert json_key_value json_keys json_length json_loose json_merge
	json_merge_patch json_merge_preserve json_normalize json_object json_object_filter_keys json_object_to_array json_overlaps json_pretty json_query json_quote
	json_remove json_replace json_schema_valid json_schema_validation_report json_search json_set json_storage_free
	json_storage_size json_type json_unquote json_valid json_value json_memberof`,
	// sessions
	`connection_id current_role current_user database found_rows last_insert_id row_count schema session_user sleep
	system_user user validate_password_strength version format_bytes format_pico_time get_lock release_lock release_all_locks is_free_lock is_used_lock`,
	// shapes
	`geometrycollection geometrycollectionfromtext linestring mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals
	mbrintersects mbroverlaps mbrtouches mbrwithin multilinestring multipoint multipolygon point polygon st_area
	st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_buffer_strategy st_centroid st_contains
	st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint
	st_envelope st_equals st_exteriorring st_frechetdistance st_geohash st_geomcollfromtext st_geometryn
	st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_hausdorffdistance st_interiorringn
	st_intersection st_intersects st_isclosed st_isempty st_issimple st_isvalid st_latfromgeohash st_latitude st_length
	st_linefromtext st_longfromgeohash st_longitude st_makeenvelope st_mlinefromtext st_numgeometries
	st_numinteriorrings st_numpoints st_overlaps st_pointfromgeohash st_pointfromtext st_pointn st_polyfromtext
	st_simplify st_srid st_startpoint st_swapxy st_symdifference st_touches st_transform st_union st_validate st_within
	st_x st_y vec_distance vec_distance_cosine vec_distance_euclidean vec_fromtext vec_totext string_to_vector
	vector_to_string vector_dim`,
)

// Computes reports whether a word before a parenthesis, in lower case, is a function or keyword that leaves nothing
// behind. It is then no stored or loadable function, lock, or next value of a sequence.
func Computes(word string) bool {
	switch word {
	case "get_lock", "release_lock", "release_all_locks", "last_insert_id", "nextval", "setval", "lastval", "sleep", "benchmark", "load_file":
		return false
	}
	return scalars[word] || keywordsBefore[word]
}

// keywordsBefore may precede a parenthesis without being a call.
var keywordsBefore = set(`and or xor not in between like regexp rlike is as case when then else div mod interval cast convert binary
	char varchar decimal numeric float double time timestamp datetime year signed unsigned varbinary array collate on values using
	nchar charset bit enum set generated always virtual stored default current_timestamp current_date current_time`)

// Unquoted returns a word found by Words in lower case and without quotes.
func Unquoted(word []byte) string {
	if len(word) > 1 && class[word[0]] == quoteByte {
		quote := string(word[:1])
		return strings.ToLower(strings.ReplaceAll(string(word[1:len(word)-1]), quote+quote, quote))
	}
	return strings.ToLower(string(word))
}
