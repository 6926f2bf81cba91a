package switchover

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SemiSync is what a server says of semi-synchronous replication: whether what it acknowledges is
// somewhere else by then.
type SemiSync struct {
	// Waits: as a primary it waits until replicas have what it is about to acknowledge.
	Waits bool
	// AfterSync: it waits before it commits, so that nobody reads what no replica has.
	AfterSync bool
	// Patience is for how long it waits, before it goes on without.
	Patience time.Duration
	// Alone: it waits also where fewer replicas are there than it waits for.
	Alone bool
	// Copies is how many replicas it waits for.
	Copies int
	// InForce: it has not gone on without since it was started.
	InForce bool
	// Replicas is how many acknowledge to it.
	Replicas int
	// Waiting is how many commits wait for them now.
	Waiting int
	// Acknowledges: as a replica it tells what it has received.
	Acknowledges bool
}

// forever is how long a primary must wait for replicas, at least: nobody waits longer.
const forever = 24 * time.Hour

// Weak is why what the server acknowledges as a primary may be nowhere else; empty: it is.
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
	case s.Copies < 1: // the server's own reading of it, if ever
		return "it waits for no replica"
	}
	add(!s.InForce, "semi-synchronous replication has fallen back to asynchronous")
	add(!s.AfterSync, "it commits before a replica has acknowledged (rpl_semi_sync_…_wait_point is not AFTER_SYNC)")
	add(s.Patience < forever, fmt.Sprintf("it goes on without replicas after %v (rpl_semi_sync_…_timeout, in ms)", s.Patience))
	add(!s.Alone, "it goes on without replicas where there are too few (rpl_semi_sync_…_wait_no_… is OFF)")
	return strings.Join(why, ", ")
}

// named looks a setting up that has other names in other versions, without their beginning.
func named(set map[string]string, names ...string) string {
	for _, name := range names {
		if v, there := set["rpl_semi_sync_"+name]; there {
			return v
		}
	}
	return ""
}

// lookAtSemiSync adds the status to a server's settings, and reads both. A server without it is not asked.
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

// semiSyncOf reads what a server has said, by names in small letters.
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
		// MariaDB waits for one.
		Copies:       int(number(1, "source_wait_for_replica_count", "master_wait_for_slave_count")),
		InForce:      on("source_status", "master_status"),
		Replicas:     int(number(0, "source_clients", "master_clients")),
		Waiting:      int(number(0, "source_wait_sessions", "master_wait_sessions")),
		Acknowledges: on("replica_enabled", "slave_enabled"),
	}
}

// waitAsPrimary has a server that acknowledges as a replica wait for replicas from now on: what it
// is to others, others are to it. One that is no such replica is left as it is.
func (s *server) waitAsPrimary(ctx context.Context) error { return s.setWaits(ctx, "ON") }

// waitForNobody has one that follows wait for nobody, as it has nothing to acknowledge; or a primary that is to go on without.
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
