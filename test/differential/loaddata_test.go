package differential

import (
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
)

// file is a client's file, for the table that it is loaded into.
type file struct {
	into  *table
	head  string // up to INTO TABLE
	tail  string // from there on
	lines string
}

// files must be read equally by both sides, with equal rows as the result. Generated columns may differ.
var files = []file{
	{visit, "", "(owner, n, small, name, amount)", "42\t100\t7\tann\t1.25\n1\t101\t\\N\tt\\tab\\n\\\\\t\\N\n-1\t102\t-32768\t李雷\t0\n"},
	{visit, "", "(owner, n)", ""},
	{visit, "", "(owner, n)", "7\t100"}, // the last line has no line end
	{visit, "", "(n, @skipped, owner)", "200\tx\t42\n201\ty\t0\textra\n202\n203\t\t1"},
	{visit, "", "(owner, n, @s) SET small = LENGTH(@s) * 2, name = UPPER(@s), amount = owner + n", "42\t300\tab\n1\t301\t\\N\n"},
	{visit, "", "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' ESCAPED BY '' LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (owner, n, name)", "owner,n,name\r\n42,400,\"a,b\"\r\n7,401,\"say \"\"so\"\"\"\r\n2,402,back\\slash\r\n"},
	{visit, "", "COLUMNS TERMINATED BY ';' ENCLOSED BY '''' LINES STARTING BY 'row:' TERMINATED BY '|' IGNORE 2 ROWS (owner, n, name)", "row:x|row:y|xx row:'42';'500';'it''s'|no|row:1;501;\\N|"},
	{visit, "", "CHARACTER SET latin1 (owner, n, name)", "42\t600\tzo\xeb\n"},
	{visit, "", "CHARACTER SET utf8mb4 FIELDS TERMINATED BY '' ENCLOSED BY '' (owner, n)", "42        700       \n"},
	{visit, "", "(owner, n, small, name)", "x\t800\t99999\tname\n42abc\t801\tabc\tn\n99999999999999999999\t802\t1\tx\n\\N\t803\t1\tx\n"}, // warnings
	{visit, "", "(owner, n, name)", "42\t900\tfirst\n42\t900\tsecond\n1\t900\tother\n42\t900\tthird\n"},                                  // duplicates within
	{visit, "IGNORE", "(owner, n, name)", "42\t900\tkept\n1\t901\tnew\n"},
	{visit, "REPLACE", "(owner, n, name)", "42\t900\treplaced\n42\t902\ta\n42\t902\tb\n1\t903\tnew\n"},
	{visit, "REPLACE", "(owner, n, name)", lines(2500, func(n int) string { return fmt.Sprintf("%d\t%d\tname %d", owners[n%len(owners)], 10_000+n, n) })},
	{visit, "", "(owner, n, nosuch)", "42\t1\t1\n"},
	{visit, "", "(owner, n) SET small = nosuch", "42\t1\n"},
	{account, "", "(owner, small, big, tiny, amount, ratio, day, at, span, yr, name, alt, code, kind, tags, note, flag, raw)", "42\t1\t18446744073709551615\t255\t-12.34\t0.1\t2024-02-29\t2024-02-29 12:00:00.123\t-12:30:00\t1999\tzoë\tAnn \tx\tb\tx,z\ta\\0b\t\\0\traw\n"},
	{account, "", "(owner, @day, @flag) SET day = STR_TO_DATE(@day, '%d.%m.%Y'), flag = CAST(@flag AS SIGNED), note = CONCAT_WS('/', owner, @day)", "7\t31.12.2023\t5\n8\t1.2.2024\t7\n"},
	{account, "", "FIELDS TERMINATED BY ',' (id, no, owner, small)", "0,0,42,1\n\\N,0,7,2\n"},
	{line, "", "(id, product, qty, price)", "{id}\t1\t2\t3.50\n{id}\t\\N\t\\N\t\\N\n"},
	{member, "", "(who, n, small, name, day)", "ann\t700\t1\tAnn\t2024-01-01\n🙂x\t701\t2\t\\N\t2024-03-01\no'hara\t702\t3\tx\t2024-02-29\n"},
	{member, "", "(who, n, day)", "zero\t710\t0000-00-00\nwrong\t711\tno date\npart\t712\t2024-00-00\n"},
	{member, "REPLACE", "(who, n, day)", "zero\t710\t0000-00-00\nwrong\t711\tno date\npart\t712\t2024-00-00\n"},
	{product, "", "", "900\tbook\t9.99\n901\t\\N\t\\N\n"},
	{product, "REPLACE", "(product_id, name)", "900\tpen\n902\tcup\n900\tink\n"},
	{product, "", "(product_id, @n) SET name = REVERSE(@n), price = product_id / 3", "903\tabc\n900\tkept\n"},
	{rate, "", "", "usd\t1\t1.5\n"},
}

func lines(n int, line func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func TestLoadData(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.allowFiles()
		g := p.generator(5)
		p.fill(g)
		for _, mode := range []string{"", "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO", "NO_BACKSLASH_ESCAPES"} {
			for _, conn := range p.sessions() {
				p.exec(conn, "SET sql_mode = '"+mode+"'")
				for _, into := range []*table{account, visit, line, member, product, rate} {
					p.exec(conn, "DELETE FROM "+into.name)
				}
			}
			for _, f := range files {
				f.lines = strings.ReplaceAll(f.lines, "{id}", g.held["account.id"][0])
				p.sameLoad(t, f)
			}
		}
		p.sameAnswer("after LOAD DATA", "SELECT @skipped, @s, @day, @flag, @n", false)
	})
}

// Values of every type come out of a file as they do on one server.
func TestLoadDataOfAllKinds(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.allowFiles()
		columns := strings.Split(strings.TrimSuffix(kinds, ", ga, gv"), ", ")
		list := "(owner, " + strings.NewReplacer(" bi,", " @bi,", " b1,", " @b1,", " ge,", " @ge,").Replace(strings.Join(columns, ", ")) +
			") SET bi = CAST(@bi AS UNSIGNED), b1 = @b1 + 0, ge = ST_GeomFromText(@ge)"
		for _, conn := range p.sessions() {
			p.exec(conn, "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'")
		}
		into := &table{name: "kinds", shards: everywhere}
		for _, c := range append([]string{"owner", "gene"}, strings.Split(kinds, ", ")...) {
			into.columns = append(into.columns, column{name: c})
		}
		p.load(t, file{into, "", "CHARACTER SET utf8mb4 " + list, kindLines})
		p.sameAnswer("after LOAD DATA", "SELECT {c} FROM kinds ORDER BY n", true)
		p.sameAnswer("after LOAD DATA", "SELECT n, HEX(ch), HEX(vc), HEX(vb), HEX(u2), HEX(sj), HEX(bn), HEX(vn), HEX(tx), HEX(lt), HEX(bl), HEX(ge), en + 0, st + 0, bi + 0, fl + 0e0, db * 1 FROM kinds ORDER BY n", false)
	})
}

// kindLines have a field for each column of kinds that is not generated.
var kindLines = strings.Join([]string{
	strings.Join([]string{"42", "1", "-128", "7", "-8388608", "18446744073709551615", "-12345678901234567890123456.123456789012", "0.1", "123456.789", "0.1", "12345678.1234", "18446744073709551615", "1", "2155", "9999-12-31", "0000-00-00", "-838:59:59.000000", "1000-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2038-01-19 03:14:07", "1970-01-01 00:00:01.000001", "é ", "Ann", "Ann ", "𝄞李", "ｱテ", "a", `a\0b'\\`, `line\nfeed'\\`, "ÿ", "\\0", `{"a": [1, 1.0, 1e2, "é", null, true]}`, "POINT(1.5 -2)", "ä", "x,z"}, "\t"),
	strings.Join([]string{"7", "2", "127", "65535", "8388607", "0", "0.000000000001", "3.4e38", "-0.001", "-1.7976931348623157e308", "-0.0001", "0", "0", "1901", "2024-13-45", "2020-02-29", "00:00:00.000001", "0000-00-00 00:00:00", "2024-10-27 02:30:00.5", "2024-10-27 01:30:00", "2024-10-27 00:30:00.5", "", "", "", "", "", "", "", "", "", "", "{}", `\N`, "b", ""}, "\t"),
	strings.Join(append([]string{"1", "3"}, slices.Repeat([]string{`\N`}, 33)...), "\t"),
}, "\n") + "\n"

// allowFiles enables LOAD DATA LOCAL, which MySQL disables by default.
func (p *pair) allowFiles() {
	for _, db := range append([]*sql.DB{p.plain}, p.shards...) {
		if _, err := db.ExecContext(p.t.Context(), "SET GLOBAL local_infile = 1"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// sameLoad loads a file on both sides, and compares the tables afterwards.
func (p *pair) sameLoad(t *testing.T, f file) {
	t.Helper()
	p.load(t, f)
	skip := f.into.stamped
	if f.head == "REPLACE" {
		skip = append(slices.Clone(skip), "version")
	}
	if rows := p.compare(f.into, skip); rows != "" {
		t.Errorf("%s: LOAD DATA %s %s: %s", p.engine, f.head, f.tail, rows)
	}
}

// load compares the answers of both sides to a file, including warnings.
func (p *pair) load(t *testing.T, f file) {
	t.Helper()
	var said []string
	for _, conn := range []*sql.Conn{p.proxied, p.direct} {
		mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(f.lines) })
		text := fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::rows' %s INTO TABLE %s %s", f.head, f.into.name, f.tail)
		result, err := conn.ExecContext(t.Context(), text)
		what := fmt.Sprint(err)
		if err == nil {
			n, _ := result.RowsAffected()
			what = fmt.Sprintf("%d rows, warnings:\n%s", n, strings.Join(p.warnings(conn), "\n"))
		}
		said = append(said, what)
	}
	switch refused := strings.Contains(said[0], "locus-"); {
	case refused && strings.Contains(said[1], "rows, warnings"):
		t.Errorf("%s: LOAD DATA %s INTO TABLE %s %s is refused: %s", p.engine, f.head, f.into.name, f.tail, said[0])
	case !refused && said[0] != said[1]:
		t.Errorf("%s: LOAD DATA %s INTO TABLE %s %s\n  proxy: %s\n  plain: %s", p.engine, f.head, f.into.name, f.tail, said[0], said[1])
	}
}

// warnings returns the warnings of the last statement, sorted.
func (p *pair) warnings(conn *sql.Conn) (out []string) {
	rows, err := conn.QueryContext(p.t.Context(), "SHOW WARNINGS")
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, level+" "+code+" "+message)
	}
	slices.Sort(out)
	return out
}
