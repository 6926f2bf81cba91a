package switchover

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// View is the state of a server at one poll.
type View struct {
	Addr     string
	Identity string // its server_uuid, or MariaDB's server_id
	ReadOnly bool
	// Follows is the identity of the server's source; empty if it replicates from no server.
	Follows string
	// Halted: replication was stopped by a command, and the server still knows its source.
	Halted bool
	// Stopped is the reason why replication does not run; empty if it runs.
	Stopped string
	// Connects: replication has not stopped, and is connecting to the source.
	Connects bool
	// Broken: the I/O thread has stopped with an error, while the applier still runs.
	Broken bool
	// Lacks is the XA branch without which the applier of a MariaDB server has stopped, in the form of
	// statements; empty if none is missing.
	Lacks string
	// Paused: the I/O thread is stopped without an error, while the applier still runs. An interrupted role
	// change has left it so.
	Paused bool
	// GTIDs: its replication or its binary log uses only GTIDs.
	GTIDs bool
	// Strict: as a MariaDB replica, it applies replicated transactions that it once wrote itself and no longer
	// has.
	Strict bool
	// Logs: it logs its own changes and replicated ones, so that other servers can follow it.
	Logs bool
	// Has is the server's GTID set, in the server's own notation.
	Has     string
	MariaDB bool
	// Source is the address of its source, host:port; empty if it replicates from no server.
	Source string
	// Received holds the transactions that it received from its source, applied or not.
	Received string
	// Applies: its applier is running.
	Applies bool
	// Behind is the replication delay in seconds that the server reports; negative if it does not know it.
	Behind int
	// Undecided is the number of prepared transactions on a replica that lags or whose applier has stopped; 0
	// on other servers. Such a transaction locks the rows that it has changed. A server that was killed as the
	// primary may have one that no other server knows.
	Undecided int
	SemiSync  SemiSync
	// Group: it is a member of a MySQL Group Replication group, which elects its primary by itself.
	Group bool
}

// elects returns the message that refuses a role change in a group.
func (v View) elects() string {
	return fmt.Sprintf("%s is a member of a group (Group Replication), which elects its primary: SELECT group_replication_set_as_primary('UUID of the member') there; with failover: follow, the proxies then use it", v.Addr)
}

// All returns the transactions that the server has, or will have after it has applied everything received.
func (v View) All() string { return union(v.MariaDB, v.Has, v.Received) }

func (s *server) look(ctx context.Context) (View, error) {
	v := View{Addr: s.addr, MariaDB: s.mariadb, Behind: -1}
	set := map[string]string{}
	rows, err := s.rows(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN "+
		"('group_replication_group_name', 'server_id', 'server_uuid', 'read_only', 'log_bin', 'log_slave_updates', 'log_replica_updates', 'gtid_mode', 'gtid_executed', 'gtid_binlog_state', 'gtid_strict_mode') "+
		"OR Variable_name LIKE 'rpl\\_semi\\_sync\\_%'")
	if err != nil {
		return v, err
	}
	for _, row := range rows {
		set[strings.ToLower(row["variable_name"])] = row["value"]
	}
	on := func(name string) bool { return strings.EqualFold(set[name], "ON") }
	v.ReadOnly, v.Logs = on("read_only"), on("log_bin") && (on("log_slave_updates") || on("log_replica_updates"))
	v.Identity, v.Has, v.GTIDs = set["server_uuid"], strings.ReplaceAll(set["gtid_executed"], "\n", ""), on("gtid_mode")
	if s.mariadb {
		v.Identity, v.Has, v.GTIDs, v.Strict = set["server_id"], set["gtid_binlog_state"], true, on("gtid_strict_mode")
	}
	v.Group = set["group_replication_group_name"] != ""
	if v.SemiSync, err = s.lookAtSemiSync(ctx, set); err != nil {
		return v, err
	}
	return v, s.lookAtReplication(ctx, &v)
}

// groupChannels is the prefix of the replication channels between members of a group.
const groupChannels = "group_replication_"

// withoutQuery removes the failed statement from an error of the applier, because it contains values of rows. Both servers append it
// in this form.
func withoutQuery(why string) string {
	if at := strings.Index(why, " Query: '"); at >= 0 {
		return why[:at] + " (its text is in SHOW REPLICA STATUS)"
	}
	return why
}

func (s *server) lookAtReplication(ctx context.Context, v *View) error {
	rows, err := s.rows(ctx, "SHOW REPLICA STATUS")
	rows = slices.DeleteFunc(rows, func(row map[string]string) bool { return strings.HasPrefix(row["channel_name"], groupChannels) })
	if err != nil || len(rows) == 0 {
		return err
	}
	if len(rows) > 1 {
		return fmt.Errorf("%s follows several servers", s.addr)
	}
	row := rows[0]
	v.Follows = first(row, "source_uuid", "master_server_id")
	v.Source = net.JoinHostPort(first(row, "source_host", "master_host"), first(row, "source_port", "master_port"))
	v.Received = strings.ReplaceAll(first(row, "retrieved_gtid_set", "gtid_io_pos"), "\n", "")
	if n, err := strconv.Atoi(first(row, "seconds_behind_source", "seconds_behind_master")); err == nil {
		v.Behind = n
	}
	if s.mariadb {
		v.GTIDs = v.GTIDs && row["using_gtid"] != "No"
	} else {
		v.GTIDs = v.GTIDs && row["auto_position"] == "1"
	}
	io, sql := first(row, "replica_io_running", "slave_io_running"), first(row, "replica_sql_running", "slave_sql_running")
	v.Applies = sql == "Yes"
	if io != "Yes" || sql != "Yes" {
		v.Stopped = strings.TrimSpace(first(row, "last_io_error") + " " + withoutQuery(first(row, "last_sql_error")))
		v.Connects = io != "Yes" && io != "No" && sql == "Yes"
		v.Broken = io == "No" && sql == "Yes" && v.Stopped != ""
		v.Paused = io == "No" && sql == "Yes" && v.Stopped == ""
		if s.mariadb && sql == "No" {
			v.Lacks = lacks(row["last_sql_errno"], row["last_sql_error"])
		}
		switch {
		case v.Stopped != "":
		case v.Connects:
			v.Stopped = "it is connecting to the server that it follows"
		default:
			v.Stopped, v.Halted = "its replication is stopped", io == "No" && sql == "No"
		}
	}
	if v.Behind <= late && v.Applies {
		return nil
	}
	n, err := s.prepared(ctx)
	if code(err) != 0 {
		return nil // the account lacks the privilege, which does not make the server less fit
	}
	v.Undecided = n
	return err
}

// late is the delay in seconds from which a poll counts the prepared transactions of a replica.
const late = 10

func first(row map[string]string, names ...string) string {
	for _, name := range names {
		if v, there := row[name]; there {
			return v
		}
	}
	return ""
}

// oldest is the greatest age of a transaction at the primary before a switchover. Younger transactions are
// rolled back if they don't end within a second.
const oldest = 5 * time.Second

// underWay returns the transactions that are open for longer than oldest.
func (s *server) underWay(ctx context.Context) (string, error) {
	rows, err := s.rows(ctx, fmt.Sprintf("SELECT trx_mysql_thread_id AS id, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS age "+
		"FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> 0 AND trx_started < NOW() - INTERVAL %d SECOND", int(oldest.Seconds())))
	var list []string
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%s (%s s)", row["id"], row["age"]))
	}
	return strings.Join(list, ", "), err
}

// prepared returns the number of branches that are prepared on the server.
func (s *server) prepared(ctx context.Context) (int, error) {
	list, err := s.branches(ctx)
	return len(list), err
}

// grants returns the global privileges of this connection's account.
func (s *server) grants(ctx context.Context) (string, error) {
	answer, err := s.conn.Own().Query(ctx, "SHOW GRANTS")
	if err != nil {
		return "", fmt.Errorf("%s: SHOW GRANTS: %w", s.addr, err)
	}
	var rights []string
	for _, row := range answer.Rows {
		if list, _, global := strings.Cut(string(row[0]), " ON *.* TO "); global {
			rights = append(rights, strings.Split(strings.TrimPrefix(list, "GRANT "), ", ")...)
		}
	}
	return "," + strings.ReplaceAll(strings.Join(rights, ","), ", ", ",") + ",", nil
}

// writesAnyway returns the privilege by which an account writes to a read-only MariaDB server, or "" if it
// can't. MySQL's super_read_only applies to every account.
func (s *server) writesAnyway(grants string) string {
	if !s.mariadb {
		return ""
	}
	for _, right := range []string{"ALL PRIVILEGES", "SUPER", "READ_ONLY ADMIN", "READ ONLY ADMIN"} {
		if strings.Contains(grants, ","+right+",") {
			return right
		}
	}
	return ""
}

// The privileges needed to change roles. Of names separated by |, any one is enough.
var (
	rightsOfBoth = []string{"PROCESS", "RELOAD", "REPLICATION SLAVE"}
	mariadbs     = []string{"READ_ONLY ADMIN|READ ONLY ADMIN|SUPER", "REPLICATION SLAVE ADMIN|SUPER", "REPLICA MONITOR|SLAVE MONITOR|SUPER", "CONNECTION ADMIN|SUPER", "BINLOG ADMIN|SUPER"}
	mysqls       = []string{"REPLICATION CLIENT", "SYSTEM_VARIABLES_ADMIN|SUPER", "REPLICATION_SLAVE_ADMIN|SUPER", "CONNECTION_ADMIN|SUPER", "XA_RECOVER_ADMIN"}
)

// lacks returns the needed privileges that this connection's account does not have.
func (s *server) lacks(ctx context.Context) (missing []string, err error) {
	grants, err := s.grants(ctx)
	if err != nil || strings.Contains(grants, ",ALL PRIVILEGES,") {
		return nil, err
	}
	needed := mysqls
	if s.mariadb {
		needed = mariadbs
	}
	for _, right := range slices.Concat(rightsOfBoth, needed) {
		either := strings.Split(right, "|")
		if !slices.ContainsFunc(either, func(r string) bool { return strings.Contains(grants, ","+r+",") }) {
			missing = append(missing, either[0])
		}
	}
	return missing, nil
}
