//go:build long

package switchover

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"locus/control/switchover"
	"locus/internal/test/process"
	"locus/internal/test/servers"
)

// A group of three MySQL servers elects its primary by itself: on request, and after the primary was killed or
// frozen. The proxies follow it, and no acknowledged write is missing.
func TestGroupReplication(t *testing.T) {
	s := grouped(t)
	s.declare(t, "follow")
	for range 2 {
		s.serve(t)
	}
	for range 2 {
		s.lookAfter(t)
	}
	l := s.load(t)
	l.more(t, 100)

	elects := "elects its primary"
	refused, is := errors.AsType[*switchover.Refused](second(s.to(1).Run(t.Context())))
	if !is || !strings.Contains(refused.Error(), elects) {
		t.Errorf("a switchover: %v", refused)
	}
	if err := s.to(1).Take(t.Context(), false); err == nil || !strings.Contains(err.Error(), elects) {
		t.Errorf("--take: %v", err)
	}
	l.more(t, 50)

	var id string
	must(t, s.servers[1].DB(t, "").QueryRow("SELECT @@server_uuid").Scan(&id))
	s.servers[0].Exec(t, "SELECT group_replication_set_as_primary('"+id+"')")
	s.elected(t, l, 0, "it was told to elect another one")

	at := s.primary(t)
	s.kill(t, at)
	s.elected(t, l, at, "a kill")
	s.restart(t, at)
	s.joins(t, at)

	at = s.primary(t)
	s.freeze(t, at)
	s.elected(t, l, at, "it froze")
	s.thaw(t, at)
	s.wantTrouble(t, "")
	servers.Eventually(t, "the one that was frozen takes no writes", func() error {
		var readOnly bool
		db := s.servers[at].DB(t, "")
		defer db.Close()
		if err := db.QueryRow("SELECT @@GLOBAL.super_read_only").Scan(&readOnly); err != nil || !readOnly {
			return fmt.Errorf("it is read-only: %v, %w", readOnly, err)
		}
		return nil
	})
	l.more(t, 50)
	l.end()
	s.wantAcknowledged(t, l)
}

func second[A, B any](_ A, b B) B { return b }

// elected waits until the proxies have gone to another server than that one.
func (s *stand) elected(t *testing.T, l *load, before int, after string) {
	t.Helper()
	began := time.Now()
	s.wantNamedAnother(t, before)
	l.more(t, 20)
	t.Logf("writes went on %v after %s", time.Since(began).Round(time.Millisecond), after)
	s.wantTrouble(t, "")
}

// grouped returns a cluster with three servers of a group, and one server of another shard.
func grouped(t *testing.T) *stand {
	t.Helper()
	const n = 3
	group := uuid.NewString()
	var at []*servers.Server
	var seeds []string
	for range n {
		seeds = append(seeds, process.FreeAddr(t))
	}
	for i := range n {
		at = append(at, servers.Start(t, servers.MySQL, 1,
			"--plugin-load-add=group_replication.so", "--performance-schema=ON", "--log-replica-updates=ON", "--report-host=127.0.0.1",
			"--group-replication-group-name="+group, "--group-replication-local-address="+seeds[i], "--group-replication-group-seeds="+strings.Join(seeds, ","),
			"--group-replication-start-on-boot=OFF", "--group-replication-recovery-get-public-key=ON",
		)[0])
	}
	s := open(t, servers.MySQL, at)
	for i := range n {
		s.servers[i].Exec(t, "RESET BINARY LOGS AND GTIDS", "SET PERSIST_ONLY super_read_only = ON")
		if i == 0 {
			s.servers[i].Exec(t, "SET GLOBAL group_replication_bootstrap_group = ON")
		}
		s.joins(t, i)
		if i == 0 {
			s.servers[i].Exec(t, "SET GLOBAL group_replication_bootstrap_group = OFF")
		}
	}
	s.servers[0].Exec(t, accounts(servers.MySQL)...)
	alone := servers.Start(t, servers.MySQL, 1)[0]
	alone.Exec(t, append(accounts(servers.MySQL), "DROP TABLE "+schema+".setting")...)
	s.servers = append(s.servers, alone)
	return s
}

// joins makes a server a member of the group.
func (s *stand) joins(t *testing.T, server int) {
	t.Helper()
	at := s.servers[server]
	at.Exec(t, fmt.Sprintf("START GROUP_REPLICATION USER='%s', PASSWORD='%s'", at.User, at.Password))
	servers.Eventually(t, "it is a member of the group", func() error {
		var state string
		db := at.DB(t, "")
		defer db.Close()
		err := db.QueryRow("SELECT COALESCE(MAX(MEMBER_STATE), '') FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid").Scan(&state)
		if err == nil && state != "ONLINE" {
			err = errors.New(state)
		}
		return err
	})
}
