package switchover

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/control/backup"
	"locus/internal/test/servers"
	"locus/router"
)

// Shards are copied one after the other while clients write. The copies are rolled forward to a common later moment. Then no
// transaction over both shards is on only one of them.
func TestBackup(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		s := apart(t, engine)
		l := s.load(t)
		l.more(t, 50)
		work := t.TempDir()
		var copies [2]string
		for i, at := range s.servers[:2] {
			copies[i] = copyOf(t, at, filepath.Join(work, fmt.Sprint(i)))
			l.more(t, 50)
		}
		taking := backup.Taking{KV: s.kv, Name: "test", Secrets: s.secret, Now: time.Now}
		file := filepath.Join(work, "cut.json")
		s.says(t, "the moment of 2 shards", "backup", "--save", file)
		text, err := os.ReadFile(file)
		must(t, err)
		cut, err := backup.Decode(text)
		must(t, err)
		t.Logf("writes waited for %d ms; %d and %d transactions were prepared", cut.HeldMs, cut.Shards["s0"].Prepared, cut.Shards["s1"].Prepared)
		told := l.acked.Load()
		l.more(t, 50)
		l.end()
		if n := l.failed.Load() + l.blind.Load(); n != 0 {
			t.Errorf("%d statements failed, the first: %v", n, l.first)
		}
		s.stop()
		restored := servers.Start(t, engine, 2, logging[engine])
		for i, at := range restored {
			restore(t, at, copies[i])
		}
		s.separate(t, restored[0], restored[1])
		s.refuses(t, "lacks transactions of the backup", "restore", file)
		for i, name := range []string{"s0", "s1"} {
			rollForward(t, restored[i], s.servers[i], cut, name)
		}
		s.says(t, "2 shards are as they were at", "restore", file)
		cut.Counters["segments/x"] = 7
		wantFound(t, taking, cut, "rows may have numbers up to 7")
		delete(cut.Counters, "segments/x")
		s.servers = restored
		s.serve(t)
		s.wantWhole(t, told)
		restored[0].Exec(t, "CREATE DATABASE later")
		servers.Eventually(t, "what the proxies have written is told", func() error {
			found, err := taking.Compare(t.Context(), cut)
			if err == nil && (len(found) == 0 || !strings.Contains(found[0].What, "it has transactions that are later than the backup")) {
				err = fmt.Errorf("%+v", found)
			}
			return err
		})
	})
}

var logging = map[servers.Engine]string{servers.MariaDB: "--log-slave-updates=ON", servers.MySQL: "--log-replica-updates=ON"}

// apart returns a cluster of two shards with one server each.
func apart(t *testing.T, engine servers.Engine) *stand {
	t.Helper()
	args := []string{logging[engine]}
	if engine == servers.MySQL {
		args = append(args, "--plugin-load-add=mysql_clone.so")
	}
	s := open(t, engine, servers.Start(t, engine, 2, args...))
	s.single = true
	for _, at := range s.servers {
		at.Exec(t, append(accounts(engine), "GRANT RELOAD ON *.* TO shop")...)
	}
	s.separate(t, s.servers[0], s.servers[1])
	for range 2 {
		s.serve(t)
	}
	return s
}

// separate declares two shards with a server each.
func (s *stand) separate(t *testing.T, first, second *servers.Server) {
	t.Helper()
	s.Declare(fmt.Sprintf(`schema: 1
shards:
  s0: {address: %q, user: shop, secret: shard}
  s1: {address: %q, user: shop, secret: shard}
tables:
  %[3]s.counter: {kind: sharded, owner: uid}
users:
  app: {secret: app}
routes: |
  0x7fff s0
  0xffff s1
`, first.Addr(), second.Addr(), schema))
}

// copyOf copies a server while it writes.
func copyOf(t *testing.T, at *servers.Server, to string) string {
	t.Helper()
	if at.Engine() == servers.MySQL {
		at.Exec(t, "CLONE LOCAL DATA DIRECTORY = '"+to+"'")
		return to
	}
	backUp(t, "--backup", "--target-dir="+to, "--datadir="+filepath.Join(at.Dir(), "data"), "--socket="+at.Socket(), "--user=root")
	backUp(t, "--prepare", "--target-dir="+to)
	return to
}

// restore replaces the data of a server by a copy.
func restore(t *testing.T, at *servers.Server, from string) {
	t.Helper()
	data := filepath.Join(at.Dir(), "data")
	must(t, at.Kill())
	must(t, os.RemoveAll(data))
	if at.Engine() == servers.MySQL {
		must(t, os.Rename(from, data))
		at.Restart(t)
		return
	}
	gtid := position(t, from)
	must(t, os.Mkdir(data, 0o700))
	backUp(t, "--move-back", "--target-dir="+from, "--datadir="+data)
	at.Restart(t)
	at.Exec(t, "RESET MASTER", "SET GLOBAL gtid_binlog_state = '"+gtid+"'", "SET GLOBAL gtid_slave_pos = '"+gtid+"'")
}

// position returns the position of a MariaDB at the time of its copy.
func position(t *testing.T, from string) string {
	t.Helper()
	said, err := os.ReadFile(filepath.Join(from, "xtrabackup_binlog_info"))
	if err != nil {
		said, err = os.ReadFile(filepath.Join(from, "mariadb_backup_binlog_info"))
	}
	must(t, err)
	words := strings.Fields(string(said))
	return words[len(words)-1]
}

// rollForward lets a restored server replicate, from the server that has the logs, the transactions before the
// cut that it lacks.
func rollForward(t *testing.T, at, logs *servers.Server, cut backup.Cut, shard string) {
	t.Helper()
	p := cut.Shards[router.ShardName(shard)]
	until := "SQL_AFTER_GTIDS = '" + p.Has + "'"
	if at.Engine() == servers.MariaDB {
		until = "master_gtid_pos = '" + p.Has + "'"
	}
	at.Replicate(t, logs, logs.Addr(), until)
	servers.Eventually(t, "it is rolled forward", func() error { return hasAll(t, at, p.Has) })
	at.Exec(t, "STOP REPLICA", "RESET REPLICA ALL")
}

// wantFound compares the findings about the cluster with the expected ones.
func wantFound(t *testing.T, taking backup.Taking, cut backup.Cut, want ...string) {
	t.Helper()
	found, err := taking.Compare(t.Context(), cut)
	must(t, err)
	if len(found) != len(want) {
		t.Fatalf("%+v, want %q", found, want)
	}
	for i, f := range found {
		if !strings.Contains(f.What, want[i]) || f.Remedy == "" {
			t.Errorf("%+v, want %q", f, want[i])
		}
	}
}

// wantWhole holds the rows to each other: a writer does a single write to its first row, and then one to both in a transaction.
func (s *stand) wantWhole(t *testing.T, told int64) {
	t.Helper()
	s.wantDecided(t)
	db, apart, all := s.db(t, 0, "app"), 0, int64(0)
	for i := range writers {
		var first, second int64
		must(t, db.QueryRow("SELECT n FROM counter WHERE uid = ?", 100+i).Scan(&first))
		must(t, db.QueryRow("SELECT n FROM counter WHERE uid = ?", 1100+i).Scan(&second))
		if all += first + second; first != 2*second && first != 2*second+1 {
			t.Errorf("writer %d: %d in one row and %d in the other one, of which a transaction is on one shard alone", i, first, second)
		}
		if s.at(t, 100+i) != s.at(t, 1100+i) {
			apart++
		}
	}
	t.Logf("%d writes, %d were told before it was taken up; %d of %d writers have their rows on two shards", all, told, apart, writers)
	if apart == 0 || all > told+3*writers {
		t.Errorf("%d writes, and %d were told; %d writers have rows on two shards", all, told, apart)
	}
}

// at returns the server that has a row.
func (s *stand) at(t *testing.T, uid int) int {
	t.Helper()
	for i, at := range s.servers {
		var n int
		db := at.DB(t, schema)
		err := db.QueryRow("SELECT COUNT(*) FROM counter WHERE uid = ?", uid).Scan(&n)
		_ = db.Close()
		must(t, err)
		if n > 0 {
			return i
		}
	}
	return -1
}

func backUp(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "mariadb-backup", append([]string{"--no-defaults"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-backup %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
