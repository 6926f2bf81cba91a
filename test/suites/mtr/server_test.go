package mtr

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locus/internal/test/servers"
)

// options configure a server like the one on which the suite's results were recorded (include/default_mysqld.cnf). Root's
// account is for localhost, so names of hosts must be looked up.
var options = map[servers.Engine][]string{
	servers.MariaDB: {
		"--skip-name-resolve=0", "--skip-log-bin", "--local-infile", "--secure-file-priv=",
		"--character-set-server=latin1", "--default-storage-engine=myisam", "--plugin-maturity=unknown",
		"--log-bin-trust-function-creators=1", "--key-buffer-size=1M", "--sort-buffer-size=256K",
		"--max-heap-table-size=1M", "--use-stat-tables=preferably", "--histogram-type=json_hb",
		"--innodb-buffer-pool-size=8M", "--innodb-data-file-path=ibdata1:12M:autoextend",
	},
	// Statistics taken in the background would change plans, now here, now there.
	servers.MySQL: {"--local-infile", "--log-bin-trust-function-creators=1", "--innodb-stats-auto-recalc=OFF"},
}

// startServers starts n servers for the suite, with std_data where its cases look for it, relative to a data directory.
func startServers(t *testing.T, s suite, engine servers.Engine, n int) []*servers.Server {
	t.Helper()
	started := servers.Start(t, engine, n, options[engine]...)
	home := filepath.Dir(started[0].Dir())
	if err := os.Symlink(filepath.Join(s.dir, "std_data"), filepath.Join(home, "std_data")); err != nil {
		t.Fatal(err)
	}
	for _, server := range started {
		switch engine {
		case servers.MariaDB:
			loadZones(t, server)
		case servers.MySQL: // MySQL has no name for 127.0.0.1
			server.Exec(t, "CREATE USER root@'%'", "GRANT ALL PRIVILEGES ON *.* TO root@'%' WITH GRANT OPTION")
		}
	}
	return started
}

// loadZones fills in the few time zones by name that the suite knows.
func loadZones(t *testing.T, server *servers.Server) {
	t.Helper()
	zones, err := os.Open("/usr/share/mysql/mysql_test_data_timezone.sql")
	if err != nil {
		t.Fatal(err)
	}
	defer zones.Close()
	load := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "--socket="+server.Socket(), "--user=root", "mysql")
	load.Stdin = zones
	if said, err := load.CombinedOutput(); err != nil {
		t.Fatalf("load time zones: %v: %s", err, said)
	}
}
