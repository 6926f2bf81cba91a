package protocol

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy/compressed"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/test/shop"
)

// commandLine returns the command-line client of an engine, or nothing if it isn't installed.
func commandLine(engine servers.Engine) []string {
	if engine == servers.MariaDB {
		if program, err := exec.LookPath("mariadb"); err == nil {
			return []string{program}
		}
		return nil
	}
	for _, tree := range []string{os.Getenv("LOCUS_MYSQL_DIR"), "/opt/mysql-9.7"} {
		libraries, _ := filepath.Glob(filepath.Join(tree, "usr/lib/*-linux-gnu"))
		loaders, _ := filepath.Glob(filepath.Join(tree, "usr/lib/*-linux-gnu/ld-linux-*.so.*"))
		if program := filepath.Join(tree, "usr/bin/mysql"); len(libraries) == 1 && len(loaders) == 1 && exists(program) {
			return []string{loaders[0], "--library-path", libraries[0] + ":" + filepath.Join(tree, "usr/lib/mysql/private"), program}
		}
	}
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// run runs a script with a command-line client, and returns its output.
func run(t *testing.T, command []string, at endpoint, script string, options ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	host, port, _ := net.SplitHostPort(at.addr)
	args := append(append(command[1:len(command):len(command)], "--no-defaults"), options...)
	args = append(args, "-h", host, "-P", port, "-u", at.user, "-p"+at.password, "--protocol=tcp", "-t", "-vv", "-f", at.schema)
	c := exec.CommandContext(ctx, command[0], args...)
	c.Stdin = strings.NewReader(script)
	out, err := c.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "ERROR") {
		t.Errorf("%s: %v", at.name, err)
	}
	return timings.ReplaceAllString(string(out), "")
}

const session = `
DROP TABLE IF EXISTS clients;
SET sql_notes = 0;
CREATE TABLE clients (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), body MEDIUMTEXT);
SET sql_notes = 1;
INSERT INTO clients (name) VALUES ('a'), ('b'), (NULL);
SELECT * FROM clients;
UPDATE clients SET name = 'c';
delimiter //
DROP PROCEDURE IF EXISTS clients_twice//
CREATE PROCEDURE clients_twice() BEGIN SELECT 1; SELECT COUNT(*) FROM clients; END//
CALL clients_twice()//
delimiter ;
SELECT nothing FROM clients;
SELECT LENGTH(REPEAT('x', 100000));
INSERT INTO clients (name, body) VALUES ('long', REPEAT('long ', 200000));
SELECT CRC32(body), LENGTH(body) FROM clients WHERE name = 'long';
SELECT body FROM clients WHERE name = 'long';
`

// The command-line clients print the same through the proxy as at the server.
func TestCommandLineClients(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		command := commandLine(p.engine)
		if command == nil {
			t.Fatalf("the command-line client of %s is not installed", p.engine)
		}
		ways := map[string][]string{"plain": nil, "compressed": {"--compress"}, "without TLS": {"--skip-ssl"}}
		if p.engine == servers.MySQL {
			delete(ways, "without TLS")
			ways["status"] = []string{"--commands"}
			ways["zlib"] = []string{"--compression-algorithms=zlib", "--ssl-mode=DISABLED", "--get-server-public-key"}
			ways["zstd"] = []string{"--compression-algorithms=zstd", "--ssl-mode=DISABLED", "--get-server-public-key"}
			ways["zstd over TLS"] = []string{"--compression-algorithms=zstd,zlib", "--zstd-compression-level=9"}
		}
		run(t, command, p.server, session) // so that the script has an object to drop
		for name, options := range ways {
			t.Run(name, func(t *testing.T) {
				want, got := run(t, command, p.server, session, options...), run(t, command, p.proxy, session, options...)
				wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
				for i := range min(len(lines), len(wanted)) {
					if lines[i] != wanted[i] {
						t.Fatalf("line %d: %.300s\nwant %.300s", i+1, lines[i], wanted[i])
					}
				}
				if len(lines) != len(wanted) {
					t.Errorf("%d lines, want %d", len(lines), len(wanted))
				}
				if status := run(t, command, p.proxy, "status", append(options, ways["status"]...)...); !strings.Contains(status, "Uptime:") {
					t.Errorf("status:\n%s", status)
				}
			})
		}
	})
}

// Compressed answers have the same content as plain ones, whatever their length.
func TestCompression(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		for name, c := range map[string]struct {
			capability uint32
			algorithm  compressed.Algorithm
		}{"zlib": {mysql.CLIENT_COMPRESS, compressed.Zlib}, "zstd": {mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM, compressed.Zstd}} {
			t.Run(name, func(t *testing.T) {
				plain := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES)
				packed := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES|c.capability)
				wrapped := compressed.New(packed.stream.NetConn(), nil, c.algorithm)
				wrapped.Begin()
				packed.stream = stream.New(wrapped)
				for _, text := range []string{
					"DO 1", "SELECT 1", "SELECT REPEAT('x', 100000)", "SELECT REPEAT('0123456789abcdef0123456789abcdef', 500000)", "SELECT nothing",
					"SELECT '" + strings.Repeat("long text ", 100_000) + "'", "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1)", "SELECT COUNT(*) FROM test_order",
				} {
					if strings.HasPrefix(text, "INSERT") {
						packed.must(text)
						continue
					}
					want, got := plain.query(text), packed.query(text)
					compare(t, got, want)
				}
				for _, c := range []*peer{plain, packed} {
					c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20))")
					asked := c.query(load)
					c.send(asked[0], []byte(rowsFrom(1, 5000)), []byte(rowsFrom(5001, 5002)))
					if got := c.answer(wire.QueryResponse); !bytes.Contains(got[0].payload, []byte("Records: 5002")) {
						t.Errorf("%v", got)
					}
				}
				packed.write(0, changeUser(packed, packed.at.user, packed.at.password, packed.at.schema))
				packed.authenticate(packed.at.password)
				packed.must("SELECT 1")
			})
		}
	})
}
