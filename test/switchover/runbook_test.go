package switchover

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locus/control/failover"
	"locus/internal/test/servers"
)

// docs/how-to/recover-a-server.md, "Take a server by hand", as an operator does it, by the commands.
func TestTheRunbookOfALostPrimary(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := start(t, engine)
		s.lookAfter(t)
		l := s.load(t)
		l.more(t, 50)
		l.end()
		s.same(t)
		first, second := s.addr(0), s.addr(1)

		must(t, s.servers[0].Kill())
		s.refuses(t, second+" is the primary now, but not all steps are done", "switchover", "s0", "--take", second, "--yes")
		l = s.load(t)
		l.more(t, 20)
		s.servers[0].Restart(t) // it accepts writes, because its configuration doesn't make it read-only
		s.wantNamed(t, 1)
		l.end()
		s.wantPrimary(t, 1)

		s.servers[0].Exec(t, writable[engine]...)
		s.servers[0].Exec(t, "CREATE DATABASE unsent")
		s.refuses(t, second+" lacks transactions that "+first+" has: ", "switchover", "s0", "--take", second, "--yes")
		s.says(t, second+" is the primary of shard s0", "switchover", "s0", "--take", second, "--give-up", "--yes")

		file := filepath.Join(t.TempDir(), "errant.binlog")
		if out := s.says(t, "saved to "+file, "rejoin", "s0", first, "--save", file); !strings.Contains(out, "CREATE DATABASE unsent") {
			t.Error("what it has of its own is not listed")
		}
		s.refuses(t, "name another one (--save)", "rejoin", "s0", first, "--save", file)
		program := servers.Program(t, engine, viewers[engine])
		said, err := exec.CommandContext(t.Context(), program[0], append(program[1:], "-vv", file)...).CombinedOutput()
		if err != nil || !strings.Contains(string(said), "CREATE DATABASE unsent") {
			t.Errorf("%s: %v: %s", program, err, said)
		}
		if engine == servers.MariaDB {
			s.says(t, "mariadb-backup --backup", "rejoin", "s0", first, "--save", file+"2")
			return // the steps are another test's
		}
		s.says(t, "start it, and locus switchover s0 --to "+second+" makes it follow", "rejoin", "s0", first, "--save", file+"2", "--rebuild", "--yes")
		<-s.servers[0].Done()
		s.servers[0].Restart(t)
		s.says(t, second+" is the primary of shard s0", "switchover", "s0", "--to", second, "--yes")
		s.wantPrimary(t, 1)
		s.says(t, "has no transactions that the primary "+second+" never had", "rejoin", "s0", first)
	})
}

// viewers are the programs that show the saved transactions.
var viewers = map[servers.Engine]string{servers.MariaDB: "mariadb-binlog", servers.MySQL: "mysqlbinlog"}

var writable = map[servers.Engine][]string{
	servers.MariaDB: {"SET GLOBAL read_only = OFF"},
	servers.MySQL:   {"SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"},
}

// goesOn uses the commands for a primary without replicas.
func (s *stand) goesOn(t *testing.T, primary string) {
	t.Helper()
	servers.Eventually(t, "locus status tells that writes wait", func() error {
		if out, err := s.locus(t, "status"); err == nil || !strings.Contains(out, "writes wait for a replica: too few have answered its primary "+primary) {
			return errors.New("it doesn't")
		}
		return nil
	})
	s.says(t, primary+" continues without replicas", "switchover", "s0", "--without-replicas", "--yes")
	s.wantRecord(t, "what may be lost is told", func(r failover.Record) bool { return r.MayLose != "" })
	if out, err := s.locus(t, "doctor"); err == nil || !strings.Contains(out, "may be lost with it: it continues without replicas") {
		t.Errorf("%v\n%s", err, out)
	}
}
