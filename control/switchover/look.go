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

// View is how a server was seen.
type View struct {
	Addr     string
	Identity string // its UUID, or MariaDB's server_id
	ReadOnly bool
	// Follows is the identity of the server that it follows; empty: none.
	Follows string
	// Halted: somebody has told it to follow no more, and it keeps whom it followed.
	Halted bool
	// Stopped is why it does not go on following; empty: it does.
	Stopped string
	// Connects: it has not stopped, and is on its way to the server that it follows.
	Connects bool
	// Broken: it has ended to receive with an error by itself, and goes on applying.
	Broken bool
	// Lacks is the branch for want of which a MariaDB has stopped to apply, as statements spell it; empty: none.
	Lacks string
	// Paused: it receives nothing, without an error, and goes on applying: an order that was broken off has left it so.
	Paused bool
	// GTIDs: its replication, or what it logs, goes by them alone.
	GTIDs bool
	// Strict: as a MariaDB replica it takes what it has written itself, and does not have any more.
	Strict bool
	// Logs: it logs its own changes and those that it was sent, so that others can follow it.
	Logs bool
	// Has is the transactions that it has, in its own words.
	Has     string
	MariaDB bool
	// Source is where it follows another server, host:port; empty: it follows none.
	Source string
	// Received are those that it was sent by the server that it follows, applied or not.
	Received string
	// Applies: it goes on applying what it has received.
	Applies bool
	// Behind is by how many seconds it is behind, as it says itself; negative: it doesn't know.
	Behind int
	// Undecided is how many transactions are prepared at a replica that is late or has stopped to apply, 0 at others. Rows that one of
	// them has changed are locked: a server that was killed as the primary may have one that no other server knows of.
	Undecided int
	SemiSync  SemiSync
	// Group: it is a member of a group of MySQL's Group Replication, which elects the primary by itself.
	Group bool
}

// elects is what is told of an order to change roles in a group.
func (v View) elects() string {
	return fmt.Sprintf("%s is a member of a group (Group Replication), which elects its primary: SELECT group_replication_set_as_primary('UUID of the member') there; failover: follow has the proxies go there", v.Addr)
}

// All are the transactions that it has or will have once it has applied what it has received.
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

// groupChannels begin the names of those by which members of a group hear of each other.
const groupChannels = "group_replication_"

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
		v.Stopped = strings.TrimSpace(first(row, "last_io_error") + " " + first(row, "last_sql_error"))
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
		return nil // the account may not ask: that makes the server no worse
	}
	v.Undecided = n
	return err
}

// late is after how many seconds it is looked at what a replica may be waiting for.
const late = 10

func first(row map[string]string, names ...string) string {
	for _, name := range names {
		if v, there := row[name]; there {
			return v
		}
	}
	return ""
}

// oldest is how long something may be under way at the primary before a switchover: what is
// under way then is rolled back if it doesn't end within a second.
const oldest = 5 * time.Second

// underWay names transactions that are open for longer than that.
func (s *server) underWay(ctx context.Context) (string, error) {
	rows, err := s.rows(ctx, fmt.Sprintf("SELECT trx_mysql_thread_id AS id, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS age "+
		"FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> 0 AND trx_started < NOW() - INTERVAL %d SECOND", int(oldest.Seconds())))
	var list []string
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%s (%s s)", row["id"], row["age"]))
	}
	return strings.Join(list, ", "), err
}

// prepared is of how many branches nobody has decided yet.
func (s *server) prepared(ctx context.Context) (int, error) {
	list, err := s.branches(ctx)
	return len(list), err
}

// grants are the rights of the account of this connection on everything.
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

// writesAnyway is the right by which an account of MariaDB writes to a server that is
// read-only; empty: it can't. MySQL's super_read_only is for all.
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

// The rights by which roles change; of those with a stroke any one will do.
var (
	rightsOfBoth = []string{"PROCESS", "RELOAD", "REPLICATION SLAVE"}
	mariadbs     = []string{"READ_ONLY ADMIN|READ ONLY ADMIN|SUPER", "REPLICATION SLAVE ADMIN|SUPER", "REPLICA MONITOR|SLAVE MONITOR|SUPER", "CONNECTION ADMIN|SUPER", "BINLOG ADMIN|SUPER"}
	mysqls       = []string{"REPLICATION CLIENT", "SYSTEM_VARIABLES_ADMIN|SUPER", "REPLICATION_SLAVE_ADMIN|SUPER", "CONNECTION_ADMIN|SUPER", "XA_RECOVER_ADMIN"}
)

// lacks are those of them that the account of this connection has not.
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
