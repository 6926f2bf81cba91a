package switchover

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"locus/internal/test/servers"
)

// docs/how-to/backup-and-restore.md, "Restoring one shard": the server is lost with everything except its
// binary logs, while clients write. An older copy is rolled forward with the logs, and declared in its place.
// No acknowledged write is missing, and no transaction is there in part.
func TestTheRunbookOfALostShard(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := apart(t, engine)
		l := s.load(t)
		l.more(t, 50)
		copied := copyOf(t, s.servers[1], filepath.Join(t.TempDir(), "s1"))
		l.more(t, 50)
		must(t, s.servers[1].Kill())
		left := logsOf(t, s.servers[1])
		l.more(t, 50) // writes of the rows on the other shard
		l.end()

		anew := servers.Start(t, engine, 2, logging[engine])
		logs, restored := anew[0], anew[1]
		holds(t, logs, left)
		restore(t, restored, copied)
		restored.Replicate(t, logs, logs.Addr())
		servers.Eventually(t, "it has all that the logs have", func() error { return has(t, restored, logs) })
		restored.Exec(t, "STOP REPLICA", "RESET REPLICA ALL")
		s.separate(t, s.servers[0], restored)
		s.servers[1] = restored
		s.wantDecided(t)
		second := s.load(t)
		second.more(t, 50)
		second.end()
		s.says(t, "", "verify")
		second.wantRows(t, s.db(t, 0, "app"))
		for i, w := range l.all {
			w.wantIn(t, second.all[i].before)
		}
	})
}

// logsOf returns the remaining binary logs of a server, by name.
func logsOf(t *testing.T, of *servers.Server) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	data := os.DirFS(filepath.Join(of.Dir(), "data"))
	names, err := fs.Glob(data, "binlog.*")
	must(t, err)
	for _, name := range names {
		all[name], err = fs.ReadFile(data, name)
		must(t, err)
	}
	if len(all) < 2 {
		t.Fatalf("%s has left %d files", of.Addr(), len(all))
	}
	return all
}

// holds gives an empty server the binary logs of another one, and nothing else.
func holds(t *testing.T, empty *servers.Server, logs map[string][]byte) {
	t.Helper()
	forget := "RESET MASTER"
	if empty.Engine() == servers.MySQL {
		forget = "RESET BINARY LOGS AND GTIDS"
	}
	empty.Exec(t, forget)
	must(t, empty.Kill())
	for name := range logsOf(t, empty) {
		must(t, os.Remove(filepath.Join(empty.Dir(), "data", name)))
	}
	for name, text := range logs {
		must(t, os.WriteFile(filepath.Join(empty.Dir(), "data", name), text, 0o600))
	}
	empty.Restart(t)
}

// has returns an error unless a server has all transactions of another one.
func has(t *testing.T, at, logs *servers.Server) error {
	t.Helper()
	what := "@@GLOBAL.gtid_executed"
	if at.Engine() == servers.MariaDB {
		what = "@@GLOBAL.gtid_binlog_pos"
	}
	var all string
	must(t, logs.DB(t, "").QueryRow("SELECT "+what).Scan(&all))
	return hasAll(t, at, all)
}

func hasAll(t *testing.T, at *servers.Server, all string) error {
	t.Helper()
	db := at.DB(t, "")
	defer db.Close()
	question := "SELECT GTID_SUBSET('" + all + "', @@GLOBAL.gtid_executed)"
	if at.Engine() == servers.MariaDB {
		question = "SELECT @@GLOBAL.gtid_binlog_pos = '" + all + "'"
	}
	var there bool
	if err := db.QueryRow(question).Scan(&there); err != nil || !there {
		return fmt.Errorf("it hasn't: %w", err)
	}
	return nil
}
