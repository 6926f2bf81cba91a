package switchover

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
	"locus/router/cluster"
)

// seen holds everything that the check inspects before it changes anything.
type seen struct {
	shard    router.ShardName
	declared *cluster.Cluster
	primary  View
	next     View
	errant   string   // errant transactions of next
	underWay string   // long transactions at the primary
	prepared int      // number of branches prepared at the primary
	right    string   // the privilege by which the proxies' account writes to a read-only server
	lacks    []string // by server: the privileges that the admin account lacks
	old      []string // processes that don't obey the current document
}

// Refused lists all problems that prevent a role change. Nothing was changed.
type Refused struct{ Problems []string }

func (r *Refused) Error() string {
	return "nothing was changed: " + strings.Join(r.Problems, "\n")
}

// judge returns the problems that prevent next from becoming the primary.
func (s seen) judge() (problems []string) {
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	from, to := s.primary, s.next
	if from.Group || to.Group { // the group elects its primary, so other problems don't matter
		return []string{to.elects()}
	}
	add(from.ReadOnly, "the primary %s takes no writes: SET GLOBAL read_only = OFF there, if no other server is the primary", from.Addr)
	add(from.Follows != "", "the primary %s follows another server itself: RESET REPLICA ALL there, or name the right primary", from.Addr)
	add(!from.Logs || !to.Logs, "%s and %s need log_bin and log_replica_updates (log_slave_updates)", from.Addr, to.Addr)
	add(!to.ReadOnly, "%s takes writes, and so two servers would: SET GLOBAL read_only = ON there, and in its configuration", to.Addr)
	add(to.Follows == "", "%s follows no server: make it a replica of %s", to.Addr, from.Addr)
	add(to.Follows != "" && to.Follows != from.Identity, "%s follows another server than %s", to.Addr, from.Addr)
	add(to.Follows != "" && to.Stopped != "", "%s has stopped replicating: %s", to.Addr, to.Stopped)
	add(!from.GTIDs || !to.GTIDs, "%s and %s must replicate by GTIDs: gtid_mode = ON and SOURCE_AUTO_POSITION = 1, with MariaDB MASTER_USE_GTID = slave_pos", from.Addr, to.Addr)
	add(s.errant != "", "%s has transactions that %s lacks: %s", to.Addr, from.Addr, s.errant)
	add(s.underWay != "", "transactions have been open at %s for longer than %v, of connections %s: wait for them, or KILL them", from.Addr, oldest, s.underWay)
	add(s.prepared > 0, "%d transactions are prepared at %s and not decided: see locus doctor, branches in doubt", s.prepared, from.Addr)
	add(s.right != "", "the account %s has the privilege %s, with which it can write to read-only servers: REVOKE it", s.declared.Shards[s.shard].User, s.right)
	add(len(s.lacks) > 0, "the account %s, which changes roles, lacks privileges: GRANT … ON *.* at %s", s.declared.Shards[s.shard].Admin.User, strings.Join(s.lacks, "; "))
	add(len(s.old) > 0, "proxies don't follow the record of the shard's primary: upgrade them, or see locus doctor: %s", strings.Join(s.old, ", "))
	return problems
}

// member returns an error if an address is not one of the shard's servers.
func member(c *cluster.Cluster, shard router.ShardName, addr string) error {
	if servers := c.Shards[shard].Servers; !slices.Contains(servers, addr) {
		return &Refused{[]string{fmt.Sprintf("%s is not one of the servers of shard %s: %s", addr, shard, strings.Join(servers, ", "))}}
	}
	return nil
}
