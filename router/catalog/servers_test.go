//go:build servers

package catalog

import (
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"pgregory.net/rapid"

	"locus/cmd/dbserver"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/stmt"
)

// database starts a server for this test only.
func database(t *testing.T, engine dbserver.Engine) *sql.DB {
	t.Helper()
	installation, err := dbserver.Find(t.Context(), engine, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := dbserver.Start(t.Context(), installation, dbserver.Options{
		Dir: filepath.Join(t.TempDir(), string(engine)), BufferPool: 32 << 20,
		Templates: filepath.Join(os.TempDir(), "locus-server-templates"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Kill() })
	if err := s.CreateUser(t.Context(), dbserver.User{Name: "compare", Password: "compare"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Execute(t.Context(), "CREATE DATABASE compare"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", "compare:compare@tcp("+s.Addr()+")/compare?tls=skip-verify&charset=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// subject is a column that is compared. x has an index, and y has the same values without one.
type subject struct {
	table, sqlType string
	keys           []Key
	rows           []string // as SQL text
}

func (s subject) String() string { return s.sqlType }

// interesting returns integers at the limits of types, doubles and genes.
func interesting() []*big.Int {
	var out []*big.Int
	around := func(center *big.Int) {
		for _, d := range []int64{-2049, -1024, -1, 0, 1, 2, 511, 1025} {
			out = append(out, new(big.Int).Add(center, big.NewInt(d)))
		}
	}
	for _, shift := range []uint{0, 15, 16, 31, 32, 37, 47, 53, 62, 63, 64} {
		power := new(big.Int).Lsh(big.NewInt(1), shift)
		around(power)
		around(new(big.Int).Neg(power))
	}
	border := new(big.Int).Lsh(big.NewInt(0x2a5c), 47) // the boundary of two genes of int64
	around(border)
	around(new(big.Int).Lsh(big.NewInt(0x9a5c), 48)) // the boundary of two genes of plain64
	around(big.NewInt(math.MinInt64 + 0x1234<<48))
	return append(out, big.NewInt(42), big.NewInt(-42))
}

func integerColumn(dataType string, unsigned bool) *Column {
	return &Column{Name: "x", DataType: dataType, Unsigned: unsigned}
}

func integerSubjects() []subject {
	var out []subject
	for _, c := range []*Column{integerColumn("bigint", false), integerColumn("bigint", true), integerColumn("int", false), integerColumn("int", true)} {
		s := subject{table: "of_" + c.DataType, sqlType: c.SQLType()}
		if c.Unsigned {
			s.table += "_unsigned"
		}
		s.keys = append(s.keys, Key{Role: Owner, Column: c, width: gene.W16}, Key{Role: Gene, Column: c, width: gene.W16})
		if c.DataType == "bigint" {
			for _, name := range []string{"int64", "plain64", "js53"} {
				s.keys = append(s.keys, Key{Role: ID, Column: c, Layout: layoutNamed(name), width: gene.W16})
			}
		}
		for _, n := range interesting() {
			if v, ok := (stmt.Value{Kind: stmt.String, Text: []byte(n.String())}).Integer(); ok && c.holds(v) {
				s.rows = append(s.rows, n.String())
			}
		}
		out = append(out, s)
	}
	return out
}

func create(t *testing.T, db *sql.DB, s subject) {
	t.Helper()
	statements := []string{fmt.Sprintf("CREATE TABLE %s (n INT AUTO_INCREMENT PRIMARY KEY, x %s, y %s, KEY (x))", s.table, s.sqlType, s.sqlType)}
	for _, r := range s.rows {
		statements = append(statements, fmt.Sprintf("INSERT INTO %s (x, y) VALUES (%s, %s)", s.table, r, r))
	}
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// spelled writes an integer in one of many forms.
func spelled(t *rapid.T, n *big.Int) constant {
	text := n.String()
	asFloat, _ := new(big.Float).SetInt(n).Float64()
	switch rapid.IntRange(0, 12).Draw(t, "spelling") {
	case 10:
		return constant{sql: introduced(t, "'"+text+"'")}
	case 0:
		return constant{sql: "'" + text + "'"}
	case 1:
		return constant{sql: text + ".0"}
	case 2:
		return constant{sql: text + ".5"}
	case 3:
		return constant{sql: text + "." + strings.Repeat("0", 40) + "1"}
	case 4:
		return constant{sql: strconv.FormatFloat(asFloat, 'e', -1, 64)}
	case 5:
		return constant{sql: text + rapid.SampledFrom([]string{".5e0", ".25e0", ".9999999e0"}).Draw(t, "fraction")}
	case 6:
		return constant{sql: "?", arg: text, value: stmt.Value{Kind: stmt.String, Text: []byte(text)}}
	case 7:
		return constant{sql: "?", arg: asFloat, value: stmt.FloatValue(asFloat)}
	case 8:
		if n.IsInt64() {
			return constant{sql: "?", arg: n.Int64(), value: stmt.IntValue(n.Int64())}
		}
		if n.IsUint64() {
			return constant{sql: "?", arg: n.Uint64(), value: stmt.UintValue(n.Uint64())}
		}
	case 9:
		return constant{sql: "'" + text + ".000'"}
	}
	return constant{sql: text}
}

// introduced adds an introducer before a string.
func introduced(t *rapid.T, quoted string) string {
	return rapid.SampledFrom([]string{"_binary", "_utf8mb4", "_utf8mb3 ", "N", "_latin1", "_ascii"}).Draw(t, "introducer") + quoted
}

// conditions are all forms of conditions by which statements are routed, with the constants $1, $2, ….
var conditions = []string{
	"x = $1", "$1 = x", "x IN ($1)", "x IN ($1, $2)", "x IN ($1, $2, $3)", "x <=> $1", "x = $1 OR x = $2",
	"NOT (x <> $1)", "n IN (SELECT n FROM $t WHERE x = $1)", "EXISTS (SELECT 1 FROM $t t LEFT JOIN $t u ON u.x = $1 WHERE t.x = $1 AND t.n = $t.n)",
	"(x, 1) = ($1, 1)", "(x, 1) IN (($1, 1), ($2, 1))", "(x, n > 0) IN (($1, 1))", "(x, 1) <=> ($1, 1)", "x BETWEEN $1 AND $1 AND x = $1",
}

func ask(db *sql.DB, table, condition string, constants []constant) (rows []string, err error) {
	var args []any
	var b strings.Builder
	condition = strings.ReplaceAll(condition, "$t", table)
	for i := 0; i < len(condition); i++ {
		if condition[i] != '$' {
			b.WriteByte(condition[i])
			continue
		}
		i++
		c := constants[condition[i]-'1']
		b.WriteString(c.sql)
		if c.arg != nil {
			args = append(args, c.arg)
		}
	}
	found, err := db.Query("SELECT CONCAT(x) FROM "+table+" WHERE "+b.String(), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.String(), err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var x string
		if err := found.Scan(&x); err != nil {
			return nil, err
		}
		rows = append(rows, x)
	}
	return rows, found.Err()
}

// TestServersCompare checks that real servers find a condition of any form true only for rows with the genes that Of returns.
func TestServersCompare(t *testing.T) {
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			db := database(t, engine)
			checkSides(t, db)
			subjects := integerSubjects()
			for _, s := range subjects {
				create(t, db, s)
			}
			pool := interesting()
			asked, routed := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				s := subjects[rapid.IntRange(0, len(subjects)-1).Draw(t, "table")]
				key := s.keys[rapid.IntRange(0, len(s.keys)-1).Draw(t, "key")]
				var constants []constant
				alike := rapid.IntRange(0, 2).Draw(t, "all strings")
				for range 3 {
					n := rapid.SampledFrom(pool).Draw(t, "n")
					c := constant{sql: "'" + n.String() + "'"}
					switch alike {
					case 0:
						c = spelled(t, n)
					case 1:
						c = constant{sql: "?", arg: n.String(), value: text(n.String())}
					}
					c.understood()
					constants = append(constants, c)
				}
				for _, condition := range conditions {
					condition = strings.ReplaceAll(condition, "x", rapid.SampledFrom([]string{"x", "y"}).Draw(t, "column"))
					asked++
					if holdsTo(t, db, s.table, &key, condition, constants) {
						routed++
					}
				}
			})
			t.Logf("%d of %d conditions were routed", routed, asked)
			if routed*3 < asked {
				t.Errorf("only %d of %d conditions were routed: the test says little", routed, asked)
			}
		})
	}
}

// convertible reports whether all constants of the condition are strings of integers.
func convertible(key *Key, condition string, constants []constant) bool {
	for i, c := range constants {
		if !strings.Contains(condition, "$"+strconv.Itoa(i+1)) {
			continue
		}
		if !key.Convertible(c.value) || (c.arg == nil) != (constants[0].arg == nil) {
			return false
		}
	}
	return true
}

// holdsTo queries the server and compares the rows with the result of Of. It reports whether the condition would be routed by its genes.
func holdsTo(t *rapid.T, db *sql.DB, table string, key *Key, condition string, constants []constant) bool {
	genes := map[gene.Gene]bool{}
	of, residue := key.Of, key.Residue
	switch {
	case strings.Contains(condition, ") IN (("):
		of, residue = key.OfInRows, key.ResidueInList
	case strings.Contains(condition, " IN ($1,") && !convertible(key, condition, constants):
		of, residue = key.OfListed, key.ResidueInList
	}
	residues, told := map[orderid.Residue]bool{}, true
	for i, c := range constants {
		if !strings.Contains(condition, "$"+strconv.Itoa(i+1)) {
			continue
		}
		switch g, match := of(c.value); match {
		case Anywhere:
			return false
		case Here:
			genes[g] = true
			r, ok := residue(c.value)
			residues[r], told = true, told && ok
		case Nowhere:
		}
	}
	rows, err := ask(db, table, condition, constants)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		n, _ := stmt.Value{Kind: stmt.String, Text: []byte(x)}.Integer()
		g, match := key.Of(n)
		if match == Nowhere { // the value is no ID of the layout or no gene, so no such row can exist
			continue
		}
		if !genes[g] {
			t.Fatalf("%s: %s with %v finds %s of gene %s, routed to %v", table, condition, constants, x, g, genes)
		}
		if r := key.Layout.Residue; told && key.Role == ID && !residues[r(orderid.ID{Lo: n.Bits()})] {
			t.Fatalf("%s: %s with %v finds %s, whose residue is none of %v", table, condition, constants, x, residues)
		}
	}
	return true
}

// TestServersStore checks that a value which Stored accepts is stored as a row of that gene, in strict mode and in other modes.
func TestServersStore(t *testing.T) {
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			db := database(t, engine)
			subjects := integerSubjects()
			for i, c := range []Column{
				{DataType: "varchar", Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true, Length: 3},
				{DataType: "char", Charset: "utf8mb4", Collation: map[dbserver.Engine]string{dbserver.MariaDB: "utf8mb4_nopad_bin", dbserver.MySQL: "utf8mb4_0900_bin"}[engine], Length: 3},
				{DataType: "varchar", Charset: "utf8mb3", Collation: "utf8mb3_bin", PadSpace: true, Length: 3},
				{DataType: "varchar", Charset: "ascii", Collation: "ascii_bin", PadSpace: true, Length: 3},
				{DataType: "varbinary", Length: 3},
			} {
				s := subject{table: fmt.Sprintf("text%d", i), sqlType: c.SQLType(), keys: []Key{{Role: Owner, Column: &c, width: gene.W16}}}
				if c.Charset != "" {
					s.sqlType += " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
				}
				subjects = append(subjects, s)
			}
			for i := range subjects {
				subjects[i].rows = nil
				create(t, db, subjects[i])
			}
			texts := []string{"", " ", "a", "a ", "abc", "abc  ", "abcd", "A", "á", "買買買", "😀", "\xff", "a\x00", "42"}
			pool := interesting()
			stored := 0
			for _, mode := range []string{"", "STRICT_ALL_TABLES"} {
				db.SetMaxOpenConns(1)
				if _, err := db.Exec("SET SESSION sql_mode = ?", mode); err != nil {
					t.Fatal(err)
				}
				rapid.Check(t, func(t *rapid.T) {
					s := subjects[rapid.IntRange(0, len(subjects)-1).Draw(t, "table")]
					key := s.keys[rapid.IntRange(0, len(s.keys)-1).Draw(t, "key")]
					c := spelledText(t, rapid.SampledFrom(texts).Draw(t, "text"))
					if key.Column.IsInteger() {
						c = spelled(t, rapid.SampledFrom(pool).Draw(t, "n"))
						c.understood()
					}
					want, err := key.Stored(c.value)
					if err != nil {
						return
					}
					var args []any
					if c.arg != nil {
						args = append(args, c.arg)
					}
					result, err := db.Exec("INSERT INTO "+s.table+" (x) VALUES ("+c.sql+")", args...)
					if err != nil { // the server may refuse it
						return
					}
					n, _ := result.LastInsertId()
					var x string
					if err := db.QueryRow("SELECT CONCAT(x) FROM "+s.table+" WHERE n = ?", n).Scan(&x); err != nil {
						t.Fatal(err)
					}
					if got, err := key.Stored(stmt.Value{Kind: stmt.String, Text: []byte(x)}); err != nil || got != want {
						t.Fatalf("%s: %v was stored as %q of gene %s (%v), not %s", s.sqlType, c, x, got, err, want)
					}
					stored++
				})
			}
			if stored == 0 {
				t.Error("nothing was stored")
			}
		})
	}
}

// TestServersCompareText is TestServersCompare for owners that are text.
func TestServersCompareText(t *testing.T) {
	texts := []string{"", " ", "a", "a ", "a  ", "A", "á", "ab", "42", "042", "42 ", "0", "a\t", "a\x00", "買", "😀", "\xff", "\xe9", "ss", "ß"}
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			db := database(t, engine)
			noPad := map[dbserver.Engine]string{dbserver.MariaDB: "utf8mb4_nopad_bin", dbserver.MySQL: "utf8mb4_0900_bin"}[engine]
			var subjects []subject
			for _, c := range []*Column{
				{DataType: "varchar", Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true},
				{DataType: "varchar", Charset: "utf8mb4", Collation: noPad},
				{DataType: "char", Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true},
				{DataType: "char", Charset: "utf8mb4", Collation: noPad},
				{DataType: "varchar", Charset: "ascii", Collation: "ascii_bin", PadSpace: true},
				{DataType: "varbinary"},
			} {
				c.Length = 20
				s := subject{table: fmt.Sprintf("text%d", len(subjects)), sqlType: c.SQLType(), keys: []Key{{Role: Owner, Column: c, width: gene.W16}}}
				if c.Charset != "" {
					s.sqlType += " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
				}
				for _, text := range texts {
					if _, err := s.keys[0].Stored(stmt.Value{Kind: stmt.String, Text: []byte(text)}); err == nil {
						s.rows = append(s.rows, fmt.Sprintf("X'%x'", text))
					}
				}
				create(t, db, s)
				subjects = append(subjects, s)
			}
			rapid.Check(t, func(t *rapid.T) {
				s := subjects[rapid.IntRange(0, len(subjects)-1).Draw(t, "table")]
				var constants []constant
				for range 3 {
					constants = append(constants, spelledText(t, rapid.SampledFrom(texts).Draw(t, "text")))
				}
				for _, condition := range conditions {
					condition = strings.ReplaceAll(condition, "x", rapid.SampledFrom([]string{"x", "y"}).Draw(t, "column"))
					textHoldsTo(t, db, s, condition, constants)
				}
			})
		})
	}
}

func spelledText(t *rapid.T, text string) constant {
	c := constant{sql: "'" + text + "'"}
	switch rapid.IntRange(0, 5).Draw(t, "spelling") {
	case 0:
		return constant{sql: "?", arg: text, value: stmt.Value{Kind: stmt.String, Text: []byte(text)}}
	case 1:
		c.sql = fmt.Sprintf("X'%x'", text)
	case 2:
		c.sql = introduced(t, c.sql)
	case 3:
		c.sql = rapid.SampledFrom([]string{"0", "42", "42.0", "4.2e1"}).Draw(t, "number")
	}
	c.understood()
	return c
}

func textHoldsTo(t *rapid.T, db *sql.DB, s subject, condition string, constants []constant) {
	key := &s.keys[0]
	genes := map[gene.Gene]bool{}
	for i, c := range constants {
		if !strings.Contains(condition, "$"+strconv.Itoa(i+1)) {
			continue
		}
		switch g, match := key.Of(c.value); match {
		case Anywhere:
			return
		case Here:
			genes[g] = true
		case Nowhere:
		}
	}
	rows, err := ask(db, s.table, condition, constants)
	if err != nil { // a text that isn't valid utf8mb4 can't give a wrong answer
		return
	}
	for _, x := range rows {
		g, err := key.Stored(stmt.Value{Kind: stmt.String, Text: []byte(x)})
		if err != nil || !genes[g] {
			t.Fatalf("%s: %s with %v finds %q of gene %s (%v), routed to %v", s.sqlType, condition, constants, x, g, err, genes)
		}
	}
}
