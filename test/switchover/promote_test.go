package switchover

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/control/declared"
	"locus/control/events"
	"locus/control/failover"
	"locus/control/switchover"
	"locus/internal/test/link"
	"locus/internal/test/servers"
)

// semiSync contains the options for servers of a shard that locus promotes servers of. They start read-only, so
// that a former primary takes no writes until locus makes it the primary again.
var semiSync = map[servers.Engine][]string{
	servers.MariaDB: {
		"--log-slave-updates=ON", "--read-only=ON", "--rpl-semi-sync-slave-enabled=ON", "--init-rpl-role=SLAVE", "--gtid-strict-mode=ON",
		"--rpl-semi-sync-master-wait-point=AFTER_SYNC", "--rpl-semi-sync-master-timeout=18446744073709551615",
	},
	servers.MySQL: {
		"--log-replica-updates=ON", "--read-only=ON", "--plugin-load-add=semisync_source.so;semisync_replica.so;mysql_clone.so",
		"--rpl-semi-sync-replica-enabled=ON", "--rpl-semi-sync-source-wait-point=AFTER_SYNC", "--rpl-semi-sync-source-timeout=1000000000000000000",
	},
}

// promoting returns a cluster of one shard with three servers, watched by two processes. None of them is the
// primary yet.
func promoting(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	return replicated(t, engine, 3, "0xffff s0")
}

// spanning is like promoting, but half of the rows are on a shard s1 with one server.
func spanning(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	return replicated(t, engine, 4, "0x7fff s0", "0xffff s1")
}

// replicated is like promoting, with the given routes. If there are four servers, the last one belongs to a shard s1.
func replicated(t *testing.T, engine servers.Engine, n int, routes ...string) *stand {
	t.Helper()
	s := open(t, engine, servers.Start(t, engine, n, semiSync[engine]...))
	for _, server := range s.servers[:3] {
		s.ways = append(s.ways, link.New(t, server.Addr()))
	}
	for _, replica := range s.servers[1:3] {
		replica.FollowAt(t, s.servers[0], s.addr(0))
	}
	s.servers[0].Exec(t, accounts(engine)...)
	alone := ""
	if n > 3 {
		s.servers[3].Exec(t, append(accounts(engine), "SET GLOBAL read_only = OFF")...)
		alone = fmt.Sprintf("  s1: {address: %q, user: shop, secret: shard}\n", s.servers[3].Addr())
	}
	s.file = fmt.Sprintf(`schema: 1
shards:
  s0: {servers: [%q, %q, %q], failover: promote, user: shop, secret: shard, admin: {user: chief, secret: shard}}
%[5]stables:
  %[4]s.counter: {kind: sharded, owner: uid}
users:
  app: {secret: app}
routes: |
  %[6]s
`, s.addr(0), s.addr(1), s.addr(2), schema, alone, strings.Join(routes, "\n  "))
	s.Declare(s.file)
	for range 2 {
		s.serve(t)
	}
	for range 2 {
		s.lookAfter(t)
	}
	s.wantReady(t)
	return s
}

// A primary is frozen, the next one is killed, and one is cut off. All acknowledged writes are there, exactly
// once, and each lost server comes back as a replica, or with transactions that were never acknowledged.
func TestPromote(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := spanning(t, engine)
		l := s.load(t)
		s.aside(t, l)
		l.more(t, 50)
		first := s.primary(t)
		if err := s.servers[first].Pause(); err != nil {
			t.Fatal(err)
		}
		s.wantAnother(t, l, first)
		if err := s.servers[first].Resume(); err != nil {
			t.Fatal(err)
		}
		s.wantJoined(t, first)
		l.more(t, 50)
		s.rejoins(t, first)
		if engine == servers.MariaDB { // the logs of copied servers begin after the transactions that their origins had
			s.rejoins(t, first)
		}

		second := s.primary(t)
		if err := s.servers[second].Kill(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		s.wantNamedAnother(t, second)
		l.more(t, 10)
		t.Logf("writes went on %v after a kill%s", time.Since(began), slow(time.Since(began)))
		s.servers[second].Restart(t)
		s.wantJoined(t, second)
		l.more(t, 50)

		third := s.primary(t)
		s.cut(t, third)
		s.wantAnother(t, l, third)
		s.heal(t, third)
		s.wantJoined(t, third)
		l.more(t, 50)
		l.end()
		s.wantAcknowledged(t, l)
		s.wantReplicasRead(t)
		s.wantFailovers(t, first, second, third)
	})
}

// wantFailovers checks that the timeline has just the failovers from these servers, in their order, each with its beginning and its end.
func (s *stand) wantFailovers(t *testing.T, from ...int) {
	t.Helper()
	list, _, err := events.ReadAll(t.Context(), s.kv, events.Query{Kinds: []events.Kind{events.Failover}, Subject: "shard s0", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var begun, done []string
	for _, e := range slices.Backward(list) {
		switch {
		case strings.Contains(e.What, " begins"):
			begun = append(begun, strings.Fields(e.What)[3])
		case strings.Contains(e.What, " is the primary, it was "):
			_, was, _ := strings.Cut(e.What, ", it was ")
			done = append(done, strings.TrimSuffix(strings.Fields(was)[0], ";"))
			if e.Took <= 0 || e.By == "" {
				t.Errorf("%s: it took %v, by %q", e.What, e.Took, e.By)
			}
		}
	}
	var want []string
	for _, i := range from {
		want = append(want, s.addr(i))
	}
	if !slices.Equal(done, want) || len(begun) < len(want) {
		t.Errorf("the timeline has failovers that began from %v and ended from %v, want %v:\n%+v", begun, done, want, list)
	}
}

// wantReady waits until any other server could be promoted, and nothing would be lost.
func (s *stand) wantReady(t *testing.T) {
	t.Helper()
	servers.Eventually(t, "any server could be promoted", func() error {
		records, err := failover.Records(t.Context(), s.kv)
		if r := records["s0"]; err == nil && (r.Had == "" || r.Trouble != "" || r.MayLose != "" || len(r.Unready) > 0 || len(r.Errant) > 0) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// primary returns which server the document names.
func (s *stand) primary(t *testing.T) int {
	t.Helper()
	p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.servers {
		if s.addr(i) == p.Server {
			return i
		}
	}
	t.Fatalf("%s is not one of the servers", p.Server)
	return -1
}

// wantNamedAnother waits until another server is named.
func (s *stand) wantNamedAnother(t *testing.T, before int) {
	t.Helper()
	servers.Eventually(t, "another server is named", func() error {
		p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		if err == nil && (p.Server == s.addr(before) || p.Next != "") {
			records, _ := failover.Records(t.Context(), s.kv)
			err = fmt.Errorf("%s%+v", p.Encode(), records)
		}
		return err
	})
}

// wantAnother waits until another server is the primary, and writes go on.
func (s *stand) wantAnother(t *testing.T, l *load, before int) {
	t.Helper()
	began := time.Now()
	s.wantNamedAnother(t, before)
	named := time.Since(began)
	l.more(t, 20)
	t.Logf("another primary after %v, writes went on after %v%s", named, time.Since(began), slow(time.Since(began)))
}

// slow marks a duration that is longer than allowed on a machine that is otherwise idle.
func slow(took time.Duration) string {
	if took > 10*time.Second {
		return ", which is slow"
	}
	return ""
}

// wantBack waits until a former primary takes no writes, and follows the primary or is reported to have errant
// transactions.
func (s *stand) wantBack(t *testing.T, server int) (errant bool) {
	t.Helper()
	addr := s.addr(server)
	servers.Eventually(t, "the former primary is back", func() error {
		records, err := failover.Records(t.Context(), s.kv)
		if err != nil {
			return err
		}
		r := records["s0"]
		var readOnly bool
		db := s.servers[server].DB(t, "")
		defer db.Close()
		if err := db.QueryRow("SELECT @@GLOBAL.read_only").Scan(&readOnly); err != nil {
			return err
		}
		if errant = r.Errant[addr] != ""; !readOnly || r.Primary == addr || !errant && r.Unready[addr] != "" || r.At.IsZero() {
			return errors.Join(fmt.Errorf("read-only: %v, %+v", readOnly, r))
		}
		p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		if err == nil && !errant && p.Former != "" {
			err = errors.New(string(p.Encode()))
		}
		return err
	})
	t.Logf("server %d is back; it has transactions of its own: %v", server, errant)
	return errant
}

// wantAcknowledged compares the rows with the acknowledged writes. Writes without an answer may be there or
// not.
func (s *stand) wantAcknowledged(t *testing.T, l *load) {
	t.Helper()
	s.wantAcknowledgedOf(t, l, 0)
}

// wantAcknowledgedOf is like wantAcknowledged, for rows that had the sum before when the load began.
func (s *stand) wantAcknowledgedOf(t *testing.T, l *load, before int64) {
	t.Helper()
	s.wantDecided(t)
	l.wantRows(t, s.db(t, 0, "app"))
	got, acked, failed := s.total(t)-before, l.acked.Load()+l.beside.Load(), l.failed.Load()
	t.Logf("%d writes were acknowledged, %d had no answer or failed, and there are %d", acked, failed, got)
	if got < acked || got > acked+2*failed {
		t.Errorf("%d writes were acknowledged, %d had no answer or failed, and there are %d", acked, failed, got)
	}
}

// rejoins makes a replica writable, and writes to it. Locus makes it read-only again, its errant transactions
// are listed and saved, and a MySQL is cloned again.
func (s *stand) rejoins(t *testing.T, server int) {
	t.Helper()
	at := s.servers[server]
	servers.Eventually(t, "the replica takes a write", func() error { // the server is made read-only again at once
		off := []string{"SET GLOBAL read_only = OFF", "CREATE DATABASE IF NOT EXISTS stray"}
		if at.Engine() == servers.MySQL {
			off = append([]string{"SET GLOBAL super_read_only = OFF"}, off...)
		}
		return at.Execute(t.Context(), off...)
	})
	servers.Eventually(t, "it is told to have transactions of its own", func() error {
		if !s.wantBack(t, server) {
			return errors.New("it isn't")
		}
		return nil
	})
	order := s.to(server)
	e, err := order.Errant(t.Context())
	if err != nil || e.GTIDs == "" {
		t.Fatalf("%+v, %v", e, err)
	}
	var file bytes.Buffer
	saved, err := order.Save(t.Context(), e, &file)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) == 0 || len(saved[len(saved)-1].Statements) != 1 || !strings.Contains(saved[len(saved)-1].Statements[0], "stray") {
		t.Errorf("of %s is saved %+v", e.GTIDs, saved)
	}
	if at.Engine() == servers.MariaDB {
		s.readable(t, file.Bytes())
		if err := order.Rebuild(t.Context(), e); err == nil || !strings.Contains(err.Error(), "mariadb-backup") {
			t.Error(err)
		}
	}
	s.rebuildErrant(t, server, e)
	s.wantReady(t)
}

// wantJoined waits until a former primary is back, rebuilds it if it has errant transactions, and waits until any server could
// be promoted. With fewer servers, no replica would acknowledge writes after the next loss.
func (s *stand) wantJoined(t *testing.T, server int) (stray bool) {
	t.Helper()
	if stray = s.wantBack(t, server); stray {
		e, err := s.to(server).Errant(t.Context())
		must(t, err)
		s.rebuildErrant(t, server, e)
	}
	s.wantReady(t)
	return stray
}

// rebuildErrant rebuilds a server that has errant transactions.
func (s *stand) rebuildErrant(t *testing.T, server int, e switchover.Errant) {
	t.Helper()
	if s.servers[server].Engine() == servers.MariaDB {
		s.backedUp(t, server, e)
	} else {
		s.cloned(t, server, e)
	}
	servers.Eventually(t, "it follows", func() error {
		if s.wantBack(t, server) {
			return errors.New("it has transactions of its own")
		}
		return nil
	})
}

// readable checks that the engine's own program can read the saved transactions.
func (s *stand) readable(t *testing.T, log []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "saved.binlog")
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "mariadb-binlog", "--verify-binlog-checksum", file).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "CREATE DATABASE IF NOT EXISTS stray") {
		t.Errorf("%v: %s", err, said)
	}
}
