package protocol

import (
	"bytes"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// spread has a table whose rows are on several shards, and one that is on each.
var spread = shop.Options{
	Tables: []string{
		"CREATE TABLE {schema}.visit (owner BIGINT NOT NULL, n INT NOT NULL, gene INT NOT NULL DEFAULT 0, name VARCHAR(20), PRIMARY KEY (owner, n))",
		"CREATE TABLE {schema}.nation (id INT NOT NULL PRIMARY KEY, name VARCHAR(20))",
	},
	Declarations: "  {schema}.visit: {kind: sharded, owner: owner, gene: gene}\n  {schema}.nation: {kind: global}\n",
}

// A file for several shards is requested and answered as by one server, for all protocol variants of clients.
func TestLoadDataLocalSpread(t *testing.T) {
	pairs(t, spread, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		for name, capabilities := range dialects {
			for kind, pieces := range map[string][][]byte{
				"in one piece": {[]byte("1\t7\ta\n42\t8\tb\n")}, "empty": nil, "in pieces": {[]byte("1\t"), []byte("7\ta\n42\t8\tb\n7"), []byte("\t9\tc\n")},
				"with duplicates": {[]byte("1\t7\ta\n1\t7\tagain\n42\t7\tb\n")}, "with warnings": {[]byte("1\tx\ta\n")},
				"300 packets": bytes.SplitAfterN([]byte(rowsFrom(1, 300)), []byte("\n"), 300),
			} {
				t.Run(name+", "+kind, func(t *testing.T) {
					p.both(t, capabilities|mysql.CLIENT_LOCAL_FILES, func(t *testing.T, c *peer) (said []packet) {
						c.must("TRUNCATE visit", "TRUNCATE nation", "SET sql_mode = ''", "BEGIN")
						for _, into := range []string{"IGNORE INTO TABLE nation (id, @n, name)", "IGNORE INTO TABLE visit (owner, n, name)", "REPLACE INTO TABLE visit (owner, n, name)"} {
							c.must("DELETE FROM visit WHERE owner = 42")
							asked := c.query("LOAD DATA LOCAL INFILE 'rows.txt' " + into)
							said = append(said, asked...)
							c.send(asked[0], pieces...)
							said = append(said, c.answer(wire.QueryResponse)...)
						}
						for _, text := range []string{"SELECT owner, n, name FROM visit WHERE owner = 1", "SELECT * FROM nation", "ROLLBACK", "SELECT COUNT(*) FROM nation"} {
							said = append(said, c.query(text)...)
						}
						return said
					})
				})
			}
		}
	})
}

func TestLoadDataLocalSpreadAmongOthers(t *testing.T) {
	pairs(t, spread, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		p.both(t, classic|mysql.CLIENT_LOCAL_FILES|mysql.CLIENT_MULTI_STATEMENTS, func(t *testing.T, c *peer) (said []packet) {
			c.must("TRUNCATE nation")
			c.write(0, []byte("\x03SELECT 1; LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE nation; SELECT * FROM nation"))
			for len(said) == 0 || said[len(said)-1].payload[0] != mysql.LocalInFile_HEADER {
				said = append(said, c.read())
			}
			c.send(said[len(said)-1], []byte("1\ta\n"))
			return append(said, c.answer(wire.QueryResponse)...)
		})
	})
}

// A client that may not send files gets no request for one.
func TestLoadDataLocalSpreadRefused(t *testing.T) {
	pairs(t, spread, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		p.both(t, classic, func(t *testing.T, c *peer) []packet {
			return script("LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE nation", "SELECT COUNT(*) FROM nation")(t, c)
		})
	})
}

// A client that disconnects in the middle of its file leaves nothing behind, and the shards' connections remain
// usable.
func TestLoadDataLocalSpreadCutOff(t *testing.T) {
	pairs(t, spread, func(t *testing.T, p *pair) {
		p.allowFiles(t)
		c := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES)
		asked := c.query("LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE visit (owner, n, name)")
		c.write(asked[0].seq+1, []byte("1\t7\ta\n42\t8\tb\n"))
		_ = c.stream.Close()
		other := login(t, p.proxy, classic|mysql.CLIENT_LOCAL_FILES)
		if rows := rowsOf(other.query("SELECT COUNT(*) FROM visit"), 0); len(rows) != 1 || rows[0] != "\x010" {
			t.Errorf("rows %q", rows)
		}
		asked = other.query("LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE visit (owner, n, name)")
		other.send(asked[0], []byte("1\t7\ta\n"))
		if said := other.answer(wire.QueryResponse); wire.IsERR(said[0].payload) {
			t.Errorf("%v", said)
		}
	})
}
