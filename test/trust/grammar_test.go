package trust

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/golden"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router/catalog"
	"locus/test/shop"
)

// grammarTables are the tables that the statements of the grammar list use. Each is sharded, unless its comment
// says otherwise or is missing.
var grammarTables = []string{
	"CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT, b VARCHAR(20), c DECIMAL(10,2), d DATETIME, KEY ka (a), KEY kb (b)) COMMENT 'locus: owner=id'",
	"CREATE TABLE t2 (id INT NOT NULL PRIMARY KEY, a INT, z INT) COMMENT 'locus: owner=id'",
	"CREATE TABLE u (tid INT NOT NULL, n INT NOT NULL, v VARCHAR(20), PRIMARY KEY (tid, n)) COMMENT 'locus: owner=tid'",
	"CREATE TABLE p (id INT NOT NULL PRIMARY KEY, a INT) COMMENT 'locus: owner=id' PARTITION BY HASH (id) PARTITIONS 4",
	"CREATE TABLE f (id INT NOT NULL PRIMARY KEY, txt TEXT, FULLTEXT KEY (txt)) COMMENT 'locus: owner=id'",
	"CREATE TABLE js (id INT NOT NULL PRIMARY KEY, j JSON) COMMENT 'locus: owner=id'",
	"CREATE TABLE one (id INT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=id'",
	"CREATE TABLE i (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT) COMMENT 'locus: owner=id'",
	"CREATE TABLE tx (k VARCHAR(20) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, a INT) COMMENT 'locus: owner=k'",
	"CREATE TABLE g (k INT NOT NULL PRIMARY KEY, v INT) COMMENT 'locus: global'",
	"CREATE TABLE gk (k INT NOT NULL PRIMARY KEY) COMMENT 'locus: global'",
	"CREATE TABLE x (id INT NOT NULL PRIMARY KEY, a INT NOT NULL DEFAULT 0, b VARCHAR(20), KEY ka (a), CONSTRAINT chk CHECK (a < 1000)) COMMENT 'locus: owner=id'",
	"CREATE TABLE xp (id INT NOT NULL PRIMARY KEY, a INT) COMMENT 'locus: owner=id' PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (1000), PARTITION p1 VALUES LESS THAN (2000))",
	"CREATE TABLE xe (id INT NOT NULL PRIMARY KEY, a INT) COMMENT 'locus: owner=id'",
	"CREATE VIEW vw AS SELECT id, a FROM t",
}

// grammarAlone are undeclared: MariaDB's objects that can't be sharded, and routines.
var grammarAlone = []string{
	"CREATE PROCEDURE answer() SELECT 1", "CREATE PROCEDURE plus_one(IN a INT, OUT b INT) SET b = a + 1", "CREATE FUNCTION fn(a INT) RETURNS INT DETERMINISTIC RETURN a + 1",
}

var grammarMariaDB = []string{"CREATE TABLE sv (a INT PRIMARY KEY) WITH SYSTEM VERSIONING", "CREATE SEQUENCE sq"}

// grammarRows are the rows of the tables.
var grammarRows = map[string]string{
	"t": "VALUES (1, 1, 'b1', 1.5, '2020-01-01'), (2, 2, 'b2', 2.5, '2020-01-02'), (3, 2, 'b3', NULL, '2020-01-03'), (4, NULL, 'c4', 4.5, NULL), " +
		"(5, 5, NULL, 5.5, '2020-01-05'), (6, 5, 'c6', 6.5, '2020-01-06'), (7, 9, 'b7', 7.5, '2020-01-07')",
	"t2":  "VALUES (1, 1, 10), (2, 9, 20), (3, 2, 30), (8, 8, 80)",
	"u":   "VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 1, 'z'), (3, 2, 'x'), (5, 1, NULL), (8, 1, 'w')",
	"p":   "VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)",
	"f":   "VALUES (1, 'apple pie'), (2, 'pear'), (3, 'apple pear'), (4, 'plum')",
	"js":  `VALUES (1, '{"k":1}'), (2, '{"k":2}'), (3, NULL)`,
	"one": "VALUES (1)",
	"i":   "(a) VALUES (1), (2)",
	"tx":  "VALUES ('m', 1), ('n', 2)",
	"g":   "VALUES (1, 10), (2, 20), (9, 90)",
	"x":   "VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c'), (4, 4, 'd'), (5, 5, 'e'), (6, 6, 'f')",
	"xp":  "VALUES (1, 1), (2, 2), (3, 3), (1001, 4), (1002, 5)",
	"sv":  "VALUES (1), (2)",
}

// grammarAlike contains, for tables whose other columns may differ between the two sides, the columns that must
// be equal.
var grammarAlike = map[string]string{"i": "a"}

// grammar is a stand for the grammar list.
type grammar struct {
	*stand
	fixtures           []string
	definitions, state string // the initial definitions and state of both sides
	declared           map[catalog.TableName]catalog.Declaration
}

func newGrammar(t *testing.T, engine servers.Engine) *grammar {
	g := &grammar{stand: grammarStand(t, engine), fixtures: slices.Concat(grammarTables, grammarAlone)}
	if engine == servers.MariaDB {
		g.fixtures = append(g.fixtures, grammarMariaDB...)
	}
	g.app, g.plain = g.proxied(t, shop.User), g.direct(t, shop.User)
	for _, s := range []*session{g.app, g.plain} {
		s.must(t, g.fixtures...)
	}
	g.fill(t, slices.Collect(maps.Keys(grammarRows))...)
	g.declared = g.Declared()
	g.definitions, g.state = g.defined(g.app), g.rowsOf(g.app)
	if d := difference(g.definitions, g.defined(g.plain)); d != "" {
		t.Fatalf("at first the definitions differ: %s", d)
	}
	if d := difference(g.state, g.rowsOf(g.plain)); d != "" {
		t.Fatalf("at first the rows differ: %s", d)
	}
	return g
}

// grammarStand returns a stand of the sample shop whose plain server has the same tables.
func grammarStand(t *testing.T, engine servers.Engine) *stand {
	s := &stand{engine: engine, Shop: shop.Start(t, engine, shop.Options{Shards: shards, User: ", scatter_writes: allow"})}
	s.server = servers.Shared(t, engine, shards+1)[shards]
	s.server.Exec(t, "CREATE DATABASE "+s.Schema)
	t.Cleanup(func() {
		if err := s.server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE "+s.Schema); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range slices.Concat(shop.Tables, shop.Single) {
		s.server.Exec(t, strings.ReplaceAll(sql, "{schema}", s.Schema))
	}
	for _, server := range append(slices.Clone(s.Servers), s.server) {
		s.admins = append(s.admins, login{server.Addr(), server.User, server.Password, s.Schema}.open(t, "admin"))
	}
	s.server.Exec(t, fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", shop.User, password))
	s.server.Exec(t, fmt.Sprintf("GRANT ALL PRIVILEGES ON *.* TO '%s'@'%%'", shop.User))
	return s
}

// fill inserts the initial rows of tables.
func (g *grammar) fill(t *testing.T, names ...string) {
	t.Helper()
	for _, s := range []*session{g.app, g.plain} {
		for _, name := range names {
			if rows := grammarRows[name]; rows != "" && (name != "sv" || g.engine == servers.MariaDB) {
				s.must(t, "DELETE FROM "+name, "INSERT INTO "+name+" "+rows)
			}
		}
	}
}

// defined returns the definitions that a session sees.
func (g *grammar) defined(s *session) string {
	of := func(columns, table, order string) string {
		return "SELECT '" + strings.ToLower(table) + "', " + columns + " FROM information_schema." + table + " WHERE " + order + "_SCHEMA = DATABASE() AND TABLE_NAME NOT IN ('test_order', 'order_item', 'product', 'setting', 'counted')"
	}
	texts := []string{
		of("TABLE_NAME, TABLE_TYPE, ENGINE, IF(TABLE_TYPE = 'VIEW', '', ROW_FORMAT), TABLE_COLLATION, CREATE_OPTIONS, IF(TABLE_TYPE = 'VIEW', '', TABLE_COMMENT)", "TABLES", "TABLE"),
		of("TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, COLUMN_TYPE, COLLATION_NAME, COLUMN_KEY, EXTRA, COLUMN_COMMENT, GENERATION_EXPRESSION", "COLUMNS", "TABLE"),
		of("TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE, COLLATION, SUB_PART, INDEX_TYPE, INDEX_COMMENT", "STATISTICS", "TABLE"),
		of("TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE", "TABLE_CONSTRAINTS", "CONSTRAINT"),
		of("TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME", "KEY_COLUMN_USAGE", "TABLE"),
		of("TABLE_NAME, CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE, MATCH_OPTION", "REFERENTIAL_CONSTRAINTS", "CONSTRAINT"),
		of("TABLE_NAME, PARTITION_NAME, SUBPARTITION_NAME, PARTITION_METHOD, PARTITION_EXPRESSION, PARTITION_DESCRIPTION, PARTITION_COMMENT", "PARTITIONS", "TABLE"),
		of("TABLE_NAME, VIEW_DEFINITION, CHECK_OPTION, IS_UPDATABLE, SECURITY_TYPE", "VIEWS", "TABLE"),
	}
	texts = append(texts, "SELECT 'order', TABLE_NAME, GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME")
	a := s.say(strings.Join(texts, "; "))
	if a.err != nil {
		return a.String()
	}
	var rows []string
	for _, r := range a.results {
		rows = append(rows, r.rows...)
	}
	return strings.Join(rows, "\n")
}

// rowsOf returns the rows of all tables that a session sees, and the variables that statements of the list set.
func (g *grammar) rowsOf(s *session) string {
	var b strings.Builder
	names := s.say("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_NAME NOT IN ('test_order', 'order_item', 'product', 'setting', 'counted') ORDER BY 1")
	if names.err != nil {
		return names.String()
	}
	var tables, texts []string
	for _, name := range names.results[0].rows {
		name = strings.Trim(name, `"`)
		columns := "*"
		if c := grammarAlike[name]; c != "" {
			columns = c
		}
		tables, texts = append(tables, name), append(texts, "SELECT "+columns+" FROM `"+name+"`")
	}
	a := s.say(strings.Join(texts, "; "))
	for i, name := range tables {
		if i < len(a.results) {
			fmt.Fprintf(&b, "%s: %q\n", name, a.results[i].rows)
		}
	}
	if a.err != nil {
		fmt.Fprintf(&b, "error %d\n", a.number())
	}
	return b.String()
}

// difference returns the lines that are in only one of two lists.
func difference(ours, theirs string) string {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	if slices.Equal(a, b) {
		return ""
	}
	return fmt.Sprintf("through the proxy alone %q, on the plain server alone %q", without(a, b), without(b, a))
}

// restoreGrammar restores the initial state of all tables.
func (g *grammar) restoreGrammar(t *testing.T, text string) {
	t.Helper()
	for _, s := range []*session{g.app, g.plain} {
		_ = s.Close()
	}
	g.app, g.plain = g.proxied(t, shop.User), g.direct(t, shop.User)
	changed := g.changed(g.both(g.app, g.plain, g.defined))
	if discarded := regexp.MustCompile(`TABLE (xp?) DISCARD`).FindStringSubmatch(text); discarded != nil {
		changed = append(changed, discarded[1])
	}
	if len(changed) > 0 || !maps.EqualFunc(g.declared, g.Declared(), func(a, b catalog.Declaration) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		g.make(t, changed)
		ours, theirs := g.both(g.app, g.plain, g.defined)
		if d := difference(ours, g.definitions) + difference(g.definitions, theirs); d != "" {
			t.Fatalf("the definitions could not be restored: %s", d)
		}
		g.fill(t, changed...)
	}
	state, other := g.both(g.app, g.plain, g.rowsOf)
	for name := range grammarRows {
		line := regexp.MustCompile("(?m)^" + name + ": .*$")
		if first := line.FindString(g.state); line.FindString(state) != first || line.FindString(other) != first {
			g.fill(t, name)
		}
	}
}

// both queries both sides concurrently.
func (g *grammar) both(app, plain *session, ask func(*session) string) (ours, theirs string) {
	done := make(chan string)
	go func() { done <- ask(plain) }()
	ours = ask(app)
	return ours, <-done
}

// changed returns the tables and views whose definitions differ from the initial ones.
func (g *grammar) changed(definitions ...string) (names []string) {
	for _, now := range definitions {
		a, b := strings.Split(now, "\n"), strings.Split(g.definitions, "\n")
		for _, line := range slices.Concat(without(a, b), without(b, a)) {
			fields := strings.Split(line, "|")
			if name := strings.Trim(fields[min(1, len(fields)-1)], `"`); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// make drops tables on all servers, and creates the initial tables with these names again.
func (g *grammar) make(t *testing.T, names []string) {
	t.Helper()
	for _, admin := range g.admins {
		admin.must(t, "SET foreign_key_checks = 0")
		for _, name := range names {
			admin.say("DROP VIEW IF EXISTS `" + name + "`")
			admin.say("DROP TABLE IF EXISTS `" + name + "`")
		}
	}
	if !maps.EqualFunc(g.declared, g.Declared(), func(a, b catalog.Declaration) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		c := *g.Cluster
		c.Tables = g.declared
		g.Apply(&c)
	}
	if err := g.Proxy.RereadNow(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*session{g.app, g.plain} {
		for _, fixture := range g.fixtures {
			if fields := strings.Fields(fixture); slices.Contains(names, fields[2]) && fields[1] != "PROCEDURE" {
				s.must(t, fixture)
			}
		}
	}
}

// changesNothing is the beginning of statements that change nothing.
var changesNothing = regexp.MustCompile(`^(?i)(\(*(SELECT|WITH|TABLE|VALUES)\b|EXPLAIN|DESC|SHOW|HELP)`)

// own are statements of whose answers each server has its own: only the columns are compared.
var own = regexp.MustCompile(`^(?i)(EXPLAIN|DESCRIBE|DESC|ANALYZE)\b.*\b(SELECT|UPDATE|DELETE|INSERT|REPLACE|TABLE)\b|^SHOW (EXTENDED )?(INDEX|INDEXES|KEYS) |^SHOW CREATE VIEW|^SHOW EXTENDED TABLES|^SHOW (ENGINES|STORAGE|PLUGINS|PRIVILEGES|CONTRIBUTORS|AUTHORS)|^SHOW CREATE (PROCEDURE|FUNCTION|SEQUENCE)`)

const (
	answeredAlike = "alike"
	refusedByBoth = "both refuse"
	otherwise     = "otherwise"
	ownPlan       = "plan" // EXPLAIN is answered with the plan of locus
)

// run runs a line of the list on both sides. The verdict is one of the above, or the code of a refusal by the proxy alone.
func (g *grammar) run(t *testing.T, text string) (verdict, details string) {
	t.Helper()
	text = strings.ReplaceAll(text, "{db}", g.Schema)
	for _, s := range []*session{g.app, g.plain} {
		s.must(t, "SET @known = 49, @text = 'a'")
	}
	got, want := g.app.say(text), g.plain.say(text)
	verdict, details = g.judge(text, got, want)
	if changesNothing.MatchString(text) && !strings.Contains(text, "INTO @") && !strings.Contains(text, "INSERT") && !strings.Contains(text, "UPDATE") && !strings.Contains(text, "DELETE") {
		return verdict, details
	}
	if verdict == answeredAlike {
		if d := g.left(t, text); d != "" {
			verdict, details = otherwise, d
		}
	}
	g.restoreGrammar(t, text)
	return verdict, details
}

func (g *grammar) judge(text string, got, want answer) (verdict, details string) {
	if own.MatchString(text) {
		for _, a := range []answer{got, want} {
			for i := range a.results {
				a.results[i].rows = nil
			}
		}
	}
	if len(got.results) == 1 && slices.Equal(got.results[0].columns, []string{"locus", "detail"}) {
		return ownPlan, ""
	}
	d := differ(got, want)
	details = fmt.Sprintf("%s differ\n  proxy: %.500s\n  plain: %.500s", d, got, want)
	switch {
	case want.err != nil && got.err != nil:
		return refusedByBoth, ""
	case got.err != nil:
		if c := code.FindString(got.err.Error()); c != "" {
			return strings.TrimPrefix(c, "locus-"), details
		}
		return fmt.Sprintf("#%d", got.number()), details
	case d != "":
		return otherwise, details
	}
	if sorted.MatchString(text) && !unsorted.MatchString(text) {
		if ours, theirs := inOrder(g.app, text), inOrder(g.plain, text); !slices.Equal(ours, theirs) {
			return otherwise, fmt.Sprintf("the order differs: proxy: %q, plain: %q", ours, theirs)
		}
	}
	return answeredAlike, ""
}

// sorted and unsorted match the queries whose rows have one order.
var (
	sorted   = regexp.MustCompile(`^\(*(SELECT|WITH|TABLE|VALUES)\b.*ORDER BY [^()]*$`)
	unsorted = regexp.MustCompile(`ORDER BY NULL|INTO @`)
)

// inOrder returns the rows of a query in their order.
func inOrder(s *session, text string) (rows []string) {
	r, err := s.Execute(text)
	if err != nil {
		return []string{err.Error()}
	}
	for _, values := range r.Values {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = shown(v)
		}
		rows = append(rows, strings.Join(row, "|"))
	}
	return rows
}

// left compares the effects of a statement: rows, definitions, user variables and a temporary table.
func (g *grammar) left(t *testing.T, text string) string {
	for _, query := range []string{"SELECT @v, @w", "SELECT * FROM n"} {
		if strings.HasPrefix(query, "SELECT @") || strings.Contains(text, "TEMPORARY") {
			if got, want := g.app.say(query), g.plain.say(query); differ(got, want) != "" {
				return fmt.Sprintf("then %q: proxy: %.300s, plain: %.300s", query, got, want)
			}
		}
	}
	if g.app.say("ROLLBACK"); g.plain.say("ROLLBACK").err != nil {
		return "ROLLBACK fails"
	}
	_, _ = g.app.say("UNLOCK TABLES"), g.plain.say("UNLOCK TABLES")
	app, plain := g.others(t)
	defer app.Close()
	defer plain.Close()
	if d := difference(g.both(app, plain, g.defined)); d != "" {
		return "then the definitions differ: " + d
	}
	if d := difference(g.both(app, plain, g.rowsOf)); d != "" {
		return "then the rows differ: " + d
	}
	return g.misplaced(app, plain)
}

// misplaced queries each row by its owner, and returns those that are not found.
func (g *grammar) misplaced(app, plain *session) string {
	for table, owner := range map[string]string{"t": "id", "tx": "k"} {
		for _, value := range plain.say("SELECT " + owner + " FROM " + table).results[0].rows {
			query := fmt.Sprintf("SELECT * FROM %s WHERE %s = '%s'", table, owner, strings.Trim(value, `"`))
			if table == "tx" {
				query = fmt.Sprintf("SELECT * FROM tx WHERE k = %s", value)
			}
			if got, want := app.say(query), plain.say(query); differ(got, want) != "" {
				return fmt.Sprintf("then %q: proxy: %.300s, plain: %.300s", query, got, want)
			}
		}
	}
	return ""
}

// others opens further connections to both sides.
func (g *grammar) others(t *testing.T) (app, plain *session) {
	t.Helper()
	open := func(l login) *session {
		c, err := l.dial()
		if err != nil {
			t.Fatal(err)
		}
		return &session{c, l.addr}
	}
	return open(login{g.Addr, shop.User, password, g.Schema}), open(login{g.server.Addr(), shop.User, password, g.Schema})
}

// grammarLines returns the statements of the list.
func grammarLines(t *testing.T) (lines []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/grammar/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no list: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// grammarGolden returns the file that lists the lines whose answers differ from one server's, with the codes of the refusals.
func grammarGolden(engine servers.Engine) string {
	return "testdata/grammar/otherwise." + string(engine)
}

// readGolden reads it.
func readGolden(t *testing.T, engine servers.Engine) (codes map[string]string, accepted int) {
	t.Helper()
	text, err := os.ReadFile(grammarGolden(engine))
	if err != nil {
		t.Fatal(err)
	}
	codes = map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			if _, err := fmt.Sscanf(line, "# of the lines that the server accepts: %d", &accepted); err != nil {
				t.Fatal(err)
			}
			continue
		}
		code, statement, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("no line of the file: %q", line)
		}
		codes[statement] = code
	}
	return codes, accepted
}

// grammarOnly restricts a run.
var grammarOnly = flag.String("grammar", "", "run the lines of the grammar list that match this expression")

// chosen returns the lines that this run includes.
func chosen(lines []string) (out []string) {
	only := regexp.MustCompile(*grammarOnly)
	for i, line := range lines {
		if only.MatchString(line) && (*grammarOnly != "" || scale.Long() || i%20 == 0) {
			out = append(out, line)
		}
	}
	return out
}

// Each line of the grammar list has the answer of one server, or both refuse it, or it is in the golden file
// with its code. The short form runs one line of twenty.
func TestGrammar(t *testing.T) {
	lines := grammarLines(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		g := newGrammar(t, engine)
		if golden.Updating() {
			g.update(t, lines)
			return
		}
		codes, _ := readGolden(t, engine)
		for _, line := range chosen(lines) {
			verdict, details := g.run(t, line)
			want := codes[line]
			switch {
			case verdict == answeredAlike || verdict == refusedByBoth:
				if want != "" {
					t.Errorf("%s: %s: %s, and the golden file has %s: run the long form with -update", engine, line, verdict, want)
				}
			case verdict != want:
				t.Errorf("%s: %s: %s, want %q: %s", engine, line, verdict, want, details)
			}
		}
	})
}

// update writes the golden file.
func (g *grammar) update(t *testing.T, lines []string) {
	var b strings.Builder
	accepted := 0
	for _, line := range lines {
		verdict, details := g.run(t, line)
		if verdict != refusedByBoth {
			accepted++
		}
		switch verdict {
		case answeredAlike, refusedByBoth:
		case otherwise:
			t.Errorf("%s: %s: %s", g.engine, line, details)
			fallthrough
		default:
			fmt.Fprintf(&b, "%s\t%s\n", verdict, line)
		}
	}
	golden.Update(t, grammarGolden(g.engine), fmt.Sprintf("# of the lines that the server accepts: %d\n", accepted)+b.String())
}
