package demo

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/cmd/dbserver"
	"locus/internal/test/process"
	"locus/test/product"
)

// TestAProxyDrains runs `locus serve` next to a demo, as one process of several, and stops it with SIGTERM
// during transactions.
func TestAProxyDrains(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0")
	text, err := os.ReadFile(d.config)
	if err != nil {
		t.Fatal(err)
	}
	listen, page := process.FreeAddr(t), process.FreeAddr(t)
	config := string(text)
	config = regexp.MustCompile(`(?m)^proxy:\n(?:[ \t].*\n)*`).ReplaceAllString(config, "")
	config = regexp.MustCompile(`(?m)^http:\n(?:[ \t].*\n)*`).ReplaceAllString(config, "")
	config = regexp.MustCompile(`(?m)^data_dir:.*$`).ReplaceAllString(config, "data_dir: "+t.TempDir())
	config += "\nproxy:\n  listen: " + listen + "\n  drain_delay: 1s\n  drain_timeout: 3s\n" +
		"http:\n  listen: " + page + "\n"
	file := filepath.Join(t.TempDir(), "locus.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	cmd := exec.Command(binary, "serve", "-c", file)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	product.Eventually(t, "it is ready", func() bool { return ready200(page) })

	db := open(t, d, listen)
	idle, begun, stuck := single(t, db), single(t, db), single(t, db)
	for _, c := range []*sql.Conn{begun, stuck} {
		run(t, c, "BEGIN")
		run(t, c, "INSERT INTO setting VALUES ('"+map[*sql.Conn]string{begun: "kept", stuck: "lost"}[c]+"', '1')")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	product.Eventually(t, "it says that it isn't ready", func() bool { return !ready200(page) })
	run(t, single(t, open(t, d, listen)), "SELECT 1") // a client that a load balancer sent before it saw
	product.Eventually(t, "idle clients are let go", func() bool { return idle.PingContext(t.Context()) != nil })
	run(t, begun, "INSERT INTO setting VALUES ('kept too', '1')")
	run(t, begun, "COMMIT")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, &output)
		}
	case <-time.After(process.Patience):
		t.Fatalf("it did not end\n%s", &output)
	}
	if !strings.Contains(output.String(), "cut off") {
		t.Errorf("the log doesn't tell of what was cut off:\n%s", &output)
	}
	var kept, lost int
	direct := single(t, open(t, d, d.Proxies[0].Addr))
	if err := direct.QueryRowContext(t.Context(), "SELECT COALESCE(SUM(name LIKE 'kept%'), 0), COALESCE(SUM(name = 'lost'), 0) FROM setting").Scan(&kept, &lost); err != nil {
		t.Fatal(err)
	}
	if kept != 2 || lost != 0 {
		t.Errorf("%d rows of the transaction that was committed in time, want 2; %d of the one that was cut off, want 0", kept, lost)
	}
}

func ready200(addr string) bool {
	r, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode == http.StatusOK
}

func open(t *testing.T, d *demo, addr string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", d.User+":"+d.Password+"@tcp("+addr+")/"+d.Database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func single(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func run(t *testing.T, c *sql.Conn, query string) {
	t.Helper()
	if _, err := c.ExecContext(context.Background(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
