package switchover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/control/switchover"
	"locus/internal/test/servers"
)

// cloned rebuilds a MySQL with its clone plug-in.
func (s *stand) cloned(t *testing.T, server int, e switchover.Errant) {
	t.Helper()
	at := s.servers[server]
	if err := s.to(server).Rebuild(t.Context(), e); !errors.Is(err, switchover.ErrEnded) {
		t.Fatal(err)
	}
	<-at.Done()
	at.Restart(t)
}

// backedUp rebuilds a MariaDB with the steps that locus rejoin prints.
func (s *stand) backedUp(t *testing.T, server int, e switchover.Errant) {
	t.Helper()
	at, primary := s.servers[server], s.servers[s.primary(t)]
	work := t.TempDir()
	target := "--target-dir=" + filepath.Join(work, "copy")
	data := filepath.Join(at.Dir(), "data")
	backUp(t, "--backup", target, "--datadir="+filepath.Join(primary.Dir(), "data"), "--socket="+primary.Socket(), "--user=root")
	backUp(t, "--prepare", target)
	gtid := position(t, filepath.Join(work, "copy"))
	must(t, errors.Join(at.Kill(), os.RemoveAll(data), os.Mkdir(data, 0o700)))
	backUp(t, "--move-back", target, "--datadir="+data)
	at.Restart(t)
	s.wantUntold(t, server)
	at.Exec(t, "RESET MASTER", "SET GLOBAL gtid_binlog_state = '"+e.Origins()+gtid+"'", "SET GLOBAL gtid_slave_pos = '"+gtid+"'")
}

// wantUntold waits until the server was checked. It must not be made to follow from the beginning of all logs,
// because it is not known yet which transactions it has.
func (s *stand) wantUntold(t *testing.T, server int) {
	t.Helper()
	servers.Eventually(t, "it is left until it is told what it has", func() error {
		if err := s.to(server).Tidy(t.Context()); err == nil || !strings.Contains(err.Error(), "set the GTIDs of its backup") {
			return errors.Join(errors.New("it isn't"), err)
		}
		return nil
	})
	if follows, err := s.follows(t, server); err != nil || follows {
		t.Errorf("a copy that nobody told what it is a copy of follows: %v, %v", follows, err)
	}
}

// follows reports whether a server follows another one.
func (s *stand) follows(t *testing.T, server int) (bool, error) {
	t.Helper()
	db := s.servers[server].DB(t, "")
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SHOW REPLICA STATUS")
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}
