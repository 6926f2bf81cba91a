package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/migrate/link"
	"locus/router/catalog"
)

func (i *inspection) versions() error {
	s, t := i.source.Version(), i.target.Version()
	switch {
	case s.Flavor != t.Flavor:
		i.problem("move between servers of one kind; their types and collations are not the same", "the source is %s and the target %s", s.Flavor, t.Flavor)
	case t.Number/100 < s.Number/100:
		i.problem("upgrade the target first", "the target %s is older than the source %s", t, s)
	}
	return nil
}

// needed lists variables on which a server's log depends, in the order in which they can be set. An empty
// remedy means SET GLOBAL.
var needed = []struct{ variable, value, remedy string }{
	{"log_bin", "ON", "set log_bin (log-bin = binlog) in the configuration, and restart the server: it can't be set while the server runs"},
	{"binlog_format", "ROW", ""},
	{"binlog_row_image", "FULL", ""},
	{"binlog_row_value_options", "", ""},
	{"enforce_gtid_consistency", "ON", ""},
	{
		"gtid_mode", "ON",
		"SET GLOBAL gtid_mode = OFF_PERMISSIVE, then ON_PERMISSIVE, then ON, each on the server's replicas too before the next one; and in the configuration",
	},
}

// logs checks both servers, because the reverse stream needs the target's log. It checks replicas too, because
// their logs are read after they have become the primary.
func (i *inspection) logs() error {
	for _, s := range i.all() {
		if s.replica && s.variables["log_slave_updates"] != "ON" && s.variables["log_replica_updates"] != "ON" {
			i.problem("set log_replica_updates (log_slave_updates) = ON there and restart it, or leave it out of servers: (locus apply)",
				"the %s does not log the transactions that it receives: no job could continue there once it is the primary", s.role)
		}
		for _, want := range needed {
			value, known := s.variables[want.variable] // not every version of a server has each of these variables
			if known && !strings.EqualFold(value, want.value) {
				i.problem(cmp.Or(want.remedy, fmt.Sprintf("SET GLOBAL %s = '%s', in the configuration too, and reconnect all clients", want.variable, want.value)),
					"the %s has %s = %q, and %q is needed", s.role, want.variable, value, want.value)
			}
		}
		if s.variables["server_id"] == "0" {
			i.problem("set server_id to a number that no other server has", "the %s has server_id = 0", s.role)
		}
		if err := i.filters(s); err != nil {
			return err
		}
		i.retention(s)
	}
	return nil
}

func (i *inspection) serverIDs() error {
	if a, b := i.source.variables["server_id"], i.target.variables["server_id"]; a == b {
		i.problem("give each server its own server_id", "both servers have server_id = %s", a)
	}
	return nil
}

func (i *inspection) filters(s *side) error {
	query := "SHOW MASTER STATUS"
	if v := s.Version(); v.Flavor == link.MySQL && v.AtLeast(8, 2, 0) {
		query = "SHOW BINARY LOG STATUS"
	}
	rows, err := s.Query(i.ctx, query)
	if link.Code(err) != 0 {
		i.problem("GRANT REPLICATION CLIENT (on MariaDB: BINLOG MONITOR) ON *.* TO "+s.account, "the %s does not say where its log is: %s", s.role, link.Reason(err))
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if len(r[2])+len(r[3]) > 0 {
			i.problem("remove binlog-do-db and binlog-ignore-db", "the %s does not log all databases", s.role)
		}
	}
	return nil
}

func (i *inspection) retention(s *side) {
	seconds, err := strconv.ParseFloat(s.variables["binlog_expire_logs_seconds"], 64)
	if err != nil || seconds == 0 { // kept forever, or the server is too old to have the variable
		return
	}
	if kept := time.Duration(seconds * float64(time.Second)); kept < i.config.Retention {
		i.problem(fmt.Sprintf("SET GLOBAL binlog_expire_logs_seconds = %d", int(i.config.Retention.Seconds())),
			"the %s keeps its log for %s, and a move may need %s of it", s.role, kept, i.config.Retention)
	}
}

// ownAccount is an SQL expression for the account of the connection, in the form that GRANT uses.
const ownAccount = `CONCAT('\'', REPLACE(CURRENT_USER(), '@', '\'@\''), '\'')`

// replication is the privilege to read a server's log.
const replication = "REPLICATION SLAVE"

// privileges checks the privileges at every level: global ones, those on each table, and those on the mover's
// own schema.
func (i *inspection) privileges() error {
	for _, s := range i.sides() {
		has, err := i.grants(s)
		if err != nil {
			return err
		}
		if !has.may(replication, "", "") {
			i.problem("GRANT "+replication+" ON *.* TO "+s.account, "the mover may not read the log of the %s: it has no %s", s.role, replication)
		}
		if err := i.prepared(s); err != nil {
			return err
		}
		for _, n := range i.names() {
			needs := i.needs
			if i.config.Import && s == i.source && i.config.Tables[n].MakesGene() {
				needs = append(slices.Clip(needs), Need{"ALTER", "the column for the gene"}, Need{"CREATE", "its index"})
			}
			if i.config.Outside && s == i.source {
				needs = append(slices.Clip(needs), Need{"LOCK TABLES", "the switch"})
			}
			if i.config.Import && s == i.target {
				needs = append(slices.Clip(needs), Need{"CREATE", "tables that are not there"}, Need{"DROP", "those of an import that is aborted"})
			}
			i.tablePrivileges(s, has, n, i.who, needs...)
		}
		i.tablePrivileges(s, has, catalog.TableName{Schema: "locus", Name: "move_position"}, "moves", Need{"CREATE", ""})
	}
	return nil
}

// prepared checks that a source outside of the cluster lists its prepared branches, because the cut-over waits
// for them. For shards, the check of cross-shard transactions covers this.
func (i *inspection) prepared(s *side) error {
	if !i.config.Outside || s != i.source {
		return nil
	}
	_, err := s.Query(i.ctx, "XA RECOVER")
	if link.Code(err) != 0 {
		i.problem("GRANT XA_RECOVER_ADMIN ON *.* TO "+s.account, "the %s does not list its prepared branches, which the switch waits for: %s", s.role, link.Reason(err))
		return nil
	}
	return err
}

func (i *inspection) tablePrivileges(s *side, has grants, of catalog.TableName, who string, more ...Need) {
	var lacks, told []string
	for _, n := range append([]Need{{"SELECT", ""}, {"INSERT", ""}, {"UPDATE", ""}, {"DELETE", ""}}, more...) {
		if has.may(n.Privilege, of.Schema, of.Name) {
			continue
		}
		lacks, told = append(lacks, n.Privilege), append(told, n.Privilege)
		if n.For != "" {
			told[len(told)-1] += " (for " + n.For + ")"
		}
	}
	if lacks != nil {
		i.problem(fmt.Sprintf("GRANT %s ON %s.* TO %s", strings.Join(lacks, ", "), link.Name(of.Schema), s.account),
			"%s lack %s on %s of the %s", who, strings.Join(told, ", "), of, s.role)
	}
}

// settings compares settings that change the meaning of values, or whether a server accepts them.
func (i *inspection) settings() error {
	for _, v := range []string{"lower_case_table_names", "innodb_page_size"} {
		if a, b := i.source.variables[v], i.target.variables[v]; a != b {
			i.problem("set up the target with the source's", "%s is %s at the source and %s at the target", v, a, b)
		}
	}
	source, _ := strconv.Atoi(i.source.variables["max_allowed_packet"])
	target, _ := strconv.Atoi(i.target.variables["max_allowed_packet"])
	if target < source {
		i.problem(fmt.Sprintf("SET GLOBAL max_allowed_packet = %d at the target", source), "the target takes statements of %d bytes and the source of %d", target, source)
	}
	return nil
}

func (i *inspection) readOnly() error {
	for _, s := range i.sides() {
		if s.variables["read_only"] == "ON" || s.variables["read_only"] == "1" {
			i.problem("SET GLOBAL read_only = OFF, or name the primary", "the %s is read only", s.role)
		}
	}
	return nil
}

// clockDifference bounds the difference of the clocks, because columns that the server fills in would differ by
// it.
const clockDifference = 2 * time.Second

func (i *inspection) clocks() error {
	var at [2]float64
	for n, s := range i.sides() {
		rows, err := s.Query(i.ctx, "SELECT UNIX_TIMESTAMP(NOW(6))")
		if err != nil {
			return err
		}
		if at[n], err = strconv.ParseFloat(string(rows[0][0]), 64); err != nil {
			return err
		}
	}
	if off := time.Duration((at[1] - at[0]) * float64(time.Second)).Abs(); off > clockDifference {
		i.problem("set the clocks by NTP", "the servers' clocks differ by %s", off.Round(time.Millisecond))
	}
	return nil
}

// longTransactions reports long transactions. They may still commit rows that the copy does not see.
func (i *inspection) longTransactions() error {
	rows, err := i.source.Query(i.ctx, fmt.Sprintf("SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, UTC_TIMESTAMP()) FROM information_schema.INNODB_TRX"+
		" WHERE trx_started < UTC_TIMESTAMP() - INTERVAL %d SECOND", int(i.config.LongTransaction.Seconds())))
	if link.Code(err) != 0 {
		i.problem("GRANT PROCESS ON *.* TO "+i.source.account, "the %s does not list its transactions: %s", i.source.role, link.Reason(err))
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		i.problem("end it, or KILL it; XA RECOVER lists prepared ones", "transaction of connection %s has been open for %s seconds", r[0], r[1])
	}
	return nil
}
