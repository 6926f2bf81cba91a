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

// clocks read the statement's time.
var clocks = set(`now current_timestamp localtime localtimestamp curdate current_date curtime current_time
	utc_date utc_time utc_timestamp unix_timestamp`)

// volatiles say what one server says of itself, or something new each time.
var volatiles = set(`rand uuid uuid_short uuid_v4 uuid_v7 random_bytes sysdate sleep benchmark connection_id
	last_insert_id found_rows row_count user session_user system_user current_user current_role
	get_lock release_lock release_all_locks is_free_lock is_used_lock
	load_file master_pos_wait source_pos_wait master_gtid_wait wait_for_executed_gtid_set
	name_const nextval lastval setval version ps_current_thread_id ps_thread_id`)

// scalar tells whether a function is the servers' own and of one row's values.
// The parser gives literals such as DATE'…' names that no text can have.
func scalar(f *ast.FuncCallExpr) bool {
	switch f.FnName.L {
	case ast.DateLiteral, ast.TimeLiteral, ast.TimestampLiteral:
		return true
	}
	return f.Schema.L == "" && scalars[f.FnName.L]
}

// scalars are the servers' own functions of one row's values. Whatever is not
// among them may be an aggregate (ST_COLLECT is one that reads like these), or
// stored, and is not run on several shards for one answer.
var scalars = set(
	// values and control flow
	`coalesce greatest least if ifnull nullif isnull interval nvl nvl2 decode any_value default values in benchmark`,
	// numbers
	`abs acos asin atan atan2 bit_count ceil ceiling conv cos cot crc32 crc32c degrees div exp floor format ln log log10
	log2 mod pi pow power radians rand round sign sin sqrt tan truncate`,
	// strings
	`ascii bin bit_length char char_func char_length character_length chr concat concat_ws convert elt export_set field find_in_set
	from_base64 hex insert insert_func instr lcase left length lengthb load_file locate lower lpad ltrim make_set mid
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
	`aes_decrypt aes_encrypt md5 password random_bytes sha sha1 sha2 statement_digest statement_digest_text
	inet_aton inet_ntoa inet6_aton inet6_ntoa is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid uuid uuid_short
	uuid_to_bin bin_to_uuid sys_guid`,
	// JSON
	`json_array json_array_append json_array_insert json_compact json_contains json_contains_path json_depth
	json_detailed json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge
	json_merge_patch json_merge_preserve json_normalize json_object json_overlaps json_pretty json_query json_quote
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
