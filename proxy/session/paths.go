package session

import "strings"

// paths are the servers' variables that say where their files, keys and sockets are. Users with bounds find them empty: what
// lies on a shard's disk is none of theirs.
var paths = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		admin_ssl_ca admin_ssl_capath admin_ssl_cert admin_ssl_crl admin_ssl_crlpath admin_ssl_key aria_log_dir_path basedir
		caching_sha2_password_private_key_path caching_sha2_password_public_key_path character_sets_dir datadir ft_stopword_file
		general_log_file init_file innodb_data_file_path innodb_data_home_dir innodb_doublewrite_dir innodb_log_group_home_dir
		innodb_temp_data_file_path innodb_temp_tablespaces_dir innodb_tmpdir innodb_undo_directory lc_messages_dir log_bin_basename
		log_bin_index log_error log_slow_query_file pid_file plugin_dir relay_log_basename relay_log_index relay_log_info_file
		replica_load_tmpdir secure_file_priv sha256_password_private_key_path sha256_password_public_key_path slave_load_tmpdir
		slow_query_log_file socket ssl_ca ssl_capath ssl_cert ssl_crl ssl_crlpath ssl_key tmpdir wsrep_data_home_dir`) {
		names[name] = true
	}
	return names
}()

// HidesPath tells whether a variable of the servers says where something lies on their disks.
func HidesPath(name string) bool { return paths[name] }

func (s *Session) hidesPaths() bool { return s.account.Rights != nil }
