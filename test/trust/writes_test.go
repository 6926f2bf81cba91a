package trust

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// writeTables are the tables for INSERTs. Text in brackets is only for the plain server, where nobody stamps
// the rows.
var writeTables = []string{
	"CREATE TABLE {schema}.visit (n INT UNSIGNED NOT NULL PRIMARY KEY AUTO_INCREMENT, owner BIGINT NOT NULL, gene INT NOT NULL[ DEFAULT 0], what INT, KEY (owner))",
	"CREATE TABLE {schema}.ticket (owner BIGINT NOT NULL, gene INT NOT NULL[ DEFAULT 0], seat INT NOT NULL, code INT UNIQUE, note VARCHAR(20), half VARCHAR(20), " +
		"PRIMARY KEY (owner, seat), UNIQUE KEY half (half(3), owner))",
	"CREATE TABLE {schema}.dated (owner BIGINT NOT NULL PRIMARY KEY, gene INT NOT NULL[ DEFAULT 0], v INT, at DATETIME(6), seen TIMESTAMP(6) NOT NULL DEFAULT '2001-01-01' ON UPDATE CURRENT_TIMESTAMP(6), " +
		"made DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), later DATETIME(6) DEFAULT (NOW(6) + INTERVAL 1 DAY))",
	"CREATE TABLE {schema}.fenced (owner VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, gene INT NOT NULL[ DEFAULT 0], seat INT NOT NULL, UNIQUE KEY begins (owner(2), seat), PRIMARY KEY (owner, seat)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE {schema}.notice (k INT NOT NULL PRIMARY KEY, token VARCHAR(40) NOT NULL DEFAULT (UUID()), chance DOUBLE NOT NULL DEFAULT (RAND()), v INT, " +
		"made DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), seen TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))",
	"CREATE TABLE {schema}.clock (k INT NOT NULL PRIMARY KEY, v INT, made DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), " +
		"later DATETIME(6) DEFAULT (NOW(6) + INTERVAL 1 DAY), seen TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))",
	"CREATE TABLE {schema}.numbered (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, v INT, u INT UNIQUE)",
}

const writeDeclarations = `  {schema}.visit: {kind: sharded, owner: owner, gene: gene}
  {schema}.ticket: {kind: sharded, owner: owner, gene: gene}
  {schema}.dated: {kind: sharded, owner: owner, gene: gene}
  {schema}.fenced: {kind: sharded, owner: owner, gene: gene}
  {schema}.notice: {kind: global}
  {schema}.clock: {kind: global}
  {schema}.numbered: {kind: global}
`

// compared are the columns that both sides have alike.
var compared = map[string]string{
	"dated": "owner, v", "visit": "n, owner, what", "ticket": "owner, seat, code, note, half", "fenced": "owner, seat",
	"notice": "k, v", "clock": "k, v", "numbered": "*",
}

var copied = []string{"notice", "clock", "numbered"}

var ofPlain = regexp.MustCompile(`\[(.*?)\]`)

func newWrites(t *testing.T, engine servers.Engine) *stand {
	s := &stand{engine: engine}
	var tables []string
	for _, sql := range writeTables {
		tables = append(tables, ofPlain.ReplaceAllString(sql, ""))
	}
	s.Shop = shop.Start(t, engine, shop.Options{Shards: shards, User: ", scatter_writes: allow", Tables: tables, Declarations: writeDeclarations})
	s.server = servers.Shared(t, engine, shards+1)[shards]
	s.server.Exec(t, "CREATE DATABASE "+s.Schema)
	t.Cleanup(func() {
		if err := s.server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE "+s.Schema); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range slices.Concat(shop.Single, writeTables) {
		s.server.Exec(t, ofPlain.ReplaceAllString(strings.ReplaceAll(sql, "{schema}", s.Schema), "$1"))
	}
	for _, server := range append(slices.Clone(s.Servers), s.server) {
		s.admins = append(s.admins, login{server.Addr(), server.User, server.Password, s.Schema}.open(t, "admin"))
	}
	s.server.Exec(t, fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", shop.User, password))
	s.server.Exec(t, fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO '%s'@'%%'", shop.User))
	return s
}

// write is a list of statements. Each has the plain server's answer, including insert IDs, or the last one is
// refused.
type write struct {
	say     []string
	args    []any
	refused string // by this code; empty: it is not refused
}

func writes(refused string, say ...string) write { return write{say: say, refused: refused} }

var tried = []write{
	// Numbers of AUTO_INCREMENT, of which each shard has its own.
	writes("", "INSERT INTO visit (owner) VALUES (1), (2), (3), (4), (5), (6)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (NULL, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (1, 1), (NULL, 2)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (DEFAULT, 1)", "SELECT LAST_INSERT_ID()"),
	writes("1208", "INSERT INTO visit (n, owner) VALUES (DEFAULT(n), 1)"),
	writes("", "INSERT INTO visit (n, owner) VALUES (0, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES ('0', 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (FALSE, 1)", "SELECT LAST_INSERT_ID()"),
	writes("1208", "INSERT INTO visit (n, owner) VALUES (0.4, 1)"),
	writes("", "INSERT INTO visit (n, owner) VALUES (0e0, 1)", "SELECT LAST_INSERT_ID()"),
	writes("1208", "INSERT INTO visit (n, owner) VALUES (x'00', 1)"),
	writes("1208", "SET sql_mode = ''", "INSERT INTO visit (n, owner) VALUES (-1, 1)"),
	writes("1208", "SET sql_mode = ''", "INSERT INTO visit (n, owner) VALUES ('', 1)"),
	writes("1208", "SET sql_mode = ''", "INSERT INTO visit (n, owner) VALUES ('x', 1)"),
	writes("1003", "INSERT INTO visit (n, owner) VALUES ((SELECT 1) - 1, 1)"),
	writes("1208", "INSERT INTO visit (n, owner) VALUES (1 - 1, 1)"),
	writes("1208", "SET @n = NULL", "INSERT INTO visit (n, owner) VALUES (@n, 1)"),
	writes("1208", "SET @n = 0", "INSERT INTO visit (n, owner) VALUES (@n, 1)"),
	writes("1208", "SET insert_id = 70", "INSERT INTO visit (owner) VALUES (1)"),
	writes("1208", "SET auto_increment_increment = 3", "INSERT INTO visit (owner) VALUES (1)"),
	writes("", "INSERT INTO visit SET owner = 1", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit SET n = NULL, owner = 1", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit VALUES (NULL, 1, 0, 2)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (owner) SELECT 5", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) SELECT NULL, 5", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) SELECT 0, 5", "SELECT LAST_INSERT_ID()"),
	writes("", "REPLACE INTO visit (owner) VALUES (1)", "SELECT LAST_INSERT_ID()"),
	writes("1209", "REPLACE INTO visit (n, owner) VALUES (1, 1)"),
	writes("1209", "INSERT INTO visit (n, owner) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(n)"),
	{say: []string{"INSERT INTO visit (n, owner) VALUES (?, ?)"}, args: []any{nil, 1}},
	{say: []string{"INSERT INTO visit (n, owner) VALUES (?, 1)"}, args: []any{0}},
	{say: []string{"INSERT INTO visit (owner, what) VALUES (?, 1), (2, ?), (3, 1), (4, 1)"}, args: []any{1, 5}},
	writes("", "INSERT INTO visit (owner) VALUES (1)", "INSERT INTO visit (owner) VALUES (2)", "SELECT n - LAST_INSERT_ID() FROM visit ORDER BY n", "UPDATE visit SET what = LAST_INSERT_ID() WHERE owner = 1", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (NULL, 1), (4000000, 2), (NULL, 3), (5, 4), (NULL, 5)", "SELECT LAST_INSERT_ID()"),
	writes("", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "INSERT INTO visit (n, owner) VALUES (0, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT IGNORE INTO visit (owner) VALUES (1), (2), (3), (4)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (owner) VALUES (1) ON DUPLICATE KEY UPDATE what = 2", "SELECT LAST_INSERT_ID()"),
	writes("", "BEGIN", "INSERT INTO visit (owner) VALUES (1), (2), (3)", "ROLLBACK", "INSERT INTO visit (owner) VALUES (4)", "SELECT LAST_INSERT_ID()"),
	writes("1208", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "INSERT INTO visit (n, owner) VALUES (-1, 1)"),
	{say: []string{"INSERT INTO visit (n, owner) VALUES (?, 1)"}, args: []any{7}},
	{say: []string{"INSERT INTO visit (n, owner) VALUES (?, 1), (8, 2), (9, 3), (10, 4), (11, 5)"}, args: []any{"7"}},
	writes("", "INSERT INTO visit (n, owner) VALUES (7, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (n, owner) VALUES (7, 1), (9, 2), (8, 3), (3, 4), (5, 5)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit SET owner = 1, n = 4", "SELECT LAST_INSERT_ID(), @@identity"),
	writes("", "INSERT INTO visit (n, owner) SELECT 3, 5", "SELECT LAST_INSERT_ID()"),
	writes("", "SET insert_id = 70", "INSERT INTO visit (n, owner) VALUES (7, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO counted (note) VALUES ('x')", "INSERT INTO visit (n, owner) VALUES (7, 1)", "SELECT LAST_INSERT_ID() = 0", "UPDATE visit SET what = LAST_INSERT_ID(5) WHERE owner = 1", "SELECT LAST_INSERT_ID()"),
	// The copies of a global table have the same numbers.
	writes("", "INSERT INTO numbered (v) VALUES (1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (v) VALUES (1), (2), (3)", "SELECT LAST_INSERT_ID()", "SELECT v FROM numbered WHERE id = LAST_INSERT_ID() + 2"),
	writes("", "INSERT INTO numbered VALUES (NULL, 1, 1), (DEFAULT, 2, 2)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered SET v = 1", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered SET id = 0, v = 1", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered () VALUES (), ()", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (id, v) VALUES (5, 1), (0, 2), (4000000, 3), (NULL, 4)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (id, v) VALUES (DEFAULT, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "REPLACE INTO numbered (v) VALUES (1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (v, u) VALUES (1, 1)", "REPLACE INTO numbered (v, u) VALUES (2, 1)", "SELECT LAST_INSERT_ID(), ROW_COUNT()"),
	writes("", "INSERT INTO numbered (v, u) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (v) VALUES (8)", "INSERT INTO numbered (id, v, u) VALUES (3, 1, 1)", "INSERT INTO numbered (v, u) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = 2"),
	writes("1003", "INSERT INTO numbered (v, u) VALUES (1, 1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 2"),
	writes("", "INSERT IGNORE INTO numbered (v, u) VALUES (1, 1), (2, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "INSERT INTO numbered (id, v) VALUES (0, 1)", "INSERT INTO numbered (id, v) VALUES (NULL, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "BEGIN", "INSERT INTO numbered (v) VALUES (1)", "SELECT LAST_INSERT_ID()", "ROLLBACK", "INSERT INTO numbered (v) VALUES (2)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (v) SELECT 5", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (id, v) SELECT 0, 3", "SELECT LAST_INSERT_ID()"),
	writes("1208", "INSERT INTO numbered (id, v) VALUES (1 - 1, 1)"),
	writes("1208", "SET insert_id = 70", "INSERT INTO numbered (v) VALUES (1)"),
	writes("1208", "SET auto_increment_increment = 3", "INSERT INTO numbered (v) VALUES (1)"),
	{say: []string{"INSERT INTO numbered (id, v) VALUES (?, ?)"}, args: []any{nil, 1}},
	{say: []string{"INSERT INTO numbered (v, u) VALUES (?, 1), (2, ?)"}, args: []any{1, 5}},
	{say: []string{"INSERT INTO numbered VALUES (?, 1, ?), (NULL, 2, 2)"}, args: []any{0, 5}},
	{say: []string{"INSERT INTO numbered (id, v) VALUES (?, 1)"}, args: []any{7}},
	writes("", "INSERT INTO numbered (id, v) VALUES (7, 1)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (id, v) VALUES (7, 1), (3, 2)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (id, v) SELECT 9, 5", "REPLACE INTO numbered (id, v) VALUES (9, 6)"),
	writes("", "INSERT INTO numbered (id, v, u) VALUES (9, 5, 1)", "INSERT INTO numbered (id, v, u) VALUES (10, 5, 1) ON DUPLICATE KEY UPDATE v = 6", "INSERT IGNORE INTO numbered (id, v, u) VALUES (10, 5, 1), (11, 5, 2)"),

	// Duplicates on other shards.
	writes("1209", "INSERT INTO ticket (owner, seat, code) VALUES (1, 1, 5)", "REPLACE INTO ticket (owner, seat, code) VALUES (2, 1, 5), (3, 1, 5), (4, 1, 5)"),
	writes("1209", "INSERT IGNORE INTO ticket (owner, seat, code) VALUES (1, 1, 5), (2, 1, 5), (3, 1, 5), (4, 1, 5)"),
	writes("1209", "INSERT INTO ticket (owner, seat, code) VALUES (2, 1, 5) ON DUPLICATE KEY UPDATE note = 'x'"),
	writes("1209", "INSERT IGNORE INTO ticket (owner, seat, code) SELECT 2, 1, 5"),
	writes("1209", "REPLACE INTO ticket (owner, seat, code) SELECT 2, 1, 5"),
	writes("1209", "INSERT IGNORE INTO ticket SET owner = 1, seat = 1, code = 5"),
	writes("1209", "INSERT IGNORE INTO ticket (owner, seat, code) VALUES (1, 1, NULL), (1, 2, 7)"),
	writes("1209", "UPDATE IGNORE ticket SET code = 5"),
	writes("1209", "UPDATE IGNORE ticket SET code = 5 WHERE owner = 1"),
	writes("1209", "REPLACE INTO fenced (owner, seat) VALUES ('aab', 1)"),
	writes("1209", "INSERT IGNORE INTO fenced (owner, seat) VALUES ('aab', 1)"),
	{say: []string{"REPLACE INTO ticket (owner, seat, code) VALUES (1, 1, ?)"}, args: []any{5}, refused: "1209"},
	{say: []string{"REPLACE INTO ticket (owner, seat, code) VALUES (1, ?, ?)"}, args: []any{1, nil}},
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1)", "REPLACE INTO ticket (owner, seat, note) VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 1, 'z')"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1)", "INSERT IGNORE INTO ticket (owner, seat, code) VALUES (1, 1, NULL), (1, 2, NULL), (2, 2, DEFAULT)"),
	writes("", "INSERT INTO ticket (owner, seat, half) VALUES (1, 1, 'abcd')", "INSERT INTO ticket (owner, seat, half) VALUES (1, 2, 'abce') ON DUPLICATE KEY UPDATE note = 'was'", "REPLACE INTO ticket (owner, seat, half) VALUES (2, 2, 'abcf'), (1, 5, 'abcg')"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1), (1, 2)", "UPDATE IGNORE ticket SET seat = 2 WHERE owner = 1"),
	writes("1102", "INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1) ON DUPLICATE KEY UPDATE note = LAST_INSERT_ID(5)"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1)", "INSERT INTO ticket (owner, seat) VALUES (1, 1) ON DUPLICATE KEY UPDATE note = LAST_INSERT_ID(5)", "SELECT LAST_INSERT_ID()"),

	// MySQL's row alias, which MariaDB refuses. What an unqualified name means stays as it is.
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 1, 'd') AS new ON DUPLICATE KEY UPDATE note = new.note",
		"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'e'), (2, 1, 'f'), (3, 2, 'g'), (4, 1, 'h') AS new(o, s, n) ON DUPLICATE KEY UPDATE note = CONCAT(note, n), half = s"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a')", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'b') AS new ON DUPLICATE KEY UPDATE note = CONCAT(ticket.note, new.note, gene - gene)"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b') AS new ON DUPLICATE KEY UPDATE note = CONCAT(note, new.note)"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new ON DUPLICATE KEY UPDATE note = new.gene"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new ON DUPLICATE KEY UPDATE new.note = 'x'"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new(a, b) ON DUPLICATE KEY UPDATE note = 'x'"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new(a, b, b) ON DUPLICATE KEY UPDATE note = 'x'"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS ticket ON DUPLICATE KEY UPDATE note = ticket.note"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new ON DUPLICATE KEY UPDATE owner = ticket.owner, note = 'x'"),
	writes("", "INSERT INTO ticket SET owner = 1, seat = 1, note = 'a' AS new ON DUPLICATE KEY UPDATE note = new.note",
		"INSERT INTO ticket SET owner = 1, seat = 1, note = CAST('b' AS CHAR) AS new (`o`, s, n) ON DUPLICATE KEY UPDATE note = CONCAT(n, note)", "INSERT INTO ticket SET owner = 1, seat = 2 AS new"),
	writes("", "SET sql_mode = 'ANSI_QUOTES'", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (1, 1, 'b') AS \"new\" (\"a\", \"b\", \"c\"\"\") ON DUPLICATE KEY UPDATE note = CONCAT(\"new\".\"c\"\"\", 'r')"),
	writes("", "INSERT IGNORE INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (1, 1, 'b'), (2, 1, 'c') AS new ON DUPLICATE KEY UPDATE note = REPEAT(new.note, 30)"),
	writes("", "INSERT INTO visit (owner) VALUES (1), (2), (3) AS new ON DUPLICATE KEY UPDATE what = new.owner", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit (owner, what) VALUES (1, 5) AS new(o, w) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(visit.n)", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO visit SET owner = 1, what = 5 AS new(o, w) ON DUPLICATE KEY UPDATE what = w", "SELECT LAST_INSERT_ID()"),
	writes("", "INSERT INTO numbered (v, u) VALUES (1, 2), (1, 3) AS new ON DUPLICATE KEY UPDATE v = new.v", "INSERT INTO numbered (v, u) VALUES (7, 2) AS new(a, b) ON DUPLICATE KEY UPDATE v = a + b"),
	writes("", "INSERT INTO numbered VALUES (NULL, 1, 3), (NULL, 2, 4), (NULL, 5, 3) AS new ON DUPLICATE KEY UPDATE v = new.v + 1"),
	writes("", "INSERT INTO clock (k, v) VALUES (1, 2), (2, 3), (1, 4) AS new ON DUPLICATE KEY UPDATE v = new.v * 10"),
	writes("", "INSERT INTO setting (name, value) VALUES ('a', 'b'), ('a', 'c') AS new ON DUPLICATE KEY UPDATE value = new.value", "SELECT * FROM setting", "DELETE FROM setting"),
	{say: []string{"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a')", "INSERT INTO ticket (owner, seat, note) VALUES (?, ?, ?), (2, 1, ?) AS new ON DUPLICATE KEY UPDATE note = CONCAT(?, new.note)"}, args: []any{1, 1, "u", "v", "w"}},
	{say: []string{"INSERT INTO ticket SET owner = ?, seat = 1, note = ? AS new(o, s, n) ON DUPLICATE KEY UPDATE note = CONCAT(?, n)"}, args: []any{1, "u", "v"}},
	{say: []string{"INSERT INTO visit (owner, what) VALUES (?, 1), (2, ?), (3, 1) AS new ON DUPLICATE KEY UPDATE what = new.what + ?"}, args: []any{1, 5, 6}},
	{say: []string{"INSERT INTO numbered (v, u) VALUES (1, 1)", "INSERT INTO numbered (v, u) VALUES (?, ?) AS new(a, b) ON DUPLICATE KEY UPDATE v = a + ?"}, args: []any{5, 1, 6}},
	writes("1204", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new ON DUPLICATE KEY UPDATE owner = new.owner"),
	writes("1204", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') AS new(o, s, n) ON DUPLICATE KEY UPDATE owner = o"),
	writes("1209", "INSERT INTO ticket (owner, seat, code) VALUES (2, 1, 5) AS new ON DUPLICATE KEY UPDATE note = new.code"),

	// MariaDB's VALUE(), which MySQL refuses.
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c') ON DUPLICATE KEY UPDATE note = VALUE(note)",
		"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'd'), (2, 2, 'e'), (3, 1, 'f') ON DUPLICATE KEY UPDATE note = CONCAT(note, VALUE(note), VALUES(note), value /* x */ ( note ), VALUE(ticket.`note`))"),
	writes("", "INSERT INTO ticket SET owner = 1, seat = 1, note = 'a'", "INSERT INTO ticket SET owner = 1, seat = 1, note = 'b' ON DUPLICATE KEY UPDATE note = IF(VALUE(seat) > 0, VALUE(note), 'x')"),
	writes("", "INSERT INTO numbered (v, u) VALUES (1, 1), (2, 2) ON DUPLICATE KEY UPDATE v = VALUE(v)", "INSERT INTO numbered (v, u) VALUES (3, 1), (4, 2) ON DUPLICATE KEY UPDATE v = VALUE(v) + v"),
	writes("", "INSERT INTO setting (name, value) VALUES ('a', 'b'), ('a', 'c') ON DUPLICATE KEY UPDATE value = VALUE(value)", "SELECT * FROM setting", "DELETE FROM setting"),
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a')", "INSERT INTO ticket (owner, seat, note) SELECT owner, seat, 'x' FROM ticket ON DUPLICATE KEY UPDATE note = VALUE(note)"),
	{say: []string{"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a')", "INSERT INTO ticket (owner, seat, note) VALUES (?, ?, ?), (2, 1, ?) ON DUPLICATE KEY UPDATE note = CONCAT(?, VALUE(note))"}, args: []any{1, 1, "u", "v", "w"}},
	writes("1204", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a') ON DUPLICATE KEY UPDATE owner = VALUE(owner)"),

	// Rows of defaults.
	writes("", "INSERT INTO numbered VALUES ()", "SELECT LAST_INSERT_ID()", "INSERT INTO numbered VALUES (), ()", "SELECT LAST_INSERT_ID()", "INSERT INTO numbered () VALUE ()", "REPLACE INTO numbered VALUES (), ()", "INSERT IGNORE numbered VALUES ()"),
	writes("", "INSERT INTO numbered VALUES () ON DUPLICATE KEY UPDATE v = 1"),
	writes("", "INSERT INTO counted VALUES (), ()", "INSERT INTO setting VALUES ()", "DELETE FROM counted"),
	writes("1205", "INSERT INTO numbered VALUES (), (NULL, 1, 2)"),
	writes("1205", "INSERT INTO numbered VALUES (NULL, 1, 2), ()"),
	writes("", "INSERT INTO clock VALUES ()"),
	writes("1201", "INSERT INTO ticket VALUES ()"),
	writes("1201", "INSERT INTO visit () VALUES (), ()"),
	{say: []string{"INSERT INTO numbered VALUES (), ()"}, args: []any{nothing{}}},

	// MariaDB's SET STATEMENT with a limit for a statement, which MySQL refuses.
	writes("", "SET STATEMENT max_statement_time=10 FOR INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 1, 'd'), (5, 1, 'e')", "SELECT ROW_COUNT()",
		"set statement max_statement_time = 1.5, sort_buffer_size=1000000 for select owner, seat from ticket order by seat desc, owner limit 2",
		"SET STATEMENT max_statement_time=10 FOR SELECT COUNT(*), SUM(seat), AVG(seat), COUNT(DISTINCT seat) FROM ticket",
		"SET STATEMENT max_statement_time=10 FOR SELECT seat, GROUP_CONCAT(owner ORDER BY owner) FROM ticket GROUP BY seat ORDER BY seat",
		"SET STATEMENT max_statement_time=10 FOR SELECT a.owner, b.owner FROM ticket a JOIN ticket b ON a.seat = b.seat AND a.owner < b.owner ORDER BY 1, 2",
		"SET STATEMENT max_statement_time=10 FOR WITH x AS (SELECT seat, ROW_NUMBER() OVER (ORDER BY owner) r FROM ticket) SELECT * FROM x WHERE r = 2",
		"SET STATEMENT max_statement_time=10 FOR (SELECT owner FROM ticket WHERE owner = 1) UNION (SELECT owner FROM ticket WHERE seat = 2) ORDER BY 1",
		"SET STATEMENT max_statement_time=10, optimizer_switch='mrr=on' FOR UPDATE ticket SET note = 'z' WHERE owner = 2", "SET STATEMENT max_statement_time=10 FOR UPDATE ticket SET half = CONCAT('y', seat, owner)",
		"SET STATEMENT max_statement_time=10 FOR DELETE FROM ticket WHERE owner IN (1, 4)", "SET STATEMENT max_statement_time=10 FOR REPLACE INTO ticket (owner, seat, note) VALUES (1, 1, 'r')",
		"SET STATEMENT max_statement_time=10 FOR INSERT INTO ticket SET owner = 9, seat = 1, note = 'a' ON DUPLICATE KEY UPDATE note = VALUE(note)",
		"INSERT INTO ticket (owner, seat) VALUES (10, 4)", "SET STATEMENT max_statement_time=10 FOR INSERT INTO ticket (owner, seat, note) SELECT owner + 20, seat, note FROM ticket",
		"SET STATEMENT max_statement_time=10 FOR SELECT owner, seat, note, half FROM ticket ORDER BY owner, seat", "SELECT @@max_statement_time"),
	writes("", "SET STATEMENT max_statement_time=10 FOR INSERT INTO numbered (v) VALUES (1), (2)", "SELECT LAST_INSERT_ID()", "SET STATEMENT max_statement_time=10 FOR UPDATE numbered SET v = v + 1", "SET STATEMENT max_statement_time=10 FOR SELECT v, LAST_INSERT_ID() FROM numbered ORDER BY v"),
	writes("", "SET STATEMENT max_statement_time=10 FOR INSERT INTO visit (owner) VALUES (1), (2), (3)", "SELECT LAST_INSERT_ID()", "/* a */ SET /* b */ STATEMENT max_statement_time # c\n = 5 FOR /* d */ SELECT COUNT(*) INTO @n FROM visit WHERE owner = 2", "SELECT @n",
		"SET STATEMENT max_statement_time=10 FOR SELECT @@max_statement_time, CONNECTION_ID() > 0, LAST_INSERT_ID() > 0, FOUND_ROWS()"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1)", "SET STATEMENT max_statement_time=0.05 FOR SELECT owner FROM ticket WHERE SLEEP(3) = 0"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1)", "BEGIN", "SET STATEMENT max_statement_time=0.05 FOR UPDATE ticket SET seat = 2 + SLEEP(3) WHERE owner = 1", "SET STATEMENT lock_wait_timeout=5 FOR SELECT seat FROM ticket WHERE owner = 1 FOR UPDATE", "COMMIT"),
	writes("", "SET STATEMENT max_statement_time='x' FOR SELECT COUNT(*) FROM ticket", "SET STATEMENT max_statement_time=10 FOR SELECT nothing FROM ticket", "SET STATEMENT max_statement_time=10 FOR SELEC owner FROM nothing"),
	writes("", "PREPARE p FROM 'SET STATEMENT max_statement_time=10 FOR SELECT COUNT(*) FROM ticket WHERE seat < ?'", "SET @s = 3", "EXECUTE p USING @s"),
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1)", "SET STATEMENT max_statement_time=10 FOR SELECT owner FROM ticket WHERE seat = ? ORDER BY owner LIMIT ?"}, args: []any{1, 2}},
	{say: []string{"SET STATEMENT max_statement_time=10 FOR INSERT INTO ticket (owner, seat, note) VALUES (?, 1, ?), (2, ?, 'b')"}, args: []any{1, "a", 3}},
	writes("1003", "SET STATEMENT sql_mode='' FOR INSERT INTO ticket (owner, seat, note) VALUES (1, 1, REPEAT('a', 100))"),
	writes("1003", "SET STATEMENT max_statement_time=10, sql_select_limit=1 FOR SELECT owner FROM ticket"),
	writes("1008", "SET STATEMENT max_statement_time=10 + 1 FOR SELECT owner FROM ticket"),
	writes("1008", "SET STATEMENT sql_log_bin=0 FOR DELETE FROM ticket"),

	// FETCH and OFFSET exist in MariaDB, and not in MySQL.
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd'), (5, 2, 'e')", "SELECT owner FROM ticket ORDER BY owner FETCH FIRST 2 ROWS ONLY", "SELECT FOUND_ROWS()",
		"SELECT owner FROM ticket ORDER BY owner FETCH NEXT ROW ONLY", "SELECT owner FROM ticket ORDER BY owner OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY", "SELECT owner FROM ticket WHERE seat = 1 ORDER BY owner OFFSET 1 ROWS FETCH FIRST 5 ROWS ONLY", "SELECT FOUND_ROWS()",
		"SELECT owner FROM ticket ORDER BY owner DESC OFFSET 2 ROWS FETCH NEXT ROW ONLY", "SELECT FOUND_ROWS()", "SELECT owner FROM ticket ORDER BY owner OFFSET 1 ROWS", "SELECT FOUND_ROWS()", "SELECT owner FROM ticket WHERE owner = 2 OFFSET 0 ROWS FETCH FIRST ROW ONLY",
		"SELECT seat FROM ticket ORDER BY seat FETCH FIRST 1 ROWS WITH TIES", "SELECT seat FROM ticket ORDER BY seat OFFSET 1 ROWS FETCH FIRST ROW WITH TIES", "SELECT seat, owner FROM ticket WHERE owner = 1 ORDER BY seat FETCH FIRST 1 ROWS WITH TIES", "SELECT seat FROM ticket FETCH FIRST 1 ROWS WITH TIES",
		"SELECT seat, COUNT(*) FROM ticket GROUP BY seat ORDER BY seat OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", "SELECT seat, COUNT(*) FROM ticket GROUP BY seat ORDER BY COUNT(*) FETCH FIRST 1 ROWS WITH TIES", "SELECT COUNT(*) FROM ticket OFFSET 1 ROWS FETCH FIRST 1 ROWS ONLY", "SELECT COUNT(*) FROM ticket OFFSET 0 ROWS",
		"SELECT * FROM (SELECT owner FROM ticket ORDER BY owner FETCH FIRST 2 ROWS ONLY) x ORDER BY 1 DESC OFFSET 1 ROWS", "(SELECT owner FROM ticket ORDER BY owner OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY) UNION ALL (SELECT 77) ORDER BY 1",
		"SELECT owner FROM ticket UNION SELECT 77 ORDER BY 1 FETCH FIRST 2 ROWS WITH TIES", "SELECT owner FROM ticket UNION ALL SELECT owner + 10 FROM ticket ORDER BY 1 DESC OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "SELECT owner FROM ticket UNION ALL SELECT owner FROM ticket OFFSET 20 ROWS",
		"WITH x AS (SELECT owner, seat FROM ticket ORDER BY seat FETCH FIRST 1 ROWS WITH TIES) SELECT COUNT(*) FROM x", "SELECT owner FROM ticket ORDER BY owner OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY FOR UPDATE", "SELECT owner FROM ticket ORDER BY owner FETCH FIRST 18446744073709551615 ROWS ONLY",
		"SELECT SQL_CALC_FOUND_ROWS owner FROM ticket ORDER BY owner FETCH FIRST 1 ROWS ONLY", "SELECT FOUND_ROWS()", "INSERT INTO ticket (owner, seat) SELECT owner + 10, seat FROM ticket ORDER BY owner OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY"),
	writes("1001", "SELECT owner FROM ticket ORDER BY owner LIMIT 2 FETCH FIRST 1 ROWS ONLY"),
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 2)", "SELECT owner FROM ticket WHERE seat = ? ORDER BY owner OFFSET ? ROWS FETCH NEXT ? ROWS ONLY"}, args: []any{1, 1, 1}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 2)", "SELECT seat FROM ticket ORDER BY seat OFFSET ? ROWS FETCH NEXT ROW WITH TIES"}, args: []any{1}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 2)", "SELECT owner FROM ticket ORDER BY owner OFFSET ? ROWS"}, args: []any{1}},
	writes("", "INSERT INTO ticket (owner, seat) VALUES (1, 1), (1, 2)", "SELECT seat FROM ticket WHERE owner = 1 LIMIT 1 ROWS EXAMINED 100", "SELECT seat FROM ticket WHERE owner = 1 ORDER BY seat LIMIT ROWS EXAMINED 100", "SELECT * FROM (SELECT seat FROM ticket WHERE owner = 1 LIMIT 1, 1 ROWS EXAMINED 100) x"),
	writes("1102", "SELECT owner FROM ticket LIMIT 2 ROWS EXAMINED 100"),
	writes("1102", "SELECT COUNT(*) FROM (SELECT owner FROM ticket LIMIT ROWS EXAMINED 100) x"),
	writes("", "DESCRIBE ticket '%o%'", "DESC ticket 'owner'", "EXPLAIN numbered '%'", "DESC `setting` /* x */ \"n%\"", "DESCRIBE nothing '%'"),

	// What stands in place of a table: each server knows some of it.
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd'), (5, 2, 'e')",
		"SELECT owner, note FROM ticket JOIN (VALUES (1), (2)) AS v ON owner = v.`1` ORDER BY owner", "SELECT owner, note FROM ticket JOIN (VALUES ROW(1), ROW(2)) AS v(b) ON owner = b ORDER BY owner",
		"SELECT owner, note FROM ticket JOIN (VALUES ROW(1), ROW(2)) AS v ON owner = v.column_0 ORDER BY owner", "WITH v(b) AS (VALUES (1), (2)) SELECT owner, note FROM ticket JOIN v ON owner = b ORDER BY owner",
		"WITH v(b) AS (VALUES ROW(1), ROW(2)) SELECT owner, note FROM ticket JOIN v ON owner = b ORDER BY owner", "WITH v AS (VALUES (1), (2)) SELECT COUNT(*) FROM ticket, v",
		"WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n, note FROM r JOIN ticket ON owner = n ORDER BY n", "SELECT COUNT(*) FROM ticket WHERE owner IN (VALUES (1), (2))",
		"SELECT COUNT(*) FROM ticket WHERE (owner, seat) IN (VALUES (1, 1), (5, 2))", "SELECT owner FROM ticket UNION VALUES (77) ORDER BY 1", "SELECT note FROM ticket WHERE owner = 2 UNION ALL VALUES ('x'), ('y')", "VALUES (1, 2), (3, 4)",
		"SELECT * FROM (SELECT owner, seat FROM ticket) AS x(a, b) ORDER BY a", "SELECT owner, COUNT(*) FROM (SELECT seat, owner FROM ticket) AS x(owner, seat) GROUP BY owner ORDER BY owner",
		"SELECT s FROM (SELECT seat, owner FROM ticket) AS x(owner, s) WHERE owner = 1 ORDER BY s", "SELECT COUNT(*) FROM ticket JOIN (SELECT seat, owner FROM ticket) x(owner, s) ON ticket.owner = x.owner",
		"SELECT j.a, owner FROM ticket JOIN JSON_TABLE('[{\"a\":1},{\"a\":2}]', '$[*]' COLUMNS (a INT PATH '$.a')) j ON j.a = owner ORDER BY 1", "SELECT COUNT(*) FROM ticket JOIN JSON_TABLE('[1]', '$[*]' COLUMNS (owner INT PATH '$')) j WHERE j.owner = 1",
		"SELECT owner, j.a FROM ticket, JSON_TABLE(CONCAT('[', seat, ']'), '$[*]' COLUMNS (a INT PATH '$' DEFAULT '0' ON EMPTY NULL ON ERROR, e INT EXISTS PATH '$.x', NESTED PATH '$.y' COLUMNS (z INT PATH '$'))) AS j WHERE owner = 2",
		"SELECT owner, j.a FROM ticket LEFT JOIN JSON_TABLE(CONCAT('[', seat, ']'), '$[*]' COLUMNS (a INT PATH '$')) AS j ON 1 ORDER BY owner", "SELECT note, SUM(j.seat) FROM ticket, JSON_TABLE(CONCAT('[', owner, ', 5]'), '$[*]' COLUMNS (seat INT PATH '$')) j GROUP BY note ORDER BY note",
		"SELECT owner FROM ticket WHERE owner IN (SELECT a FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j) ORDER BY 1", "SELECT owner FROM ticket t WHERE EXISTS (SELECT 1 FROM JSON_TABLE(CONCAT('[', t.seat, ']'), '$[*]' COLUMNS (a INT PATH '$')) j WHERE j.a = 7)",
		"SELECT j.n, k.n FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (n INT PATH '$')) j JOIN JSON_TABLE('[2,3]', '$[*]' COLUMNS (n INT PATH '$')) k ON j.n = k.n JOIN ticket ON owner = j.n",
		"INSERT INTO ticket (owner, seat, note) SELECT a, 9, 'j' FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j", "UPDATE ticket JOIN JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j ON j.a = owner SET note = 'k' WHERE owner = 1",
		"DELETE ticket FROM ticket JOIN JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j ON j.a = owner WHERE owner = 2"),
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1)", "SELECT owner, a FROM ticket JOIN JSON_TABLE(?, '$[*]' COLUMNS (a INT PATH '$')) j ON j.a = owner WHERE seat = ? ORDER BY owner"}, args: []any{"[1, 3]", 1}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1)", "SELECT owner FROM ticket WHERE owner IN (VALUES (?), (?)) AND seat = ? ORDER BY owner"}, args: []any{1, 3, 1}},

	// Window functions of MariaDB, and MySQL's GROUPING().
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd'), (5, 2, 'e'), (2, 9, 'b')", "SELECT MEDIAN(seat) OVER (PARTITION BY note) FROM ticket WHERE owner = 2", "SELECT DISTINCT MEDIAN(seat) OVER () FROM ticket",
		"SELECT owner, MEDIAN(seat + 1) OVER (PARTITION BY note) AS m FROM ticket ORDER BY owner, m", "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY seat) OVER (PARTITION BY note) FROM ticket WHERE owner = 2",
		"SELECT owner, PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY seat DESC) OVER (PARTITION BY note) p FROM ticket ORDER BY owner, p"),
	{say: []string{"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd')", "SELECT DISTINCT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY seat + ?) OVER () FROM ticket"}, args: []any{3}},
	writes("", "INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd'), (5, 2, 'e'), (2, 9, 'b')", "SELECT seat, GROUPING(seat), COUNT(*) FROM ticket WHERE owner = 2 GROUP BY seat WITH ROLLUP HAVING GROUPING(seat) = 1"),
	{say: []string{"INSERT INTO ticket (owner, seat, note) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 7, 'd'), (5, 2, 'e'), (2, 9, 'b')", "SELECT seat, GROUPING(seat), COUNT(*) FROM ticket GROUP BY seat WITH ROLLUP"}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (2, 9)", "SELECT owner, seat, GROUPING(owner, seat) g, SUM(seat) FROM ticket GROUP BY owner, seat WITH ROLLUP ORDER BY g, owner, seat"}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (2, 9)", "SELECT IF(GROUPING(seat), 'all', seat) s, COUNT(*) FROM ticket GROUP BY seat WITH ROLLUP HAVING GROUPING(seat) = 1 OR COUNT(*) > 1"}},
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (2, 9)", "SELECT seat, GROUPING(note), COUNT(*) FROM ticket GROUP BY seat WITH ROLLUP"}},

	// Owners that are constant expressions.
	writes("", "SET @a = 4, @s = 'x'", "INSERT INTO ticket (owner, seat) VALUES (1 + 2, 1), (@a + 1, 2), (-(-7), 3), (100 DIV 7, 4), (17 % 9 * 2, 5), (@A /* x */, 6), (TRUE + 8, 7)", "SELECT seat FROM ticket WHERE owner = 5",
		"SELECT seat FROM ticket WHERE owner = 7", "SELECT seat FROM ticket WHERE owner = 14", "SELECT seat FROM ticket WHERE owner = 16", "SELECT seat FROM ticket WHERE owner IN (3, 4, 9) ORDER BY seat"),
	writes("", "INSERT INTO ticket (owner, seat) VALUES (31, 1), (32, 1), (33, 1)", "SELECT owner INTO @a FROM ticket WHERE owner = 32", "INSERT INTO ticket (owner, seat) VALUES (@a + 10, 2)", "SELECT seat FROM ticket WHERE owner = 42",
		"SET @a = @a + 1", "REPLACE INTO ticket (owner, seat) VALUES (@a * 2, 3)", "SELECT seat FROM ticket WHERE owner = 66", "PREPARE p FROM 'INSERT INTO ticket (owner, seat) VALUES (@a - 3, 4)'", "SET @a = 80", "EXECUTE p", "SELECT seat FROM ticket WHERE owner = 77"),
	writes("", "SET @s = 'x', @n = 7, @h = X'7879'", "INSERT INTO fenced (owner, seat) VALUES ('a' 'b', 1), (50, 2), (5.50, 3), (@s, 4), (-12, 5), (@n + 1, 6), (18446744073709551615, 7), ('it''s' '\\n', 8), (@h, 9)", "SELECT seat FROM fenced WHERE owner = 'ab'", "SELECT seat FROM fenced WHERE owner = '50'",
		"SELECT seat FROM fenced WHERE owner = '5.50'", "SELECT seat FROM fenced WHERE owner = 'x'", "SELECT seat FROM fenced WHERE owner = '-12'", "SELECT seat FROM fenced WHERE owner = '8'", "SELECT seat FROM fenced WHERE owner = '18446744073709551615'", "SELECT seat FROM fenced WHERE owner = 'it''s\\n'", "SELECT seat FROM fenced WHERE owner = 'xy'"),
	writes("", "SET NAMES latin1", "SET @s = 'abc'", "INSERT INTO fenced (owner, seat) VALUES (@s, 1)", "SELECT seat FROM fenced WHERE owner = 'abc'"),
	{say: []string{"INSERT INTO ticket (owner, seat) VALUES (? + 1, ?)"}, args: []any{40, 1}},
	{say: []string{"INSERT INTO fenced (owner, seat) VALUES (?, ?)"}, args: []any{12345, 1}},
	writes("1202", "SET NAMES latin1", "SET @s = '\xe4'", "INSERT INTO fenced (owner, seat) VALUES (@s, 1)"),
	writes("1202", "INSERT INTO fenced (owner, seat) VALUES (1e2, 1)"),
	writes("1202", "SET @f = 1e0", "INSERT INTO ticket (owner, seat) VALUES (@f + 1, 1)"),
	writes("1202", "INSERT INTO ticket (owner, seat) VALUES (@nothing, 1)"),
	writes("1202", "INSERT INTO ticket (owner, seat) VALUES (9223372036854775807 + 1, 1)"),
	writes("1202", "INSERT INTO ticket (owner, seat) VALUES (UUID_SHORT() % 10, 1)"),
	writes("1003", "SET @a = 1", "INSERT INTO ticket (owner, seat) VALUES (@a, @a := 2)"),

	// The time of a statement, on several shards.
	writes("", "INSERT INTO dated (owner) VALUES (1), (2), (3), (4), (5), (6)", "UPDATE dated SET v = 1", "SELECT COUNT(DISTINCT seen), MIN(seen) > '2020-01-01' FROM dated",
		"UPDATE dated SET at = NOW(6)", "SELECT COUNT(DISTINCT at), COUNT(DISTINCT seen) FROM dated", "DO SLEEP(0.001)", "UPDATE dated SET at = NOW(6), seen = DEFAULT WHERE owner = 3",
		"SELECT COUNT(DISTINCT at) FROM dated", "SELECT at < SYSDATE(6) + INTERVAL 1 MINUTE FROM dated WHERE owner = 3"),
	writes("", "INSERT INTO dated (owner, at) VALUES (1, NOW(6)), (2, NOW(6)), (3, NOW(6)), (4, NOW(6)), (5, NOW(6))", "SELECT COUNT(DISTINCT at) FROM dated"),
	writes("", "INSERT INTO dated (owner) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)", "SELECT COUNT(DISTINCT made), COUNT(DISTINCT later), COUNT(*) FROM dated",
		"INSERT INTO dated (owner, made) VALUES (11, DEFAULT), (12, DEFAULT), (13, DEFAULT), (14, DEFAULT), (15, DEFAULT)", "SELECT COUNT(DISTINCT made) FROM dated",
		"INSERT INTO dated (owner) SELECT owner + 20 FROM dated WHERE owner < 10", "SELECT COUNT(DISTINCT made), COUNT(DISTINCT later) FROM dated", "SELECT @@timestamp > 1700000000",
		"SET timestamp = 1000000000", "INSERT INTO dated (owner) VALUES (41), (42), (43), (44), (45)", "SELECT COUNT(DISTINCT made), UNIX_TIMESTAMP(MIN(made)) FROM dated WHERE owner > 40"),
	writes("", "BEGIN", "INSERT INTO dated (owner, at) VALUES (1, NOW(6)), (2, NOW(6)), (3, NOW(6)), (4, NOW(6)), (5, NOW(6))",
		"UPDATE dated SET at = NOW(6) WHERE owner IN (1, 2, 3)", "SELECT COUNT(DISTINCT at) FROM dated", "SELECT @@timestamp > 1700000000", "ROLLBACK"),

	// Copies.
	writes("1210", "INSERT INTO notice (k) VALUES (1)"),
	writes("1210", "INSERT INTO notice (k, token) VALUES (1, 'x')"),
	writes("1210", "INSERT INTO notice (k, token, chance) VALUES (1, 'x', 0.5), (2, DEFAULT, 0.5)"),
	writes("1210", "INSERT INTO notice (k, token, chance) VALUES (1, DEFAULT(token), 0.5)"),
	writes("1210", "REPLACE INTO notice SET k = 1, token = 'x'"),
	writes("1210", "INSERT INTO notice SET k = 1, token = DEFAULT, chance = 1"),
	writes("1210", "INSERT INTO notice (k, token, chance) VALUES (1, 'x', 1) ON DUPLICATE KEY UPDATE token = DEFAULT"),
	writes("1210", "INSERT INTO notice (k, token, chance) VALUES (1, 'x', 1) ON DUPLICATE KEY UPDATE token = DEFAULT(token)"),
	writes("1210", "INSERT INTO notice (k, token) SELECT 1, 'x'"),
	writes("1210", "INSERT INTO notice (k) SELECT owner FROM ticket"),
	writes("1210", "UPDATE notice SET token = DEFAULT"),
	writes("1210", "UPDATE notice SET token = CONCAT(DEFAULT(token), 'x')"),
	writes("1210", "UPDATE notice n JOIN clock c ON n.v = c.v SET n.token = c.made"),
	writes("1210", "UPDATE IGNORE numbered SET u = u + 1"),
	writes("1003", "UPDATE notice SET token = UUID()"),
	writes("1003", "UPDATE notice SET v = RAND()"),
	writes("1003", "UPDATE clock SET made = SYSDATE(6)"),
	writes("1003", "INSERT INTO clock (k, v) VALUES (1, CONNECTION_ID() * 0 + @@server_id)"),
	writes("1003", "UPDATE clock SET v = 1 LIMIT 1"),
	writes("1003", "UPDATE clock SET v = @x := 1"),
	writes("1003", "INSERT INTO clock (k, v) SELECT 1, v FROM clock LIMIT 1"),
	writes("1003", "DELETE FROM clock ORDER BY v LIMIT 1"),
	writes("", "INSERT INTO notice (k, token, chance) VALUES (1, 'x', 1), (2, 'y', 2)", "UPDATE notice SET v = 1", "UPDATE notice SET made = DEFAULT, v = 2 WHERE k = 1"),
	writes("", "INSERT INTO clock (k) VALUES (1), (2), (3)", "UPDATE clock SET v = 1 WHERE k = 2", "UPDATE clock SET made = NOW(6), seen = CURRENT_TIMESTAMP(6) WHERE k = 3"),
	writes("", "BEGIN", "INSERT INTO clock (k) VALUES (1)", "UPDATE clock SET v = 1", "COMMIT"),
	writes("", "INSERT INTO clock (k, made) VALUES (1, '2001-01-01') ON DUPLICATE KEY UPDATE made = DEFAULT", "INSERT INTO clock (k) VALUES (1) ON DUPLICATE KEY UPDATE v = 8, made = DEFAULT(made)", "REPLACE INTO clock (k) VALUES (1), (2)"),
	writes("", "INSERT INTO clock (k) SELECT 5", "INSERT INTO clock (k, made) SELECT 6, NOW(6)", "INSERT INTO clock (k) SELECT owner FROM ticket"),
	writes("", "SET timestamp = 1000000000.25", "INSERT INTO clock (k) VALUES (1)", "SELECT made, seen, later FROM clock", "UPDATE clock SET v = 4", "SELECT NOW(6)"),
	writes("", "INSERT INTO clock (k) VALUES (1)", "SELECT @@timestamp > 1700000000, NOW() > '2020-01-01'", "SELECT v FROM ticket WHERE owner = 1 AND NOW() < made"),
	{say: []string{"INSERT INTO clock (k) VALUES (?), (?)"}, args: []any{1, 2}},
}

// What an INSERT or UPDATE does to numbers, duplicates and copies is what one server
// does, or it is refused.
func TestWrites(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := newWrites(t, engine)
		for _, w := range tried {
			s.write(t, w)
		}
	})
}

func (s *stand) write(t *testing.T, w write) {
	t.Helper()
	proxy, plain := s.proxied(t, shop.User), s.direct(t, shop.User)
	defer proxy.Close()
	defer plain.Close()
	defer s.emptyWrites(t)
	s.numberAlike(t)
	a := attack{refused: []string{w.refused}}
	for i, text := range w.say {
		var args []any
		if i == len(w.say)-1 {
			args = w.args
		}
		got := proxy.say(text, args...)
		if refusal := a.refusal(got); refusal != "" {
			if refusal != w.refused {
				t.Errorf("%s: %q, %v: refused by %v, want %q", s.engine, w.say, w.args, got, w.refused)
			}
			return
		}
		want := plain.say(text, args...)
		if d := differ(got, want); d != "" || fmt.Sprint(idsOf(got)) != fmt.Sprint(idsOf(want)) {
			t.Errorf("%s: %q, %v: %q: %s\n  proxy: %s\n  plain: %s", s.engine, w.say, w.args, text, d, got, want)
		}
	}
	if w.refused != "" {
		t.Errorf("%s: %q, %v: it was not refused, want %s", s.engine, w.say, w.args, w.refused)
	}
	s.sameWrites(t, w)
}

// numberAlike has the plain server number on where the cluster does: it leaves out other numbers.
func (s *stand) numberAlike(t *testing.T) {
	t.Helper()
	app := s.proxied(t, shop.User)
	defer app.Close()
	next := map[string]uint64{}
	for table, insert := range map[string]string{"visit": "INSERT INTO visit (owner) VALUES (1)", "numbered": "INSERT INTO numbered (v) VALUES (1)"} {
		r := app.say(insert)
		if r.err != nil || len(r.results) != 1 {
			t.Fatalf("no number: %s", r)
		}
		next[table] = r.results[0].insertID + 1
	}
	s.emptyWrites(t)
	for table, n := range next {
		s.admins[shards].must(t, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table, n))
	}
}

func (s *stand) emptyWrites(t *testing.T) {
	var all []string
	for name := range compared {
		all = append(all, "DELETE FROM "+name)
	}
	for _, admin := range s.admins {
		admin.must(t, strings.Join(all, "; "))
	}
}

func idsOf(a answer) (ids []uint64) {
	for _, r := range a.results {
		ids = append(ids, r.insertID)
	}
	return ids
}

// sameWrites compares the rows with the plain server's, and copies with each other.
func (s *stand) sameWrites(t *testing.T, w write) {
	t.Helper()
	for name, columns := range compared {
		query := "SELECT " + columns + " FROM " + name
		var have []string
		for i, admin := range s.admins[:shards] {
			if i == 0 || !slices.Contains(copied, name) {
				have = append(have, admin.say(query).results[0].rows...)
			}
		}
		slices.Sort(have)
		if want := s.admins[shards].say(query).results[0].rows; !slices.Equal(have, want) {
			t.Errorf("%s: after %q, %v: %s has\n  %q\nand on the plain server\n  %q", s.engine, w.say, w.args, name, have, want)
		}
		if !slices.Contains(copied, name) {
			continue
		}
		first := s.admins[0].say("SELECT * FROM " + name).results[0].rows
		for i, admin := range s.admins[1:shards] {
			if theirs := admin.say("SELECT * FROM " + name).results[0].rows; !slices.Equal(first, theirs) {
				t.Errorf("%s: after %q, %v: %s has\n  %q on s0, and on s%d\n  %q", s.engine, w.say, w.args, name, first, i+1, theirs)
			}
		}
	}
}
