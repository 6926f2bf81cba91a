package trust

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// madeTables are created and dropped. Text in brackets is only for the plain server.
var madeTables = []string{
	"CREATE TABLE {schema}.made (owner BIGINT NOT NULL, gene INT NOT NULL[ DEFAULT 0], seat INT NOT NULL, note VARCHAR(20), PRIMARY KEY (owner, seat)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE {schema}.copied (k INT NOT NULL PRIMARY KEY, v INT) DEFAULT CHARSET utf8mb4",
}

const madeDeclarations = `  {schema}.made: {kind: sharded, owner: owner, gene: gene}
  {schema}.copied: {kind: global}
  {schema}.alone: {kind: single, shard: s1}
`

const madeAgain = "(owner BIGINT NOT NULL, gene INT NOT NULL DEFAULT 0, seat INT NOT NULL, note VARCHAR(20), PRIMARY KEY (owner, seat)) DEFAULT CHARSET utf8mb4"

// made are definitions, and statements after them. Each answer must be the plain server's.
var made = []string{
	"CHECKSUM TABLE test_order", "CHECKSUM TABLE order_item, product", "CHECKSUM TABLE plain",
	"CREATE TABLE IF NOT EXISTS made " + madeAgain, "SHOW WARNINGS",
	"CREATE TABLE IF NOT EXISTS copied (x INT)", "SHOW WARNINGS", "CREATE TABLE copied (x INT)", "CREATE TABLE made LIKE copied",
	"INSERT INTO made (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)", "INSERT INTO copied VALUES (1, 1), (2, 2)",
	"SELECT SQL_CALC_FOUND_ROWS owner FROM made ORDER BY owner LIMIT 2", "SELECT FOUND_ROWS()", "SELECT SQL_CALC_FOUND_ROWS owner, seat FROM made WHERE owner > 1 ORDER BY owner LIMIT 1, 1", "SELECT FOUND_ROWS()",
	"SELECT SQL_CALC_FOUND_ROWS owner % 2, COUNT(*) FROM made GROUP BY 1 ORDER BY 1 LIMIT 1", "SELECT FOUND_ROWS()", "SELECT SQL_CALC_FOUND_ROWS v FROM made JOIN copied ON seat = k ORDER BY owner LIMIT 1", "SELECT FOUND_ROWS()",
	"ANALYZE TABLE made", "ANALYZE TABLE made, copied", "ANALYZE LOCAL TABLE copied", "OPTIMIZE TABLE made", "OPTIMIZE TABLE copied", "CHECK TABLE made", "CHECK TABLE made, copied EXTENDED",
	"CHECKSUM TABLE copied", "REPAIR TABLE made",
	"DROP TABLE made", "SELECT * FROM made", "INSERT INTO made (owner, seat) VALUES (1, 1)", "DROP TABLE made", "TRUNCATE made", "ALTER TABLE made ADD x INT", "CHECK TABLE made", "CHECKSUM TABLE made",
	"DROP TABLE IF EXISTS made", "SHOW WARNINGS", "CREATE TABLE made (x INT, x INT)",
	"CREATE TABLE made " + madeAgain, "SELECT COUNT(*) FROM made", "INSERT INTO made (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)", "SELECT owner FROM made ORDER BY owner",
	"DROP TABLE IF EXISTS made, copied", "CREATE TABLE IF NOT EXISTS made " + madeAgain, "SHOW WARNINGS",
	"CREATE TABLE copied (k INT NOT NULL PRIMARY KEY, v INT) DEFAULT CHARSET utf8mb4", "INSERT INTO copied SELECT 5, 6", "SELECT * FROM copied",
	"SELECT * FROM alone", "CREATE TABLE alone (a INT PRIMARY KEY)", "INSERT INTO alone VALUES (1)", "SELECT * FROM alone", "DROP TABLE alone", "CREATE TABLE IF NOT EXISTS alone (a INT PRIMARY KEY)", "SELECT * FROM alone", "DROP TABLE alone",
}

// Declared tables are created, dropped, created again and maintained as on one server.
func TestTablesAreMadeEverywhere(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		var proxied, plain []string
		for _, sql := range madeTables {
			proxied, plain = append(proxied, ofPlain.ReplaceAllString(sql, "")), append(plain, ofPlain.ReplaceAllString(sql, "$1"))
		}
		s := standOf(t, engine, shop.Options{Tables: proxied, Declarations: madeDeclarations}, plain)
		proxy, direct := s.proxied(t, shop.User), s.direct(t, shop.User)
		for _, text := range made {
			got, want := proxy.say(text), direct.say(text)
			if d := differ(got, want); d != "" || strings.Contains(fmt.Sprint(got.err), "locus") {
				t.Errorf("%.300q: %s differ\n  proxy: %.600s\n  plain: %.600s", text, d, got, want)
			}
		}
		for i, admin := range s.admins[:shards] {
			for _, text := range []string{"SELECT COUNT(*) FROM made", "SELECT * FROM copied"} {
				if a := admin.say(text); a.err != nil {
					t.Errorf("s%d: %s: %v", i, text, a.err)
				}
			}
		}
	})
}

// declaredTypes are tables that are declared by their comments, with types and clauses that not every server
// knows.
var declaredTypes = []string{
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, g POINT) COMMENT 'locus: owner=owner'", "INSERT INTO place (owner, g) VALUES (1, ST_GeomFromText('POINT(1 2)')), (2, POINT(3, 4)), (3, POINT(5, 6)), (4, NULL)",
	"SELECT owner, ST_AsText(g) FROM place ORDER BY owner", "SELECT COUNT(*) FROM place WHERE ST_X(g) > 2", "UPDATE place SET g = POINT(7, 8) WHERE owner = 2", "SELECT ST_X(g) FROM place WHERE owner = 2", "DROP TABLE place",
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL, p POLYGON, l LINESTRING, mp MULTIPOINT, ml MULTILINESTRING, mpo MULTIPOLYGON, gc GEOMETRYCOLLECTION, SPATIAL KEY (g)) COMMENT 'locus: owner=owner'",
	"INSERT INTO place (owner, g) VALUES (1, POINT(1, 2)), (2, POINT(3, 4))", "SELECT owner FROM place ORDER BY owner", "DROP TABLE place",
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, a INT, b INT AS (a + 1) PERSISTENT) COMMENT 'locus: owner=owner'", "INSERT INTO place (owner, a) VALUES (1, 1), (2, 2), (3, 3)", "SELECT owner, a, b FROM place ORDER BY owner", "DROP TABLE place",
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, u UUID, i INET6) COMMENT 'locus: owner=owner'", "INSERT INTO place (owner, i) VALUES (1, '::1'), (2, '::2')", "SELECT owner, i FROM place ORDER BY owner", "DROP TABLE place",
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, a INT, x INT INVISIBLE) COMMENT 'locus: owner=owner'", "INSERT INTO place (owner, a) VALUES (1, 1), (2, 2)", "INSERT INTO place VALUES (3, 3)", "SELECT * FROM place ORDER BY owner", "DROP TABLE place",
	"CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, g POINT SRID 4326) COMMENT 'locus: owner=owner'", "DROP TABLE place", "CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY, g POINT REF_SYSTEM_ID=4326) COMMENT 'locus: owner=owner'", "DROP TABLE place",
}

// Comments declare tables with all types of columns.
func TestDeclaredTypes(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := newWrites(t, engine)
		proxy, direct := s.proxied(t, shop.User), s.direct(t, shop.User)
		for _, text := range declaredTypes {
			got, want := proxy.say(text), direct.say(text)
			if d := differ(got, want); d != "" || code.MatchString(fmt.Sprint(got.err)) {
				t.Errorf("%.300q: %s differ\n  proxy: %.600s\n  plain: %.600s", text, d, got, want)
			}
		}
		refused := proxy.say("CREATE TABLE place (owner BIGINT NOT NULL PRIMARY KEY) WITH SYSTEM VERSIONING COMMENT 'locus: owner=owner'")
		if refused.err == nil || !strings.Contains(refused.err.Error(), "locus-1010: WITH SYSTEM VERSIONING") {
			t.Errorf("WITH SYSTEM VERSIONING: %s", refused)
		}
	})
}
