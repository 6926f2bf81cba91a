package protocol

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	driver "github.com/go-sql-driver/mysql"

	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/compressed"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/test/shop"
)

// wideRows is the number of rows of the table wide, each with a megabyte that can't be compressed.
const wideRows = 12

// Reads that return more than the buffers of all sockets on the way hold, also from one row, and if they are compressed.
const (
	wideRead  = "SELECT uid, REPEAT('x', 5000000) AS x FROM wide"
	denseRead = "SELECT uid, body AS a, body AS b, body AS c, body AS d, body AS e FROM wide"
	oneShard  = "SELECT REPEAT('x', 15000000) FROM wide WHERE uid = 1 UNION ALL SELECT REPEAT('y', 15000000) FROM wide WHERE uid = 1 " +
		"UNION ALL SELECT REPEAT('z', 15000000) FROM wide WHERE uid = 1 UNION ALL SELECT REPEAT('u', 15000000) FROM wide WHERE uid = 1"
)

// endings keeps the log lines about sessions that stalled.
type endings struct {
	mu    sync.Mutex
	lines []string
}

func (*endings) Enabled(context.Context, slog.Level) bool { return true }
func (e *endings) WithAttrs([]slog.Attr) slog.Handler     { return e }
func (e *endings) WithGroup(string) slog.Handler          { return e }
func (e *endings) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if strings.Contains(line, "stalled") {
		e.lines = append(e.lines, line)
	}
	return nil
}

func (e *endings) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines
}

// stalling starts a shop with a wide table, two connections for each shard, and these limits of waits for clients.
func stalling(t *testing.T, write, read time.Duration, test func(t *testing.T, p *pair, log *endings)) {
	log := &endings{}
	pairs(t, shop.Options{
		Tables:       []string{"CREATE TABLE {schema}.wide (uid BIGINT NOT NULL PRIMARY KEY, gene SMALLINT UNSIGNED NOT NULL, body LONGBLOB)"},
		Declarations: "  {schema}.wide: {kind: sharded, owner: uid, gene: gene}\n",
		Backends:     backend.Limits{MaxOpen: 2, WaitTimeout: time.Minute},
		Options: func(o *proxy.Options) {
			o.NetWriteTimeout, o.NetReadTimeout, o.Log = write, read, slog.New(log)
		},
	}, func(t *testing.T, p *pair) {
		log.mu.Lock()
		log.lines = nil
		log.mu.Unlock()
		p.allowFiles(t)
		db := p.shop.DB(t, nil)
		for i := range wideRows {
			body := make([]byte, 1<<20)
			_, _ = rand.Read(body)
			if _, err := db.Exec("INSERT INTO wide (uid, body) VALUES (?, ?)", i+1, body); err != nil {
				t.Fatal(err)
			}
		}
		_ = db.Close()
		test(t, p, log)
	})
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for late := time.After(time.Minute); !holds(); {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// lent counts the connections to shards that are in use.
func (p *pair) lent() (n int) {
	for _, pool := range p.shop.Proxy.Status().Pools {
		n += pool.Lent
	}
	return n
}

// compress continues a peer's connection with compression.
func (c *peer) compress(a compressed.Algorithm) *peer {
	wrapped := compressed.New(c.stream.NetConn(), nil, a)
	wrapped.Begin()
	c.stream = stream.New(wrapped)
	return c
}

// ways are all ways in which rows reach a client. Each begins a command whose answer the client doesn't read.
var ways = map[string]func(t *testing.T, p *pair) *peer{
	"one shard": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03"+oneShard))
		return c
	},
	"several shards": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03"+wideRead))
		return c
	},
	"several shards in order": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03"+wideRead+" ORDER BY uid DESC"))
		return c
	},
	"gathered": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03SELECT x.uid, REPEAT('x', 5000000) AS x FROM wide AS x JOIN wide AS y ON x.uid + y.uid = 13"))
		return c
	},
	"prepared": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: c.prepare(wideRead + " ORDER BY uid")})
		c.write(0, execute[wire.HeaderSize:])
		return c
	},
	"a cursor": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		s := c.prepare(oneShard)
		c.open(s)
		c.write(0, []byte{mysql.COM_STMT_FETCH, byte(s), byte(s >> 8), byte(s >> 16), byte(s >> 24), 100, 0, 0, 0})
		return c
	},
	"a transaction": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.must("BEGIN", "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 1")
		c.write(0, []byte("\x03"+wideRead))
		return c
	},
	"several statements": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic|mysql.CLIENT_MULTI_STATEMENTS)
		c.write(0, []byte("\x03SELECT 1; "+wideRead+"; SELECT 2"))
		return c
	},
	"zlib": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic|mysql.CLIENT_COMPRESS).compress(compressed.Zlib)
		c.write(0, []byte("\x03"+denseRead))
		return c
	},
	"zstd": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic|mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM).compress(compressed.Zstd)
		c.write(0, []byte("\x03"+denseRead))
		return c
	},
	"long rows": func(t *testing.T, p *pair) *peer {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03SELECT REPEAT(body, 15), uid FROM wide"))
		return c
	},
}

// TestClientsThatDoNotRead checks that the proxy ends the sessions of clients that leave their answers unread, of any kind,
// and returns the shards' connections.
func TestClientsThatDoNotRead(t *testing.T) {
	stalling(t, time.Second, time.Minute, func(t *testing.T, p *pair, log *endings) {
		before := len(log.all())
		count := p.shop.Proxy.Status().Counts.StalledWrites.Load()
		for name, begin := range ways {
			t.Run(name, func(t *testing.T) {
				before, count := len(log.all()), p.shop.Proxy.Status().Counts.StalledWrites.Load()
				begin(t, p)
				eventually(t, "the session has ended", func() bool { return p.shop.Proxy.Status().Sessions == 0 })
				eventually(t, "the connections are given back", func() bool { return p.lent() == 0 })
				if n := p.shop.Proxy.Status().Counts.StalledWrites.Load() - count; n != 1 {
					t.Errorf("%d are counted, want 1", n)
				}
				lines := log.all()[before:]
				if len(lines) != 1 || !strings.Contains(lines[0], "user=app") || !strings.Contains(lines[0], "address=127.0.0.1:") || !strings.Contains(lines[0], "net_write_timeout") {
					t.Errorf("logged: %q", lines)
				}
			})
		}
		t.Run("TLS", func(t *testing.T) {
			db := p.shop.DB(t, func(c *driver.Config) { c.TLSConfig = "skip-verify" })
			rows, err := db.QueryContext(t.Context(), wideRead)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			eventually(t, "the session has ended", func() bool { return p.shop.Proxy.Status().Sessions == 0 })
		})
		if n := p.shop.Proxy.Status().Counts.StalledWrites.Load() - count; int(n) != len(ways)+1 || len(log.all())-before != len(ways)+1 {
			t.Errorf("%d are counted and %d logged of %d", n, len(log.all())-before, len(ways)+1)
		}
	})
}

// TestManyThatDoNotRead lets others work again after clients that don't read have held all connections.
func TestManyThatDoNotRead(t *testing.T) {
	stalling(t, time.Second, time.Minute, func(t *testing.T, p *pair, _ *endings) {
		for range 4 {
			c := login(t, p.proxy, classic)
			c.write(0, []byte("\x03"+wideRead))
		}
		other := login(t, p.proxy, classic)
		if got := rowsOf(other.query("SELECT COUNT(*) FROM wide"), 0); len(got) != 1 || got[0] != "\x0212" {
			t.Errorf("%q", got)
		}
		eventually(t, "only the other one is left", func() bool { return p.shop.Proxy.Status().Sessions == 1 })
	})
}

// TestASlowClientGoesOn reads so slowly that the socket counts as writable far more rarely than the limit, but reads.
func TestASlowClientGoesOn(t *testing.T) {
	stalling(t, 500*time.Millisecond, time.Minute, func(t *testing.T, p *pair, _ *endings) {
		c := login(t, p.proxy, classic)
		c.write(0, []byte("\x03"+wideRead))
		pace := time.NewTicker(50 * time.Millisecond)
		defer pace.Stop()
		began, conn := time.Now(), c.stream.NetConn()
		var read bytes.Buffer
		for time.Since(began) < 4*time.Second {
			<-pace.C
			b := make([]byte, 128<<10)
			n, err := conn.Read(b)
			if err != nil {
				t.Fatalf("after %v and %d bytes: %v", time.Since(began), read.Len(), err)
			}
			read.Write(b[:n])
		}
		if n := p.shop.Proxy.Status().Counts.StalledWrites.Load(); n != 0 {
			t.Errorf("%d sessions are counted as stalled", n)
		}
	})
}

// TestTheSessionsOwnNetWriteTimeout is as on a server: which is SET in the session, read back, and forgotten with the session's state.
func TestTheSessionsOwnNetWriteTimeout(t *testing.T) {
	stalling(t, time.Minute, 30*time.Second, func(t *testing.T, p *pair, _ *endings) {
		p.both(t, classic, script(
			"SELECT @@net_write_timeout, @@global.net_write_timeout, @@net_read_timeout",
			"SET net_write_timeout = 7, SESSION net_read_timeout = 8", "SELECT @@net_write_timeout, @@net_read_timeout + 1, @@global.net_write_timeout",
			"SET net_write_timeout = DEFAULT", "SELECT @@net_write_timeout",
			"SET net_write_timeout = 'x'", "SET net_write_timeout = 1.5",
		))
		for name, begin := range map[string]func(c *peer){
			"SET":               func(c *peer) { c.must("SET net_write_timeout = 1") },
			"SET to what is 1":  func(c *peer) { c.must("SET SESSION net_write_timeout = 0") },
			"among others":      func(c *peer) { c.must("SET @a = 1, net_write_timeout = 1, sql_mode = ''") },
			"after a change":    func(c *peer) { c.must("SET net_write_timeout = 600", "SET net_write_timeout = 1") },
			"in a transaction":  func(c *peer) { c.must("BEGIN", "SET net_write_timeout = 1") },
			"by another's name": func(c *peer) { c.must("SET @@local.net_write_timeout = 1") },
		} {
			t.Run(name, func(t *testing.T) {
				c, before := login(t, p.proxy, classic), p.shop.Proxy.Status().Counts.StalledWrites.Load()
				begin(c)
				c.write(0, []byte("\x03"+wideRead))
				eventually(t, "the session has ended", func() bool { return p.shop.Proxy.Status().Counts.StalledWrites.Load() > before })
			})
		}
		c := login(t, p.proxy, classic)
		c.must("SET net_write_timeout = 1")
		c.ask(wire.SimpleResponse, []byte{mysql.COM_RESET_CONNECTION})
		if got := fmt.Sprint(rowsOf(c.query("SELECT @@net_write_timeout"), 0)); got != "[\x0260]" {
			t.Errorf("after COM_RESET_CONNECTION it is %q", got)
		}
	})
}

// TestKillOfAClientThatDoesNotRead ends the session at once, as on a server, whatever the session's own limit.
func TestKillOfAClientThatDoesNotRead(t *testing.T) {
	stalling(t, 10*time.Minute, time.Minute, func(t *testing.T, p *pair, _ *endings) {
		db := p.shop.DB(t, nil)
		db.SetMaxOpenConns(1)
		for name, begin := range ways {
			t.Run(name, func(t *testing.T) {
				if err := begin(t, p).stream.Fill(); err != nil { // the answer is under way
					t.Fatal(err)
				}
				var id int64
				if err := db.QueryRow("SELECT ID FROM information_schema.processlist WHERE ID <> CONNECTION_ID()").Scan(&id); err != nil {
					t.Fatal(err)
				}
				if _, err := db.Exec(fmt.Sprint("KILL ", id)); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the session has ended", func() bool { return p.shop.Proxy.Status().Sessions == 1 })
			})
		}
	})
}

// TestClientsThatSendNothing ends sessions whose client owes the rest of a command or of a file.
func TestClientsThatSendNothing(t *testing.T) {
	stalling(t, time.Minute, time.Second, func(t *testing.T, p *pair, _ *endings) {
		for name, begin := range map[string]func(c *peer){
			"a file": func(c *peer) {
				asked := c.query(load)
				c.write(asked[0].seq+1, []byte("1\ta\n"))
			},
			"nothing of a file": func(c *peer) { c.query(load) },
			"half a header":     func(c *peer) { _, _ = c.stream.Write([]byte{1, 0}) },
			"half a command":    func(c *peer) { _, _ = c.stream.Write([]byte("\x20\x00\x00\x00\x03SELECT")) },
			"the second packet of a command": func(c *peer) {
				c.write(0, append([]byte("\x03SELECT '"), bytes.Repeat([]byte("x"), wire.MaxPayload-9)...)[:wire.MaxPayload-1])
				_, _ = c.stream.Write([]byte{0xff, 0xff, 0xff, 0})
			},
			"half a command in a transaction": func(c *peer) {
				c.must("BEGIN", "UPDATE test_order SET amount = 7 WHERE buyer_uid = 1")
				_, _ = c.stream.Write([]byte("\x20\x00\x00\x00\x03SELECT"))
			},
		} {
			t.Run(name, func(t *testing.T) {
				c := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES)
				c.must("CREATE TABLE IF NOT EXISTS loaded (id INT PRIMARY KEY, name VARCHAR(20))")
				begin(c)
				eventually(t, "the session has ended", func() bool { return p.shop.Proxy.Status().Sessions == 0 })
				eventually(t, "the connections are given back", func() bool { return p.lent() == 0 })
			})
		}
		t.Run("an idle one is left alone", func(t *testing.T) {
			c := login(t, p.proxy, classic)
			c.must("SELECT SLEEP(2)", "BEGIN", "SELECT SLEEP(2)", "SELECT COUNT(*) FROM wide", "COMMIT")
		})
		if n := p.shop.Proxy.Status().Counts.StalledReads.Load(); n != 6 {
			t.Errorf("%d are counted, want 6", n)
		}
	})
}
