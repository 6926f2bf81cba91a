package moves

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/router/catalog"
)

// kind is a column's type and values for it, as SQL.
type kind struct {
	sql    string
	values []string
	only   servers.Engine // empty: both
}

var integers = []kind{
	{sql: "TINYINT", values: []string{"-128", "0", "127"}},
	{sql: "TINYINT UNSIGNED", values: []string{"0", "128", "255"}},
	{sql: "SMALLINT", values: []string{"-32768", "32767"}},
	{sql: "SMALLINT UNSIGNED", values: []string{"0", "65535"}},
	{sql: "MEDIUMINT", values: []string{"-8388608", "-1", "8388607"}},
	{sql: "MEDIUMINT UNSIGNED", values: []string{"0", "8388608", "16777215"}},
	{sql: "INT", values: []string{"-2147483648", "-1", "2147483647"}},
	{sql: "INT UNSIGNED", values: []string{"0", "2147483648", "4294967295"}},
	{sql: "BIGINT", values: []string{"-9223372036854775808", "9223372036854775807"}},
	{sql: "BIGINT UNSIGNED", values: []string{"0", "9223372036854775808", "18446744073709551615"}},
	{sql: "INT(6) UNSIGNED ZEROFILL", values: []string{"0", "42", "4294967295"}},
}

var numbers = []kind{
	{sql: "DECIMAL(10,2)", values: []string{"-99999999.99", "-0.01", "0", "12.50"}},
	{sql: "DECIMAL(65,30)", values: []string{"-12345678901234567890123456789012345.123456789012345678901234567891", "0.000000000000000000000000000001"}},
	{sql: "DECIMAL(20,0) UNSIGNED", values: []string{"0", "99999999999999999999"}},
	{sql: "DECIMAL(5,5)", values: []string{"-0.99999", "0.00001"}},
	{sql: "FLOAT", values: []string{"0.1", "-3.4028235e38", "1.17549435e-38", "16777217", "-0e0", "1e-45"}},
	{sql: "FLOAT UNSIGNED", values: []string{"0.3"}},
	{sql: "FLOAT(7,3)", values: []string{"1234.567", "-0.001"}},
	{sql: "DOUBLE", values: []string{"0.1", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "-0e0", "9007199254740993", "123456789.12345678"}},
	{sql: "DOUBLE(15,4)", values: []string{"12345678901.2345"}},
	{sql: "BIT(1)", values: []string{"b'0'", "b'1'"}},
	{sql: "BIT(17)", values: []string{"b'0'", "b'10000000000000001'"}},
	{sql: "BIT(64)", values: []string{"b'0'", "18446744073709551615", "9223372036854775808"}},
}

var times = []kind{
	{sql: "DATE", values: []string{"'1000-01-01'", "'9999-12-31'", "'0000-00-00'", "'2024-00-00'", "'2024-02-31'"}},
	{sql: "DATETIME", values: []string{"'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'", "'0000-00-00 00:00:00'", "'2024-03-31 02:30:00'"}},
	{sql: "DATETIME(1)", values: []string{"'2024-01-02 03:04:05.6'", "'0000-00-00 00:00:00'"}},
	{sql: "DATETIME(3)", values: []string{"'2024-01-02 03:04:05.006'"}},
	{sql: "DATETIME(6)", values: []string{"'2024-01-02 03:04:05.000006'", "'9999-12-31 23:59:59.999999'", "'0000-00-00 00:00:00.000000'"}},
	{sql: "TIMESTAMP NULL", values: []string{"'1970-01-01 12:00:01'", "'2038-01-18 03:14:07'", "'0000-00-00 00:00:00'", "'2024-10-27 01:30:00'"}},
	{sql: "TIMESTAMP(6) NULL", values: []string{"'2024-01-02 03:04:05.000006'", "'0000-00-00 00:00:00'", "'1970-01-01 12:00:01.999999'"}},
	{sql: "TIMESTAMP(2) NULL", values: []string{"'2024-01-02 03:04:05.09'"}},
	{sql: "TIME", values: []string{"'-838:59:59'", "'838:59:59'", "'00:00:00'", "'-00:00:01'"}},
	{sql: "TIME(1)", values: []string{"'-00:00:00.1'", "'23:59:59.9'"}},
	{sql: "TIME(3)", values: []string{"'-12:34:56.789'", "'-00:00:00.001'", "'00:00:00.999'"}},
	{sql: "TIME(4)", values: []string{"'-12:34:56.7891'"}},
	{sql: "TIME(6)", values: []string{"'-838:59:58.000001'", "'-00:00:00.000001'", "'-01:00:00.000000'", "'101:00:00.999999'"}},
	{sql: "YEAR", values: []string{"0", "1901", "2155"}},
}

// charsets has one of each kind, with text whose bytes are special in that character set.
var charsets = []struct{ name, text string }{
	{"utf8mb4", `x'😀\買`},
	{"utf8mb3", `x'買\ß`},
	{"latin1", `x'é\ÿ`},
	{"ascii", `x'\`},
	{"gbk", `x'誠\許功`},
	{"utf16", `x'😀\買`},
	{"utf16le", `x'😀ß`},
	{"utf32", `x'😀`},
	{"ucs2", `x'買`},
	{"sjis", `x'表ソ\`},
	{"big5", `x'功許`},
	{"gb2312", `x'中`},
	{"euckr", `x'한`},
	{"cp1251", `x'Ж`},
	{"koi8r", `x'Ж`},
	{"swe7", `xy`},
}

func texts() []kind {
	var kinds []kind
	for _, c := range charsets {
		text := func(s string) string {
			return fmt.Sprintf("CONVERT(CONVERT(X'%x' USING utf8mb4) USING %s)", s, c.name)
		}
		values := []string{"''", text(c.text), text(c.text + " "), text(" ")}
		kinds = append(kinds,
			kind{sql: "VARCHAR(40) CHARACTER SET " + c.name, values: values},
			kind{sql: "CHAR(10) CHARACTER SET " + c.name, values: []string{"''", text(c.text), text("a ")}},
			kind{sql: "TEXT CHARACTER SET " + c.name, values: values})
	}
	return append(kinds,
		kind{sql: "VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", values: []string{"'A'", "'a'", "'a '"}},
		kind{sql: "GB", only: "none"})
}

var octets = []kind{
	{sql: "BINARY(8)", values: []string{"X'0102'", "X'0000000000000000'", "X'0100000000000000'", "X'2020'", "X'ff00ff0000000000'"}},
	{sql: "BINARY(1)", values: []string{"X'00'", "X'5c'"}},
	{sql: "VARBINARY(300)", values: []string{"''", "X'00'", "X'0000'", "X'00275c1a0a0d0922'", "REPEAT(X'ff00', 150)"}},
	{sql: "TINYBLOB", values: []string{"''", "REPEAT(X'00', 255)"}},
	{sql: "BLOB", values: []string{"''", "REPEAT(X'275c', 32767)"}},
	{sql: "MEDIUMBLOB", values: []string{"REPEAT(X'00ff5c', 100000)"}},
	{sql: "LONGBLOB", values: []string{"''", "REPEAT(X'deadbeef', 500000)"}},
	{sql: "TINYTEXT", values: []string{"''", "'é'"}},
	{sql: "MEDIUMTEXT", values: []string{"REPEAT('買\\'', 30000)"}},
	{sql: "LONGTEXT", values: []string{"''", "REPEAT('x\\\\', 300000)"}},
	{sql: "ENUM('a','b','ß','')", values: []string{"'a'", "'ß'", "''", "4"}},
	{sql: "SET('a','b','c')", values: []string{"''", "'a'", "'a,c'"}},
	{sql: "SET(" + members(64) + ")", values: []string{"''", "18446744073709551615", "9223372036854775809"}},
	{sql: "ENUM(" + members(300) + ")", values: []string{"'m300'", "'m1'"}},
}

func members(n int) string {
	var m []string
	for i := range n {
		m = append(m, fmt.Sprintf("'m%d'", i+1))
	}
	return strings.Join(m, ",")
}

var special = []kind{
	{sql: "JSON", values: []string{
		`'null'`, `'[]'`, `'{}'`, `'""'`, `'{"b":1,"a":[1,2.5,true,null,"x\\"y"],"ab":{"é":"買😀"}}'`, `'1.0'`, `'-0.0'`,
		`'18446744073709551615'`, `'-9223372036854775808'`, `'1e100'`, `'0.1'`, `'123456789.123456789'`, `'"\\u0000\\n"'`, `'[[[[[]]]]]'`,
	}},
	{sql: "GEOMETRY", values: []string{"ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('LINESTRING(0 0,1 1,2 2)')"}},
	{sql: "POINT", values: []string{"ST_GeomFromText('POINT(-1.5 2e10)')"}},
	{sql: "POLYGON", values: []string{"ST_GeomFromText('POLYGON((0 0,0 5,5 5,5 0,0 0))')"}},
	{sql: "MULTIPOINT", values: []string{"ST_GeomFromText('MULTIPOINT(1 1,2 2)')"}},
	{sql: "MULTILINESTRING", values: []string{"ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,3 3))')"}},
	{sql: "MULTIPOLYGON", values: []string{"ST_GeomFromText('MULTIPOLYGON(((0 0,0 5,5 5,5 0,0 0)))')"}},
	{sql: "GEOMETRYCOLLECTION", values: []string{"ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))')"}},
	{sql: "GEOMETRY", only: servers.MySQL, values: []string{"ST_GeomFromText('POINT(1 2)', 4326)"}},
}

// matrix returns a table for each kind: its key is the value; other columns are the owner, and the value or NULL.
func matrix(engine servers.Engine) []kind {
	var kinds []kind
	for _, group := range [][]kind{integers, numbers, times, texts(), octets, special} {
		for _, k := range group {
			if k.only == "" || k.only == engine {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// TestColumnsBesideValues checks columns that the server computes, hides or fills in.
func TestColumnsBesideValues(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE beside (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n INT NOT NULL AUTO_INCREMENT, hidden INT INVISIBLE DEFAULT 7," +
			" nothing VARCHAR(10), filled VARCHAR(10) NOT NULL DEFAULT 'x', at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP," +
			" kept VARCHAR(30) AS (CONCAT(owner, '-', filled)) STORED, shown VARCHAR(30) AS (CONCAT(kept, '!')) VIRTUAL, KEY (n), KEY (kept))")
		tables := p.read(map[string]catalog.Declaration{"beside": byID})
		fill := func(owner int64) {
			p.on(p.source, "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
				fmt.Sprintf("INSERT INTO beside (id, owner, n, hidden, nothing, filled, at) VALUES (%s, %d, 0, NULL, '', '', '2001-02-03 04:05:06'), (%s, %d, 5, 8, NULL, 'y', '2001-02-03 04:05:07')",
					idOf(owner, 1), owner, idOf(owner, 2), owner),
				fmt.Sprintf("INSERT INTO beside (id, owner) VALUES (%s, %d)", idOf(owner, 3), owner))
		}
		fill(1)
		s := p.stream(applier.Config{Parts: all(2)}, tables)
		p.copy(s, copier.Config{}, tables)
		fill(2)
		p.on(p.source, "UPDATE beside SET hidden = 9 WHERE n = 0", "UPDATE beside SET n = 0, at = '2002-02-02 00:00:00' WHERE hidden = 8")
		p.settle(s)
		if n := p.same(tables[0], ""); n != 6 {
			t.Errorf("%d rows, want 6", n)
		}
		if r := p.verify(s, tables, all(2), 2); !r.Equal() {
			t.Errorf("compared: %v", r.Differences)
		}
	})
}

// lax makes a session accept values that old applications have stored.
const lax = "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+05:00'"

// Every value of every type is the same at the target, after the copy and after the stream, whether or not the target
// accepts LOAD DATA. Before a change the row at the target equals the row before the change, whichever of the two
// wrote it.
func TestTypes(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		kinds := matrix(p.engine)
		for _, load := range []bool{false, true} {
			t.Run(fmt.Sprintf("load=%t", load), func(t *testing.T) { newPair(t, p.engine).carries(kinds, load, nil) })
		}
		t.Run("strays", func(t *testing.T) { newPair(t, p.engine).carries(kinds, false, strays) })
	})
}

func (p *pair) carries(kinds []kind, load bool, judge applier.Judge) {
	defer p.takesFiles(load)()
	before := p.status("Com_load")
	declared := map[string]catalog.Declaration{}
	for i, k := range kinds {
		name := fmt.Sprintf("t%d", i)
		declared[name] = byID
		p.both("SET SESSION sql_mode = ''", "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v "+k.sql+")")
	}
	p.fill(kinds, 1)
	tables := p.read(declared)
	s := p.stream(applier.Config{Parts: all(3), Judge: judge}, tables)
	p.copy(s, copier.Config{}, tables)
	p.fill(kinds, 2)
	p.on(p.source, p.updates(kinds)...)
	p.fill(kinds, 3)
	p.settle(s)
	p.on(p.source, p.deletions(kinds, 3)...)
	p.settle(s)
	for _, table := range tables {
		if p.same(table, "") == 0 {
			p.t.Errorf("%s is empty", table.Name)
		}
	}
	if c := p.conflicts(p.target); len(c) > 0 {
		p.t.Errorf("%d conflicts, the first: %s %s %q %q", len(c), c[0].Table, c[0].Reason, c[0].Incoming, c[0].Standing)
	}
	if n := p.status("Com_load") - before; (n > 0) != load {
		p.t.Errorf("LOAD DATA was run %d times", n)
	}
}

// takesFiles sets whether the target accepts LOAD DATA LOCAL, until it is reset.
func (p *pair) takesFiles(load bool) (asEver func()) {
	set := func(load bool) { p.on(p.target, fmt.Sprintf("SET GLOBAL local_infile = %t", load)) }
	set(load)
	return func() { set(p.engine == servers.MariaDB) }
}

// status is a counter of the target, such as Com_load.
func (p *pair) status(counter string) (n int) {
	p.t.Helper()
	db := p.target.DB(p.t, "")
	defer db.Close()
	var name string
	if err := db.QueryRow("SHOW GLOBAL STATUS LIKE '"+counter+"'").Scan(&name, &n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// fill inserts each kind's values, and NULL, for an owner of a number.
func (p *pair) fill(kinds []kind, owner int64) {
	p.t.Helper()
	statements := []string{lax}
	for i, k := range kinds {
		for n, v := range append([]string{"NULL"}, k.values...) {
			statements = append(statements, fmt.Sprintf("INSERT INTO t%d VALUES (%s, %d, %s)", i, idOf(owner, uint64(n+1)), owner, v))
		}
	}
	p.on(p.source, statements...)
}

func (p *pair) deletions(kinds []kind, owner int) (statements []string) {
	for i := range kinds {
		statements = append(statements, fmt.Sprintf("DELETE FROM t%d WHERE owner = %d", i, owner))
	}
	return statements
}

// updates gives every row of owner 1 the value of another.
func (p *pair) updates(kinds []kind) []string {
	statements := []string{lax}
	for i, k := range kinds {
		for n := range k.values {
			statements = append(statements, fmt.Sprintf("UPDATE t%d SET v = %s WHERE id = %s", i, k.values[(n+1)%len(k.values)], idOf(1, uint64(n+2))))
		}
		statements = append(statements, fmt.Sprintf("DELETE FROM t%d WHERE id = %s", i, idOf(1, 1)))
	}
	return statements
}
