package session

// variableClass says what the session does with a system variable.
type variableClass uint8

const (
	// applied: carried to every connection that serves the session. What is not
	// listed is applied; the server says whether it exists and takes the value.
	applied variableClass = iota
	// answered: the session keeps it, and says what it is.
	answered
	// readOnly: the proxy says what it is, and it can't be set.
	readOnly
	// ignored: it is about the connection to the client, which is ours. The
	// session remembers what was set, and does nothing else with it, but for
	// wait_timeout: see Examine.
	ignored
	// forbidden: it would change what other sessions see, or make IDs and routes
	// that are not the cluster's.
	forbidden
	// equalOnly: it can only be set to what the shards have.
	equalOnly
)

func (c variableClass) String() string {
	return [...]string{"applied", "answered by the proxy", "read-only", "ignored", "refused", "equal only"}[c]
}

// variableClasses lists the variables that are not simply applied.
var variableClasses = map[string]variableClass{
	"autocommit":             answered,
	"identity":               answered,
	"insert_id":              answered,
	"locus_read":             answered,
	"last_insert_id":         answered,
	"transaction_isolation":  answered,
	"transaction_read_only":  answered,
	"tx_isolation":           answered,
	"tx_read_only":           answered,
	"error_count":            readOnly,
	"gtid_mode":              readOnly,
	"hostname":               readOnly,
	"max_allowed_packet":     readOnly,
	"port":                   readOnly,
	"version":                readOnly,
	"version_comment":        readOnly,
	"warning_count":          readOnly,
	"interactive_timeout":    ignored,
	"net_buffer_length":      ignored,
	"net_read_timeout":       ignored,
	"net_retry_count":        ignored,
	"net_write_timeout":      ignored,
	"wait_timeout":           ignored,
	"gtid_domain_id":         forbidden,
	"gtid_seq_no":            forbidden,
	"pseudo_replica_mode":    forbidden,
	"pseudo_slave_mode":      forbidden,
	"pseudo_thread_id":       forbidden,
	"server_id":              forbidden,
	"skip_replication":       forbidden,
	"sql_log_off":            forbidden,
	"binlog_format":          equalOnly,
	"binlog_row_image":       equalOnly,
	"gtid_next":              equalOnly,
	"lower_case_table_names": equalOnly,
	"sql_log_bin":            equalOnly,

	"session_track_gtids":            ignored,
	"session_track_transaction_info": equalOnly,
}
