package trust

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"locus/internal/test/servers"
)

// generator makes random statements and counts their outcomes. Half of them are harmless. The others try to change the schema
// locus, accounts, global variables or files, in many forms.
type generator struct {
	*raid
	counts
	number       int // among the raiders
	rand         *rand.Rand
	ansi, within bool // what the session has set: sql_mode ANSI_QUOTES, USE locus
}

func (g *generator) one(of int) bool { return g.rand.IntN(of) == 0 }

func (g *generator) pick(list ...string) string { return list[g.rand.IntN(len(list))] }

// begin sets the SQL mode and the current schema of a session.
func (g *generator) begin(s *session) {
	g.ansi, g.within = g.one(5), g.one(6)
	if g.ansi {
		_ = s.say("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')")
	}
	if g.within {
		_ = s.say("USE " + g.pick("locus", "`locus`"))
	}
}

// statement returns a text, and whether no user without admin may run it.
func (g *generator) statement() (guilty bool, text string) {
	action := g.harmless()
	if guilty = g.one(2); guilty {
		action = g.harmful()
	}
	text = g.wrapped(action)
	if !guilty && strings.HasPrefix(text, "CREATE ") && !g.one(8) { // definitions are slow
		text = action
	}
	return guilty, g.respelled(g.placed(text))
}

// placed replaces the placeholders of a template.
func (g *generator) placed(text string) string {
	for strings.Contains(text, "{own}") {
		text = strings.Replace(text, "{own}", g.own(), 1)
	}
	for strings.Contains(text, "{locus}") {
		text = strings.Replace(text, "{locus}", g.locus(), 1)
	}
	for strings.Contains(text, "{n}") {
		text = strings.Replace(text, "{n}", fmt.Sprint(g.rand.IntN(1000)), 1)
	}
	for strings.Contains(text, "{k}") {
		text = strings.Replace(text, "{k}", fmt.Sprint(g.rand.IntN(3)), 1)
	}
	own := fmt.Sprintf("%s.t%d", g.Schema, g.number)
	return strings.NewReplacer("{t}", own, "{schema}", g.Schema, "{dir}", g.dir, "{json}", `JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$'))`).Replace(text)
}

// locus writes the schema's name.
func (g *generator) locus() string {
	if g.ansi && g.one(3) {
		return `"locus"`
	}
	return g.pick("locus", "locus", "`locus`")
}

// own writes the name of a table of the schema.
func (g *generator) own() string {
	table := g.pick("kept", "kept", "`kept`", "decision")
	if g.within && g.one(2) {
		return table
	}
	return g.locus() + g.pick(".", ".", ".", " . ", "/**/./* x */", " .") + table
}

// respelled replaces blanks by comments and other blanks, which no server distinguishes.
func (g *generator) respelled(text string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"' || c == '`'):
			quote = c
		case quote == 0 && c == ' ' && g.one(12):
			b.WriteString(g.pick("  ", "\n", "\t", " /* x */ ", "/**/", " -- x\n", " # it's\n", " /*! */ "))
			continue
		}
		b.WriteByte(c)
	}
	switch {
	case g.one(10):
		return "/* app=web */ " + b.String()
	case g.one(20):
		return b.String() + ";"
	}
	return b.String()
}

// wrapped returns a statement that runs an action.
func (g *generator) wrapped(action string) string {
	all := wrappers
	if g.engine == servers.MariaDB && g.one(2) {
		all = wrappersOf[g.engine]
	}
	wrapper := g.pick(all...)
	for range g.rand.IntN(3) {
		if !strings.Contains(wrapper, "{block}") {
			break
		}
		wrapper = strings.Replace(wrapper, "{block}", g.pick(blocks...), 1)
	}
	wrapper = strings.Replace(wrapper, "{block}", "{action}", 1)
	quoted := strings.ReplaceAll(action, "'", "''")
	half := len(quoted) / 2
	for half > 0 && (quoted[half] == '\'' || quoted[half-1] == '\'') {
		half--
	}
	return strings.NewReplacer("{action}", action, "{quoted}", quoted, "{first}", quoted[:half], "{second}", quoted[half:]).Replace(wrapper)
}

// wrappers run {action} unchanged, or in a program; {block} is a statement of a program.
var wrappers = []string{
	"{action}", "{action}", "{action}", "{action}", "{action}",
	"PREPARE p FROM '{quoted}'", "EXECUTE p", "CALL p{k}()", "INSERT INTO {t} VALUES ({n}, 'x', 1)",
	"CREATE PROCEDURE p() BEGIN {block}; END", "CREATE PROCEDURE p() {action}", "DROP PROCEDURE IF EXISTS p", "CREATE PROCEDURE {locus}.p() BEGIN {block}; END",
	"CREATE PROCEDURE p{k}(IN a INT, OUT b INT) SQL SECURITY INVOKER COMMENT 'x' BEGIN DECLARE x INT DEFAULT 1; {block}; END",
	"CREATE DEFINER = CURRENT_USER PROCEDURE p{k}() BEGIN {block}; {block}; END", "CREATE DEFINER=`table`@localhost PROCEDURE p{k}() SQL SECURITY INVOKER BEGIN {block}; END",
	"CREATE PROCEDURE p{k}() BEGIN PREPARE q FROM '{quoted}'; EXECUTE q; END", "CREATE PROCEDURE p{k}() BEGIN SET @q = CONCAT('{first}', '{second}'); PREPARE q FROM @q; EXECUTE q; END",
	"CREATE FUNCTION f{k}() RETURNS INT DETERMINISTIC BEGIN {block}; RETURN 1; END", "CREATE FUNCTION {locus}.f() RETURNS INT DETERMINISTIC RETURN 1",
	"CREATE TRIGGER g{k} BEFORE INSERT ON {t} FOR EACH ROW {action}", "CREATE TRIGGER g{k} AFTER UPDATE ON {t} FOR EACH ROW BEGIN {block}; END", "CREATE TRIGGER g{k} BEFORE INSERT ON {own} FOR EACH ROW BEGIN {block}; END", "DROP TRIGGER IF EXISTS g{k}",
	"CREATE EVENT e{k} ON SCHEDULE AT CURRENT_TIMESTAMP DO {action}", "CREATE EVENT e{k} ON SCHEDULE AT CURRENT_TIMESTAMP ON COMPLETION NOT PRESERVE DO BEGIN {block}; END", "CREATE EVENT {locus}.e{k} ON SCHEDULE AT CURRENT_TIMESTAMP DO {action}",
	"EXPLAIN {action}", "SELECT 1; {action}", "{action}; {action}", "DROP EVENT IF EXISTS e{k}",
}

var wrappersOf = map[servers.Engine][]string{
	servers.MariaDB: {
		"BEGIN NOT ATOMIC {block}; END", "BEGIN NOT ATOMIC {block}; END", "BEGIN NOT ATOMIC {block}; {block}; END", "BEGIN NOT ATOMIC DECLARE x INT DEFAULT 1; {block}; END",
		"SET STATEMENT max_statement_time = 10 FOR {action}", "SET STATEMENT max_statement_time = 10 FOR BEGIN NOT ATOMIC {block}; END", "EXECUTE IMMEDIATE '{quoted}'", "EXECUTE IMMEDIATE CONCAT('{first}', '{second}')",
		"BEGIN NOT ATOMIC EXECUTE IMMEDIATE '{quoted}'; END", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE CONCAT('{first}', '{second}'); END", "BEGIN NOT ATOMIC PREPARE q FROM CONCAT('{first}', '{second}'); EXECUTE q; END",
		"IF 1 THEN {action}; END IF", "CREATE OR REPLACE PROCEDURE p() BEGIN {block}; END", "CREATE OR REPLACE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO BEGIN {block}; END", "ALTER EVENT e DO {action}", "xa: LOOP {action}; LEAVE xa; END LOOP",
		"CREATE OR REPLACE PROCEDURE p() EXECUTE IMMEDIATE CONCAT('{first}', '{second}')", "ANALYZE {action}", "ANALYZE FORMAT=JSON {action}", "PREPARE p FROM CONCAT('{first}', '{second}')", "CREATE OR REPLACE TRIGGER g BEFORE INSERT ON {t} FOR EACH ROW {action}",
	},
}

// blocks are compound statements around {block}.
var blocks = []string{
	"{block}", "BEGIN {block}; END", "IF 1 THEN {block}; END IF", "IF 0 THEN SELECT 1; ELSEIF 1 THEN {block}; ELSE SELECT 2; END IF", "CASE 1 WHEN 1 THEN {block}; ELSE SELECT 2; END CASE",
	"BEGIN DECLARE i INT DEFAULT 0; WHILE i < 1 DO {block}; SET i = i + 1; END WHILE; END", "BEGIN DECLARE i INT DEFAULT 0; REPEAT {block}; SET i = i + 1; UNTIL i > 0 END REPEAT; END",
	"l: LOOP {block}; LEAVE l; END LOOP l", "BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION {block}; SIGNAL SQLSTATE '45000'; END", "BEGIN DECLARE EXIT HANDLER FOR 1146, NOT FOUND BEGIN {block}; END; SIGNAL SQLSTATE '02000'; END",
	"BEGIN DECLARE locus INT DEFAULT 1; {block}; END", "BEGIN SELECT CASE 1 WHEN 1 THEN 2 ELSE 3 END; {block}; END",
}

// harmless returns a statement that any user may run.
func (g *generator) harmless() string {
	switch {
	case g.one(10):
		return g.pick(defining...)
	case g.engine == servers.MariaDB && g.one(4):
		return g.pick(harmlessOf[g.engine]...)
	}
	return g.pick(harmless...)
}

// harmful returns a statement that only an admin may run, or no user.
func (g *generator) harmful() string {
	if g.one(3) {
		return g.pick(harmfulOf[g.engine]...)
	}
	return g.pick(harmful...)
}

var harmless = []string{
	"SELECT id, note AS locus, 'locus.kept' FROM {t}", "SELECT locus.id, locus.locus FROM {t} locus WHERE locus.locus > 1", "INSERT INTO {t} VALUES ({n}, 'x', 1)", "INSERT IGNORE INTO {t} VALUES ({n}, 'x', 1)", "UPDATE {t} SET note = 'y', locus = 3 WHERE id = {n}",
	"DELETE FROM {t} WHERE id = {n}", "REPLACE INTO {t} VALUES ({n}, 'z', 1)", "SELECT locus.a FROM {json} locus", "SELECT l.locus, j.a FROM {t} l JOIN {json} j ON l.locus = j.a", "SELECT locus.locus, j.a FROM {t} locus JOIN {json} j ON locus.locus = j.a WHERE locus.locus IN (1, 2)",
	"SET @locus = 1", "SELECT @locus, VERSION()", "DO 1 + 1", "SELECT note FROM {t} ORDER BY id LIMIT 1", "CHECKSUM TABLE {t}", "SELECT * FROM {t} WHERE id = 1 FOR UPDATE",
	"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'locus'", "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'locus'",
}

// defining are definitions that any user may run, which take longer.
var defining = []string{
	"CREATE TABLE IF NOT EXISTS {schema}.made (locus INT, engine INT, KEY (locus))", "DROP TABLE IF EXISTS {schema}.made", "CREATE OR REPLACE VIEW {schema}.v AS SELECT id, locus FROM {t}", "DROP VIEW IF EXISTS {schema}.v",
	"ALTER TABLE {t} COMMENT 'locus'", "ANALYZE TABLE {t}", "TRUNCATE TABLE {t}",
}

var harmlessOf = map[servers.Engine][]string{
	servers.MariaDB: {
		"SELECT NEXT VALUE FOR {schema}.locus", "SELECT id FROM {t} ORDER BY id FETCH FIRST 1 ROWS ONLY", "DELETE FROM {t} WHERE id = {n} RETURNING locus", "INSERT INTO {t} VALUES ({n}, 'x', 1) RETURNING id",
	},
}

var harmful = []string{
	"DELETE FROM {own}", "UPDATE {own} SET committed = {n}", "INSERT INTO {own} (txn, committed, shards) VALUES ('{n}', 1, 2)", "REPLACE {own} (txn, committed, shards) SELECT '{n}', 1, 2", "DROP TABLE {own}", "DROP TABLE IF EXISTS {t}, {own}", "TRUNCATE TABLE {own}", "TRUNCATE {own}",
	"ALTER TABLE {own} COMMENT 'x'", "ALTER TABLE {own} ADD COLUMN x{n} INT", "CREATE INDEX i{n} ON {own} (committed)", "RENAME TABLE {own} TO {schema}.stolen", "ALTER TABLE {own} RENAME TO {schema}.stolen", "CREATE TABLE {locus}.made{n} (a INT)", "CREATE VIEW {locus}.v{n} AS SELECT 1 AS a",
	"DELETE k FROM {own} k JOIN {t} ON 1", "DELETE locus FROM {own} locus", "UPDATE {t} x, {own} SET committed = 5", "UPDATE {own} locus SET locus.committed = 6", "INSERT INTO {own} (txn, committed, shards) SELECT a, a, a FROM {json} locus", "DELETE FROM {own} WHERE txn IN (SELECT locus.a FROM {json} locus)",
	"DROP TRIGGER {locus}.kept", "DROP PROCEDURE {locus}.kept", "DROP VIEW {locus}.seen", "CREATE TRIGGER {locus}.g{k} BEFORE INSERT ON {own} FOR EACH ROW SET NEW.shards = 9", "DROP DATABASE {locus}", "ALTER DATABASE {locus} CHARACTER SET latin1", "CREATE PROCEDURE {locus}.p{k}() SELECT 1", "CREATE FUNCTION {locus}.f{k}() RETURNS INT DETERMINISTIC RETURN 1",
	"CREATE EVENT {locus}.e{k} ON SCHEDULE EVERY 1 HOUR DO SELECT 1", "LOCK TABLES {own} WRITE", "CREATE TABLE {schema}.ref{n} (a VARCHAR(64), FOREIGN KEY (a) REFERENCES {own} (txn))", "ALTER PROCEDURE {locus}.kept COMMENT 'x'", "HANDLER {own} OPEN", "SELECT * FROM {own} FOR UPDATE",
	"CREATE USER evil{n} IDENTIFIED BY 'x'", "CREATE USER IF NOT EXISTS evil", "GRANT ALL PRIVILEGES ON *.* TO evil", "GRANT SELECT ON {own} TO evil", "DROP USER IF EXISTS app", "ALTER USER root@localhost COMMENT 'x'", "RENAME USER evil TO evil{n}", "CREATE ROLE evil{n}", "SET PASSWORD FOR evil = 'x'", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM evil",
	"SET GLOBAL max_connections = 1{n}", "SET @@global.max_connections = 1{n}", "SET @a = 1, @b = 2, @c = 3, @d = 4, @e = 5, GLOBAL max_connect_errors = 1{n}", "SET @@GLOBAL . sort_buffer_size = 100000", "SET SESSION sort_buffer_size = 100000, GLOBAL wait_timeout = 1{n}", "SET @a = (SELECT 1), @@global.interactive_timeout = 1{n}",
	"INSERT INTO mysql.db (Host, Db, User) VALUES ('x', 'y', 'z{n}')", "DELETE FROM mysql.db", "INSERT INTO mysql.servers (Server_name, Host, Db, Username, Password, Port, Socket, Wrapper, Owner) VALUES ('s{n}', '', '', '', '', 0, '', '', '')", "CREATE SERVER s{n} FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')",
	"SELECT 1 INTO OUTFILE '{dir}/a{n}'", "SELECT 'x' INTO DUMPFILE '{dir}/b{n}'", "SELECT j.a FROM {json} j INTO OUTFILE '{dir}/c{n}'", "CREATE TABLE {schema}.f{n} (a INT) DATA DIRECTORY = '{dir}'", "CREATE TABLE {schema}.f{n} (a INT PRIMARY KEY) PARTITION BY HASH (a) (PARTITION p0 DATA DIRECTORY = '{dir}', PARTITION p1)",
	"CREATE TABLE {schema}.f{n} (a INT) ENGINE = MyISAM DATA DIRECTORY = '{dir}' INDEX DIRECTORY = '{dir}'",
}

var harmfulOf = map[servers.Engine][]string{
	servers.MariaDB: {
		"DROP TABLE {own} NOWAIT", "DROP TABLE IF EXISTS {own} WAIT 1", "RENAME TABLES {own} TO {schema}.stolen", "RENAME TABLE {own} NOWAIT TO {schema}.stolen", "ALTER TABLE {own} NOWAIT COMMENT 'y'", "TRUNCATE TABLE {own} NOWAIT", "DELETE FROM {own} RETURNING txn", "INSERT INTO {own} (txn, committed, shards) VALUES ('r{n}', 1, 2) RETURNING txn",
		"CREATE OR REPLACE TABLE {own} (a INET6)", "CREATE OR REPLACE DATABASE {locus}", "CREATE OR REPLACE VIEW {locus}.seen AS SELECT 1 AS a", "CREATE OR REPLACE PROCEDURE {locus}.kept() SELECT 2", "CREATE OR REPLACE TRIGGER {locus}.kept BEFORE UPDATE ON {own} FOR EACH ROW SET NEW.shards = 8", "SELECT NEXT VALUE FOR {locus}.numbers", "SELECT NEXTVAL({locus}.numbers)", "SELECT SETVAL({locus}.numbers, 50)",
		"DO NEXTVAL({locus}.numbers)", "DROP SEQUENCE {locus}.numbers", "ALTER SEQUENCE {locus}.numbers RESTART 77", "CREATE SEQUENCE {locus}.s{n}", "DROP INDEX IF EXISTS i ON {own} NOWAIT", "CREATE OR REPLACE USER evil", "CREATE OR REPLACE ROLE evil{n}", "INSERT INTO mysql.global_priv VALUES ('%', 'evil{n}', '{}')", "SET PASSWORD FOR app = PASSWORD('x')",
		"CREATE OR REPLACE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')", "INSTALL SONAME 'ha_blackhole'", "SET STATEMENT max_statement_time = 5 FOR DELETE FROM {own}", "CREATE OR REPLACE TABLE {schema}.f (a INET6) DATA DIRECTORY = '{dir}'", "GRANT PROXY ON app TO evil", "SET DEFAULT ROLE NONE",
	},
	servers.MySQL: {
		"RENAME TABLES {own} TO {schema}.stolen", "INSERT INTO {own} (txn, committed, shards) VALUES ('m{n}', 1, 2) AS n", "INSERT INTO {own} (txn, committed, shards) VALUES ('a', 1, 2) AS n ON DUPLICATE KEY UPDATE committed = n.committed + 5", "INSERT INTO {own} (txn, committed, shards) VALUES ROW('w{n}', 1, 2)", "ALTER SCHEMA {locus} READ ONLY = 1", "ALTER DATABASE {locus} ENCRYPTION = 'N' READ ONLY = 1",
		"DROP TABLES {own}", "LOCK TABLE {own} WRITE", "TABLE {own} FOR UPDATE", "SELECT * FROM {own} FOR UPDATE SKIP LOCKED", "ALTER TABLE {own} ALTER INDEX `PRIMARY` VISIBLE, COMMENT 'z'", "DELETE FROM {own} AS locus WHERE locus.committed = 1", "CREATE USER evil{n} IDENTIFIED BY RANDOM PASSWORD", "CREATE USER evil{n} IDENTIFIED BY 'x' DEFAULT ROLE evil", "ALTER USER root@localhost ATTRIBUTE '{\"a\": 1}'",
		"SET PERSIST max_connections = 1{n}", "SET PERSIST_ONLY max_connections = 1{n}", "SET @@persist.max_connections = 1{n}", "SET @a = 1, @b = 1, @c = 1, @d = 1, @e = 1, PERSIST wait_timeout = 1{n}", "CREATE RESOURCE GROUP rg{n} TYPE = USER", "CREATE TABLESPACE ts{n} ADD DATAFILE 'ts{n}.ibd'", "INSTALL COMPONENT 'file://component_validate_password'", "CREATE UNDO TABLESPACE u{n} ADD DATAFILE 'u{n}.ibu'", "CREATE SPATIAL REFERENCE SYSTEM 99{n} NAME 'x' DEFINITION 'y'",
		"CLONE LOCAL DATA DIRECTORY '{dir}/clone'", "ALTER INSTANCE DISABLE INNODB REDO_LOG", "CALL sys.execute_prepared_stmt('CREATE USER evil{n}')", "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO evil", "SET DEFAULT ROLE ALL TO evil",
	},
}
