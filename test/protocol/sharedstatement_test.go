package protocol

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/scale"
	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/test/shop"
)

// pairsLeftOut: one of so many pairs is tried.
var pairsLeftOut = scale.Of(211, 1)

// bound is a parameter value with a name for messages.
type bound struct {
	name string
	wire.Param
}

func integer(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

func double(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }

// bounds returns values of all types that clients send.
func bounds() []bound {
	text := func(s string) bound {
		return bound{"string " + s, wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(s)}}
	}
	return []bound{
		{"integer 7", wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: integer(7)}},
		{"integer -7", wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: integer(-7)}},
		{"tiny 7", wire.Param{Type: mysql.MYSQL_TYPE_TINY, Value: []byte{7}}},
		{"unsigned 7", wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Flags: mysql.PARAM_UNSIGNED, Value: integer(7)}},
		{"unsigned max", wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Flags: mysql.PARAM_UNSIGNED, Value: integer(-1)}},
		{"double 7", wire.Param{Type: mysql.MYSQL_TYPE_DOUBLE, Value: double(7)}},
		{"double 7.5", wire.Param{Type: mysql.MYSQL_TYPE_DOUBLE, Value: double(7.5)}},
		{"float 7.5", wire.Param{Type: mysql.MYSQL_TYPE_FLOAT, Value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(7.5))}},
		{"decimal 7.5", wire.Param{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Value: []byte("7.5")}},
		{"decimal 7.123456789", wire.Param{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Value: []byte("7.123456789")}},
		text("zzz"), text("7"), text("7.5"), text("-7"), text("7a"), text(""), text("18446744073709551615"), text("9223372036854775808"),
		text("1e30"), text("2024-05-06"), text("07:08:09"), text(strings.Repeat("x", 300)),
		{"blob zzz", wire.Param{Type: mysql.MYSQL_TYPE_BLOB, Value: []byte("zzz")}},
		{"date", wire.Param{Type: mysql.MYSQL_TYPE_DATE, Value: []byte{0xe8, 7, 5, 6}}},
		{"datetime", wire.Param{Type: mysql.MYSQL_TYPE_DATETIME, Value: []byte{0xe8, 7, 5, 6, 7, 8, 9}}},
		{"datetime with a fraction", wire.Param{Type: mysql.MYSQL_TYPE_DATETIME, Value: []byte{0xe8, 7, 5, 6, 7, 8, 9, 0x40, 0xe2, 1, 0}}},
		{"time", wire.Param{Type: mysql.MYSQL_TYPE_TIME, Value: []byte{0, 0, 0, 0, 0, 7, 8, 9}}},
		{"NULL", wire.Param{Type: mysql.MYSQL_TYPE_NULL}},
		{"string NULL", wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING}},
		{"integer NULL", wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG}},
	}
}

// sharedTexts are statements of each kind, whose parameters all get the same value.
var sharedTexts = []string{
	"SELECT u FROM acct WHERE u=2 AND nick=?",
	"SELECT u FROM acct WHERE n=?",
	"SELECT u FROM acct WHERE un=? ORDER BY u",
	"SELECT u FROM acct WHERE d>? ORDER BY u",
	"SELECT u FROM acct WHERE f>=? ORDER BY u",
	"SELECT u FROM acct WHERE dt>? ORDER BY u",
	"SELECT u FROM acct WHERE da=? ORDER BY u",
	"SELECT u FROM acct WHERE ti>? ORDER BY u",
	"SELECT u FROM acct WHERE b=? ORDER BY u",
	"SELECT u FROM acct WHERE y=? ORDER BY u",
	"SELECT u FROM acct WHERE nick IN (?, 'a', 7) ORDER BY u",
	"SELECT u FROM acct WHERE n NOT IN (?, 1) ORDER BY u",
	"SELECT u FROM acct WHERE nick BETWEEN ? AND 'zzzz' ORDER BY u",
	"SELECT u FROM acct WHERE n BETWEEN 1 AND ? ORDER BY u",
	"SELECT u FROM acct WHERE nick LIKE ? ORDER BY u",
	"SELECT u FROM acct WHERE (u, nick) = (2, ?)",
	"SELECT u FROM acct WHERE nick=(SELECT ?) ORDER BY u",
	"SELECT ?, u FROM acct ORDER BY u",
	"SELECT ? + 1, ? * 2, -?",
	"SELECT CONCAT(?, 'x'), CONCAT(nick, ?) FROM acct ORDER BY u",
	"SELECT CASE WHEN u=1 THEN ? ELSE 7 END FROM acct ORDER BY u",
	"SELECT CASE ? WHEN 7 THEN 'seven' WHEN 'zzz' THEN 'z' ELSE 'no' END",
	"SELECT IFNULL(?, n), COALESCE(nick, ?), IF(?, 1, 2) FROM acct ORDER BY u",
	"SELECT GREATEST(?, n), LEAST(?, nick), NULLIF(?, 7) FROM acct ORDER BY u",
	"SELECT ABS(?), ROUND(?, 1), LENGTH(?), HEX(?)",
	"SELECT SUBSTRING('abcdefghij', ?), DATE_ADD('2024-01-01', INTERVAL ? DAY)",
	"SELECT SUM(?), MAX(?), COUNT(DISTINCT ?) FROM acct",
	"SELECT CAST(? AS SIGNED), CAST(? AS DECIMAL(10,2))", // MySQL adds bytes of its memory to CAST(? AS CHAR) of a time
	"SELECT u FROM acct ORDER BY ?, u",
	"SELECT u FROM acct ORDER BY nick=?, u",
	"SELECT x.g, COUNT(*) FROM (SELECT n > ? AS g FROM acct) x GROUP BY x.g ORDER BY 1",
	"SELECT COUNT(*) FROM acct GROUP BY u HAVING MAX(nick)=? ",
	"SELECT ? UNION ALL SELECT nick FROM acct WHERE u=1",
	"SELECT u FROM acct ORDER BY u LIMIT ?",
	"SELECT u FROM acct ORDER BY u LIMIT 1 OFFSET ?",
	"SELECT x.v FROM (SELECT ? AS v) x WHERE x.v > 5",
	"INSERT INTO acct (u, nick) VALUES (77, ?)",
	"INSERT INTO acct (u, n) VALUES (77, ?)",
	"INSERT INTO acct (u, d, f) VALUES (77, ?, ?)",
	"INSERT INTO acct (u, dt) VALUES (77, ?)",
	"INSERT INTO acct (u, b) VALUES (77, ?)",
	"INSERT INTO acct (u, nick) VALUES (2, 'q') ON DUPLICATE KEY UPDATE nick = CONCAT(nick, ?), n = n + ?",
	"INSERT INTO acct (u, nick) SELECT u + 50, ? FROM acct WHERE u=1",
	"REPLACE INTO acct (u, nick, n) VALUES (2, ?, ?)",
	"UPDATE acct SET nick=? WHERE u=1",
	"UPDATE acct SET n=n+? WHERE u=1",
	"UPDATE acct SET n=1 WHERE nick=?",
	"UPDATE acct SET d=?, ti=? WHERE u=2",
	"DELETE FROM acct WHERE u=2 AND nick=?",
	"DELETE FROM acct WHERE n=?",
	"DELETE FROM acct WHERE un<? ORDER BY u LIMIT 1",
}

const acct = "CREATE TABLE acct (u INT PRIMARY KEY, nick VARCHAR(20), n INT, un BIGINT UNSIGNED, d DECIMAL(10,2), f DOUBLE, dt DATETIME, da DATE, ti TIME, b VARBINARY(20), y YEAR)"

// executed prepares a statement unless its number is given, and returns what an execution answers and leaves in the table. It
// undoes the changes.
func (p *peer) executed(text string, statement uint32, values []wire.Param) string {
	p.t.Helper()
	if statement == 0 {
		statement = p.prepare(text)
		defer p.write(0, wire.AppendStatementCommand(nil, mysql.COM_STMT_CLOSE, statement)[wire.HeaderSize:])
	}
	read := strings.HasPrefix(text, "SELECT")
	if !read {
		p.must("BEGIN")
	}
	execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: statement, Params: values})
	said := p.ask(wire.QueryResponse, execute[wire.HeaderSize:])
	if !read {
		said = append(said, p.query("SELECT u, nick, n, d, f, dt, ti, HEX(b) FROM acct ORDER BY u")...)
		p.must("ROLLBACK")
	}
	var b strings.Builder
	for _, s := range said {
		fmt.Fprintln(&b, told(s))
	}
	return b.String()
}

// boundTo lists values for all parameters of a text: the same one for each, and another one for each.
func boundTo(text string) (values [][]wire.Param, names []string) {
	all, params := bounds(), strings.Count(text, "?")
	for shift := range min(params, 2) {
		for i := range all {
			var list []wire.Param
			name := ""
			for k := range params {
				v := all[(i+k*shift*11)%len(all)]
				list, name = append(list, v.Param), name+"/"+v.name
			}
			values, names = append(values, list), append(names, name[1:])
		}
	}
	return values, names
}

// Sessions that share a connection to a shard share the statements that it has prepared. What one session executes must not show in
// the answers to another: each is as on a server where the session has just prepared the statement.
func TestSharedStatementsForgetTypes(t *testing.T) {
	one := shop.Options{Backends: backend.Limits{MaxOpen: 1}}
	pairs(t, one, func(t *testing.T, p *pair) {
		for _, mode := range []string{"", "STRICT_ALL_TABLES"} {
			t.Run("mode "+mode, func(t *testing.T) { p.sharedTypes(t, mode) })
		}
	})
}

func (p *pair) sharedTypes(t *testing.T, mode string) {
	plain, first, second := login(t, p.server, classic), login(t, p.proxy, classic), login(t, p.proxy, classic)
	first.must("DROP TABLE IF EXISTS acct", acct,
		"INSERT INTO acct VALUES (1,'7',7,7,7.5,7.5,'2024-05-06 07:08:09','2024-05-06','07:08:09','zzz',2007), (2,'abc',8,18446744073709551615,-7,8,'2000-01-01','2000-01-01','00:00:00','7',1999), (3,'zzz',-7,0,7,7,NULL,NULL,NULL,'7.5',NULL)")
	for _, c := range []*peer{plain, first, second} {
		c.must("SET sql_mode='" + mode + "'")
	}
	for _, text := range sharedTexts {
		values, names := boundTo(text)
		want := make([]string, len(values))
		for i, v := range values {
			want[i] = plain.executed(text, 0, v)
		}
		by, ids := [2]*peer{first, second}, [2]uint32{first.prepare(text), second.prepare(text)}
		wrong := 0
		for i := range values {
			for j := range values {
				if (31*i+17*j)%pairsLeftOut != 0 && !(strings.HasPrefix(names[i], "integer 7") && strings.Contains(names[j], "NULL")) {
					continue
				}
				for turn, k := range []int{i, j} {
					got := by[turn].executed(text, ids[turn], values[k])
					if got == want[k] {
						continue
					}
					if wrong++; wrong <= 2 {
						t.Errorf("%s with %s, session %d, pair (%s, %s):\n got %swant %s", text, names[k], turn+1, names[i], names[j], got, want[k])
					}
				}
			}
		}
		if wrong > 2 {
			t.Errorf("%s: %d answers differ", text, wrong)
		}
	}
}
