package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// ordered sorts the changes in OK packets. It also removes a status flag that only MariaDB sends: the metadata of a
// statement's tables may have changed.
func ordered(t *testing.T, said []packet) []packet {
	t.Helper()
	const tracks = mysql.CLIENT_SESSION_TRACK
	for i, p := range said {
		ok, err := wire.ParseOK(p.payload, tracks)
		if err != nil || p.payload[0] != mysql.OK_HEADER || ok.Changes == nil {
			continue
		}
		var changes []string
		for rest := ok.Changes; len(rest) > 0; {
			before := rest
			if _, rest, err = wire.NextChange(rest); err != nil {
				t.Fatalf("%v: %v", p, err)
			}
			changes = append(changes, string(before[:len(before)-len(rest)]))
		}
		slices.Sort(changes)
		ok.Changes = []byte(strings.Join(changes, ""))
		ok.Status &^= 0x80
		framed, _ := wire.AppendOK(nil, p.seq, ok, tracks)
		said[i].payload = framed[wire.HeaderSize:]
	}
	return said
}

func TestSessionTracking(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic|mysql.CLIENT_SESSION_TRACK, func(t *testing.T, c *peer) []packet {
			said := script(
				"USE information_schema", "USE information_schema", "SET NAMES latin1", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET autocommit = 0",
				"SET autocommit = 1", "SET time_zone = '+03:00', sql_mode = 'ANSI'", "SET @a = 1", "SET character_set_results = NULL", "SET sql_mode = ''",
				"SET session_track_state_change = 1", "SET @a = 2", "USE information_schema", "SET sql_mode = ''", "SET session_track_state_change = 0",
				"SET session_track_system_variables = 'sql_mode,lock_wait_timeout'", "SET sql_mode = 'ANSI', time_zone = 'SYSTEM'",
				"SET lock_wait_timeout = 7", "SET session_track_system_variables = DEFAULT", "SET time_zone = DEFAULT",
				"SET session_track_schema = 0", "USE information_schema", "SET session_track_schema = 1", "USE no_such_database", "DO 1",
				"SELECT @@session_track_schema, @@session_track_system_variables",
			)(t, c)
			for _, command := range [][]byte{append([]byte{mysql.COM_INIT_DB}, c.at.schema...), {mysql.COM_RESET_CONNECTION}} {
				said = append(said, c.ask(wire.SimpleResponse, command)...)
			}
			c.write(0, changeUser(c, c.at.user, c.at.password, c.at.schema))
			c.authenticate(c.at.password)
			c.welcome.seq = 0 // the two logins take different numbers of packets
			return ordered(t, append(said, c.welcome))
		})
	})
}

// MySQL reports the state of transactions without a request. MariaDB doesn't.
func TestTransactionsAreTold(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.both(t, classic|mysql.CLIENT_SESSION_TRACK, func(t *testing.T, c *peer) []packet {
			said := script("DROP TABLE IF EXISTS told, told2")(t, c)
			said = append(said, untold(t, script("SET sql_notes = 0")(t, c))...)
			said = append(said, script(
				"CREATE TABLE told (a INT PRIMARY KEY)", "INSERT INTO told VALUES (1)",
				"BEGIN", "SELECT * FROM told", "INSERT INTO told VALUES (2)", "COMMIT AND CHAIN", "UPDATE told SET a = 3 WHERE a = 2", "ROLLBACK AND NO CHAIN",
				"BEGIN", "BEGIN", "COMMIT", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "DO 1", "COMMIT",
				"BEGIN", "INSERT INTO told VALUES (9)", "CREATE TABLE told2 (a INT)", "DO 1", "ROLLBACK", "BEGIN", "TRUNCATE told2", "DROP TABLE told2",
				"XA START 'told'", "INSERT INTO told VALUES (10)", "XA END 'told'", "XA PREPARE 'told'", "XA COMMIT 'told'", "DO 1",
				"XA START 'told'", "INSERT INTO told VALUES (11)", "XA END 'told'", "XA ROLLBACK 'told'", "DO 1",
				"SET autocommit = 0", "INSERT INTO told VALUES (12)", "COMMIT", "SET autocommit = 1",
				"START TRANSACTION READ ONLY", "INSERT INTO told VALUES (13)", "DO 1", "COMMIT",
			)(t, c)...)
			said = append(said, untold(t, script("SET sql_notes = 1")(t, c))...)
			return ordered(t, append(said, script("DROP TABLE told")(t, c)...))
		})
	})
}

// untold removes the unchanged autocommit from the answer to a SET of a boolean variable: MariaDB 11.8 reports
// it with each of them.
func untold(t *testing.T, said []packet) []packet {
	t.Helper()
	const tracks = mysql.CLIENT_SESSION_TRACK
	for i, p := range said {
		ok, err := wire.ParseOK(p.payload, tracks)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if string(ok.Changes) == "\x00\x0e\nautocommit\x02ON" {
			ok.Changes, ok.Status = nil, ok.Status&^mysql.SERVER_SESSION_STATE_CHANGED
			framed, _ := wire.AppendOK(nil, p.seq, ok, tracks)
			said[i].payload = framed[wire.HeaderSize:]
		}
	}
	return said
}
