//go:build servers

package lookup

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
)

// kinds are types of indexed columns.
var kinds = map[servers.Engine][]string{
	servers.MariaDB: {"VARCHAR(10) COLLATE utf8mb4_unicode_ci", "CHAR(8) COLLATE utf8mb4_unicode_520_ci NOT NULL"},
	servers.MySQL:   {"VARCHAR(10) COLLATE utf8mb4_0900_ai_ci", "CHAR(8) COLLATE utf8mb4_0900_as_cs", "VARCHAR(10) COLLATE utf8mb4_0900_bin NOT NULL"},
}

// allKinds are those of both engines.
var allKinds = []string{
	"BIGINT", "INT UNSIGNED", "TINYINT NOT NULL", "VARBINARY(12)", "CHAR(8) COLLATE utf8mb4_general_ci", "VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci",
	"CHAR(8) CHARACTER SET ascii COLLATE ascii_bin", "VARCHAR(10) COLLATE utf8mb4_bin", "VARCHAR(10) COLLATE utf8mb4_general_ci NOT NULL DEFAULT 'd'",
}

// parameters are values that clients bind, of several types.
var parameters = []any{
	nil, "", " ", "a", "A", "a ", "á", "ß", "ss", "SS", "0", "-0", "00", "1", "1.0", "1e0", "+1", " 1", "18446744073709551615", "127", "128", "-128", "1.5", "x%", "_", `\`, "'", `"`,
	"\x00", "a\x00", "\t", "中", "🙂", "llllllllllllll", "abc             ", []byte("a"), []byte("\xff"), []byte("á"), int64(0), int64(1), int64(-1), int64(127), int64(128), int64(1) << 62,
	^uint64(0), 1.5, 1.0, -0.0, true, false,
}

// literals are values as statements contain them.
var literals = []string{
	"NULL", "''", "' '", "'a'", "'A'", "'a '", "'á'", "'ß'", "'ss'", "'0'", "-0", "0", "00", "1", "+1", "- 1", "1.0", "1e0", "0x61", "X'61'", "b'1100001'", "x''", "TRUE", "FALSE", "DEFAULT",
	"_utf8mb4'a'", "_latin1'a'", "N'a'", "'a' 'b'", "'a' COLLATE utf8mb4_bin", "DATE'2020-01-01'", "UPPER('a')", "CONCAT('a')", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
	"128", "-128", "-129", "1.5", "'1.5'", "'x%'", `'\_'`, `'\\'`, "''''", `"a"`, "'中'", "'🙂'", "'llllllllllllll'", "'abc             '", "(1)", "('a')", "-(1)", "CAST('a' AS CHAR)", "9999-12-31",
}

// sessionModes are settings under which servers read, compare and store values differently.
var sessionModes = []string{
	"SET sql_mode = 'STRICT_TRANS_TABLES'", "SET sql_mode = ''", "SET sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'", "SET sql_mode = 'STRICT_TRANS_TABLES,PAD_CHAR_TO_FULL_LENGTH'", "SET sql_mode = 'ANSI_QUOTES'",
	"SET NAMES latin1", "SET NAMES utf8mb4", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET NAMES utf8mb4", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
	"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET autocommit = 0", "SET autocommit = 1", "SET sql_select_limit = 1", "SET sql_select_limit = DEFAULT",
}

// texts and numbers are the values that changes compare a column of texts or numbers with. Servers make some comparisons of other types an error of
// a change, which depends on how they find the rows.
var (
	texts   = []any{"", " ", "a", "A", "a ", "á", "ß", "ss", "0", "-0", "1", "1.0", "x%", "_", `\`, "'", "\x00", "a\x00", "\t", "中", "llllllllllllll", "abc             ", []byte("a"), []byte("á")}
	numbers = []any{int64(0), int64(1), int64(-1), int64(127), int64(128), int64(1) << 62, ^uint64(0), int64(-128), true, false}
)

// kindStatement returns a statement on the table, whose indexed column contains numbers or texts.
func kindStatement(r *rand.Rand, engine servers.Engine, compared []any) statement {
	var args []any
	changes := false
	value := func() string {
		if r.IntN(2) == 0 {
			return literals[r.IntN(len(literals))]
		}
		args = append(args, parameters[r.IntN(len(parameters))])
		return "?"
	}
	sought := func() string {
		if changes {
			args = append(args, compared[r.IntN(len(compared))])
			return "?"
		}
		return value()
	}
	id := func() string { return fmt.Sprint(r.IntN(20)) }
	where := func() string {
		switch r.IntN(12) {
		case 0, 1:
			return "id = " + id()
		case 2:
			return "id IN (" + id() + ", " + id() + ")"
		case 3:
			return "v IN (" + sought() + ", " + sought() + ")"
		case 4:
			return "v LIKE " + sought()
		case 5:
			return "v <=> " + sought()
		case 6:
			return "v = " + sought() + " AND n = " + id()
		case 7:
			return "(v = " + sought() + " OR v = " + sought() + ")"
		case 8:
			changes = true // whether servers compare other types as numbers depends on how they find the rows
			return "v BETWEEN " + sought() + " AND " + sought()
		}
		return "v = " + sought()
	}
	row := func() string { return "(" + id() + ", " + value() + ", " + id() + ")" }
	rows := func() string {
		all := row()
		for range r.IntN(3) * r.IntN(2) {
			all += ", " + row()
		}
		return all
	}
	text := ""
	switch r.IntN(16) {
	case 0, 1, 2:
		text = "INSERT INTO k VALUES " + rows()
	case 3:
		text = "INSERT INTO k (v, id) VALUES (" + value() + ", " + id() + ")"
	case 4:
		text = "INSERT INTO k SET id = " + id() + ", v = " + value()
	case 5:
		text = "INSERT IGNORE INTO k VALUES " + rows()
	case 6:
		text = "REPLACE INTO k VALUES " + rows()
	case 7:
		text = "INSERT INTO k VALUES " + rows() + " ON DUPLICATE KEY UPDATE n = n + 1"
	case 8:
		text = "INSERT INTO k VALUES " + row() + " ON DUPLICATE KEY UPDATE v = " + value()
	case 9:
		text = "INSERT INTO k VALUES " + rows() + " ON DUPLICATE KEY UPDATE v = VALUES(v)"
		if engine == servers.MySQL {
			text = "INSERT INTO k VALUES " + rows() + []string{" AS new(i, e, c) ON DUPLICATE KEY UPDATE v = e", " AS new ON DUPLICATE KEY UPDATE k.v = new.v, n = new.n"}[r.IntN(2)]
		}
	case 10, 11:
		v := value()
		changes = true
		text = "UPDATE k SET v = " + v + " WHERE " + where()
	case 12:
		changes = true
		text = "DELETE FROM k WHERE " + where()
	case 13:
		changes = true
		text = "SELECT id, v, n FROM k WHERE " + where() + " FOR UPDATE"
	default:
		text = "SELECT id, v, n FROM k WHERE " + where()
	}
	return statement{text: text, args: args, several: changes || strings.Contains(text, "), (") || strings.HasPrefix(text, "SELECT")}
}

// Values of all types of indexed columns are stored, compared and refused as on one server, however a client writes them. A statement that is
// refused by locus alone has no effect. Afterwards every row has its entry, and is found by its value.
func TestKindsOfValues(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for i, kind := range append(kinds[engine], allKinds...) {
			for seed := range scale.Of(uint64(1), 6) {
				t.Run(fmt.Sprint(strings.Map(func(c rune) rune {
					if c == ' ' || c == '\'' {
						return '_'
					}
					return c
				}, kind), "/", seed), func(t *testing.T) {
					compareKind(t, engine, kind, seed*100+uint64(i), scale.Of(120, 2000))
				})
			}
		}
	})
}

func compareKind(t *testing.T, engine servers.Engine, kind string, seed uint64, n int) {
	s, proxied := indexed(t, engine)
	one := plain(t, engine)
	make := "CREATE TABLE k (id BIGINT NOT NULL PRIMARY KEY, v " + kind + ", n INT NOT NULL DEFAULT 0, UNIQUE KEY by_v (v)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci"
	ofEntries, _, _ := strings.Cut(kind, " NOT NULL")
	must(t, one, make)
	must(t, proxied, make+declares, "CREATE TABLE k_by_v (v "+ofEntries+` NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, v))
		DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci COMMENT 'locus: lookup=k.v'`, "CALL locus.fill_lookup('"+s.Schema+".k_by_v')")
	r := rand.New(rand.NewPCG(seed, 9))
	a, b := conn(t, proxied), conn(t, one)
	var log []string
	compared := texts
	if strings.Contains(kind, "INT") {
		compared = numbers
	}
	refused, failed := 0, 0
	for i := range n {
		st := kindStatement(r, engine, compared)
		switch r.IntN(14) {
		case 0:
			st = statement{text: sessionModes[r.IntN(len(sessionModes))]}
		case 1:
			st = statement{text: []string{"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "ROLLBACK TO b", "RELEASE SAVEPOINT a"}[r.IntN(8)], several: true}
		}
		if st.args == nil && strings.Contains(st.text, "?") {
			continue
		}
		log = append(log, fmt.Sprintf("%s %q", st.text, st.args))
		got, code := outcome(t, st, a)
		if strings.Contains(got, "locus-") || code == 1048 && st.several { // rows that are inserted one by one have no NULL that is stored as another value
			refused++
			continue
		}
		want, alone := outcome(t, st, b)
		if code != 0 {
			failed++
		}
		if code != 0 && alone != 0 && st.several { // which of several errors comes first depends on where rows are
			continue
		}
		if got != want {
			t.Fatalf("seed %d, statement %d:\n%s\none server: %s\nlocus:      %s", seed, i, strings.Join(log[max(0, len(log)-12):], "\n"), want, got)
		}
	}
	t.Logf("of %d statements, %d were refused, and %d failed as on one server", n, refused, failed)
	for _, on := range []*sql.Conn{a, b} {
		for _, text := range []string{"COMMIT", "SET autocommit = 1", "SET NAMES utf8mb4", "SET sql_mode = 'STRICT_TRANS_TABLES'", "SET sql_select_limit = DEFAULT"} {
			if _, err := on.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := statement{text: "SELECT id, HEX(v), n FROM k"}
	want, _ := outcome(t, all, b)
	if got, _ := outcome(t, all, a); want != got {
		t.Fatalf("seed %d: one server has %s, and locus %s", seed, want, got)
	}
	s.checkKind(t, proxied)
}

func conn(t *testing.T, db *sql.DB) *sql.Conn {
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// outcome returns the result of a statement, or the number of its error. A refusal is returned with its text.
func outcome(t *testing.T, st statement, on *sql.Conn) (text string, code uint16) {
	st.several = false
	text = st.run(t.Context(), on, false)
	if !strings.HasPrefix(text, "Error ") {
		return text, 0
	}
	if strings.Contains(text, "locus-") {
		return text, 1235
	}
	_, _ = fmt.Sscanf(text, "Error %d", &code)
	return fmt.Sprint("error ", code), code
}

// checkKind checks that rows and entries agree, and that each row is found by its value.
func (s *stand) checkKind(t *testing.T, proxied *sql.DB) {
	t.Helper()
	rows, entries := map[string]int{}, map[string]int{}
	for i := range s.Servers {
		for _, key := range strings.Fields(column(t, s.Shop.Shard(t, i), "SELECT CONCAT('x', HEX(v), '/', locus_gene) FROM k WHERE v IS NOT NULL")) {
			rows[key]++
		}
		for _, key := range strings.Fields(column(t, s.Shop.Shard(t, i), "SELECT CONCAT('x', HEX(v), '/', row_gene) FROM k_by_v")) {
			entries[key]++
		}
	}
	for key, n := range rows {
		if n != 1 || entries[key] != 1 {
			t.Errorf("value %s: %d rows, %d entries", key, n, entries[key])
		}
	}
	for key := range entries {
		if rows[key] == 0 {
			t.Errorf("value %s: an entry without its row", key)
		}
	}
	list, err := proxied.QueryContext(t.Context(), "SELECT id, v FROM k WHERE v IS NOT NULL")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for list.Next() {
		var id int
		var value any
		if err := errors.Join(list.Scan(&id, &value)); err != nil {
			t.Fatal(err)
		}
		if bytes, is := value.([]byte); is {
			value = string(bytes)
		}
		var got int
		if err := proxied.QueryRowContext(t.Context(), "SELECT id FROM k WHERE v = ?", value).Scan(&got); err != nil || got != id {
			t.Errorf("row %d with %q: found %d: %v", id, value, got, err)
		}
	}
	if err := list.Err(); err != nil && !errors.Is(err, mysql.ErrInvalidConn) {
		t.Fatal(err)
	}
}
