package switchover

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SemiSync is a server's state of semi-synchronous replication. It determines whether acknowledged transactions
// are on another server too.
type SemiSync struct {
	// Waits: as a primary, it acknowledges a transaction only after replicas have received it.
	Waits bool
	// AfterSync: it waits before it commits, so that no client reads rows that no replica has.
	AfterSync bool
	// Patience is the time after which it stops waiting and falls back to asynchronous replication.
	Patience time.Duration
	// Alone: it waits even if fewer replicas are connected than it needs.
	Alone bool
	// Copies is the number of replicas that must acknowledge a transaction.
	Copies int
	// InForce: it has not fallen back to asynchronous replication.
	InForce bool
	// Replicas is the number of connected replicas that acknowledge.
	Replicas int
	// Waiting is the number of commits that wait for replicas now.
	Waiting int
	// Acknowledges: as a replica, it acknowledges received transactions.
	Acknowledges bool
}

// forever is the shortest accepted timeout of a primary that waits for replicas. No client waits longer.
const forever = 24 * time.Hour

// Weak returns the reason why transactions that the server acknowledges as a primary may be on no other server,
// or "" if they always are.
func (s SemiSync) Weak() string {
	var why []string
	add := func(weak bool, what string) {
		if weak {
			why = append(why, what)
		}
	}
	switch {
	case !s.Waits:
		return "semi-synchronous replication is off"
	case s.Copies < 1: // unlikely, but a server may report it
		return "it waits for no replica"
	}
	add(!s.InForce, "semi-synchronous replication has fallen back to asynchronous")
	add(!s.AfterSync, "it commits before a replica has acknowledged (rpl_semi_sync_…_wait_point is not AFTER_SYNC)")
	add(s.Patience < forever, fmt.Sprintf("it goes on without replicas after %v (rpl_semi_sync_…_timeout, in ms)", s.Patience))
	add(!s.Alone, "it goes on without replicas where there are too few (rpl_semi_sync_…_wait_no_… is OFF)")
	return strings.Join(why, ", ")
}

// named returns the value of a setting whose name differs between versions. The names lack the prefix
// rpl_semi_sync_.
func named(set map[string]string, names ...string) string {
	for _, name := range names {
		if v, there := set["rpl_semi_sync_"+name]; there {
			return v
		}
	}
	return ""
}

// lookAtSemiSync combines a server's settings with its status variables. It skips the query on servers without
// semi-synchronous replication.
func (s *server) lookAtSemiSync(ctx context.Context, set map[string]string) (SemiSync, error) {
	if of := semiSyncOf(set); !of.Waits && !of.Acknowledges {
		return of, nil
	}
	rows, err := s.rows(ctx, "SHOW GLOBAL STATUS LIKE 'Rpl\\_semi\\_sync\\_%'")
	if err != nil {
		return SemiSync{}, err
	}
	for _, row := range rows {
		set[strings.ToLower(row["variable_name"])] = row["value"]
	}
	return semiSyncOf(set), nil
}

// semiSyncOf reads a server's variables, keyed by lower-case names.
func semiSyncOf(set map[string]string) SemiSync {
	on := func(names ...string) bool { return strings.EqualFold(named(set, names...), "ON") }
	number := func(otherwise uint64, names ...string) uint64 {
		n, err := strconv.ParseUint(named(set, names...), 10, 64)
		if err != nil {
			return otherwise
		}
		return n
	}
	return SemiSync{
		Waits:     on("source_enabled", "master_enabled"),
		AfterSync: strings.EqualFold(named(set, "source_wait_point", "master_wait_point"), "AFTER_SYNC"),
		Patience:  time.Duration(min(number(0, "source_timeout", "master_timeout"), uint64(forever/time.Millisecond))) * time.Millisecond,
		Alone:     on("source_wait_no_replica", "master_wait_no_slave"),
		// MariaDB waits for one replica.
		Copies:       int(number(1, "source_wait_for_replica_count", "master_wait_for_slave_count")),
		InForce:      on("source_status", "master_status"),
		Replicas:     int(number(0, "source_clients", "master_clients")),
		Waiting:      int(number(0, "source_wait_sessions", "master_wait_sessions")),
		Acknowledges: on("replica_enabled", "slave_enabled"),
	}
}

// waitAsPrimary makes a server wait for replicas from now on, if it acknowledges as a replica. Other servers
// are not changed, because locus does not manage their semi-synchronous replication.
func (s *server) waitAsPrimary(ctx context.Context) error { return s.setWaits(ctx, "ON") }

// waitForNobody makes a server acknowledge without replicas: a replica, which has nothing to acknowledge to
// clients, or a primary that is to run without replicas.
func (s *server) waitForNobody(ctx context.Context) error { return s.setWaits(ctx, "OFF") }

func (s *server) setWaits(ctx context.Context, value string) error {
	rows, err := s.rows(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('rpl_semi_sync_replica_enabled', 'rpl_semi_sync_slave_enabled', "+
		"'rpl_semi_sync_source_enabled', 'rpl_semi_sync_master_enabled')")
	if err != nil {
		return err
	}
	acknowledges, switches := false, ""
	for _, row := range rows {
		switch name := strings.ToLower(row["variable_name"]); {
		case strings.HasSuffix(name, "source_enabled") || strings.HasSuffix(name, "master_enabled"):
			if !strings.EqualFold(row["value"], value) {
				switches = name
			}
		default:
			acknowledges = strings.EqualFold(row["value"], "ON")
		}
	}
	if !acknowledges || switches == "" {
		return nil
	}
	return s.exec(ctx, "SET GLOBAL "+switches+" = "+value)
}
