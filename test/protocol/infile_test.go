package protocol

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/wire"
	"locus/test/shop"
)

// allowFiles enables LOAD DATA LOCAL, which MySQL disables by default.
func (p *pair) allowFiles(t *testing.T) {
	t.Helper()
	if p.engine == servers.MySQL {
		p.shop.Servers[0].Exec(t, "SET GLOBAL local_infile = 1")
	}
}

const load = "LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE loaded"

// send sends a file in pieces, as the answer to the request for it.
func (c *peer) send(asked packet, pieces ...[]byte) {
	seq := asked.seq + 1
	for _, piece := range append(pieces, nil) {
		out, next := wire.AppendPacket(nil, seq, piece)
		if _, err := c.stream.Write(out); err != nil {
			c.t.Fatal(err)
		}
		seq = next
	}
}

func TestLoadDataLocal(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		for name, capabilities := range dialects {
			for kind, pieces := range map[string][][]byte{
				"in one piece": {[]byte("1\ta\n2\tb\n")}, "empty": nil, "in pieces": {[]byte("1\t"), []byte("a\n2\tb\n3"), []byte("\tc\n")},
				"with an error":   {[]byte("1\ta\n"), []byte("1\tagain\n"), bytes.Repeat([]byte("7\tx\n"), 100_000)},
				"with warnings":   {[]byte("x\ta\n")},
				"300 packets":     bytes.SplitAfterN([]byte(rowsFrom(1, 300)), []byte("\n"), 300),
				"16 MiB and more": {bytes.Repeat([]byte("#"), wire.MaxPayload), bytes.Repeat([]byte("#"), wire.MaxPayload+5), []byte("\n9\tnine\n")},
			} {
				if kind == "16 MiB and more" && p.engine == servers.MariaDB {
					continue // above its max_allowed_packet
				}
				t.Run(name+", "+kind, func(t *testing.T) {
					p.both(t, capabilities|mysql.CLIENT_LOCAL_FILES, func(t *testing.T, c *peer) (said []packet) {
						c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20))", "SET sql_mode = ''", "BEGIN")
						text := load
						if kind == "with an error" {
							text += " (id, name)" // without IGNORE, because LOCAL already makes duplicates warnings
						}
						if kind == "16 MiB and more" {
							text += " LINES STARTING BY '9' (name)"
						}
						said = c.query(text)
						c.send(said[0], pieces...)
						said = append(said, c.answer(wire.QueryResponse)...)
						for _, text := range []string{"SELECT * FROM loaded", "COMMIT", "SELECT COUNT(*) FROM loaded"} {
							said = append(said, c.query(text)...)
						}
						return said
					})
				})
			}
		}
	})
}

func TestLoadXMLLocal(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		p.both(t, classic|mysql.CLIENT_LOCAL_FILES, func(t *testing.T, c *peer) (said []packet) {
			c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20))")
			said = c.query("LOAD XML LOCAL INFILE 'rows.xml' INTO TABLE loaded ROWS IDENTIFIED BY '<row>' (id, @name) SET name = UPPER(@name)")
			if said[0].payload[0] != mysql.LocalInFile_HEADER {
				t.Fatalf("%s: %v", c.at.name, said)
			}
			c.send(said[0], []byte("<row id=\"1\" name=\"a\"/>\n<row><id>2</id><@name>b</@name></row>\n"))
			said = append(said, c.answer(wire.QueryResponse)...)
			for _, text := range []string{"SELECT * FROM loaded ORDER BY id", "SELECT @name"} {
				said = append(said, c.query(text)...)
			}
			return said
		})
	})
}

func rowsFrom(from, to int) (text string) {
	for i := from; i <= to; i++ {
		text += fmt.Sprintf("%d\trow\n", i)
	}
	return text
}

// A file is one answer among several, and the number of the next follows.
func TestLoadDataLocalAmongOthers(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		p.both(t, classic|mysql.CLIENT_LOCAL_FILES|mysql.CLIENT_MULTI_STATEMENTS, func(t *testing.T, c *peer) (said []packet) {
			c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20))")
			c.write(0, []byte("\x03SELECT 1; "+load+"; SELECT * FROM loaded"))
			for len(said) == 0 || said[len(said)-1].payload[0] != mysql.LocalInFile_HEADER {
				said = append(said, c.read())
			}
			c.send(said[len(said)-1], []byte("1\ta\n"))
			return append(said, c.answer(wire.QueryResponse)...)
		})
	})
}

// A client that may not send files, by its own choice or by the configuration, gets no request for one. The
// session continues.
func TestLoadDataLocalRefused(t *testing.T) {
	closed := shop.Options{Options: func(o *proxy.Options) { o.NoLocalFiles = true }}
	for name, o := range map[string]shop.Options{"by the client": {}, "by the configuration": closed} {
		t.Run(name, func(t *testing.T) {
			pairs(t, o, func(t *testing.T, p *pair) {
				p.allowFiles(t)
				p.both(t, classic, func(t *testing.T, c *peer) []packet {
					c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20))", "BEGIN", "INSERT INTO loaded VALUES (7, 'kept')")
					return script(load, "SELECT * FROM loaded", "COMMIT", "SELECT * FROM loaded")(t, c)
				})
			})
		})
	}
}

// A client that disconnects in the middle of its file leaves nothing behind.
func TestLoadDataLocalCutOff(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		c := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES)
		c.must("DROP TABLE IF EXISTS loaded", "CREATE TABLE loaded (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB")
		asked := c.query(load)
		c.write(asked[0].seq+1, []byte("1\ta\n"))
		_ = c.stream.Close()
		other := login(t, p.proxy, classic)
		if rows := rowsOf(other.query("SELECT COUNT(*) FROM loaded"), 0); len(rows) != 1 || rows[0] != "\x010" {
			t.Errorf("rows %q", rows)
		}
	})
}
