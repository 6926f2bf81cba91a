package plan

import (
	"testing"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// The state that a statement leaves decides whether its connection is reused as it is. An unnecessary reset costs a round trip
// and the prepared statements. A missing one exposes a session's state to others.
func TestLeaves(t *testing.T) {
	ctx := Context{Schema: "shop", Catalog: tracedCatalog()}
	for text, want := range map[string]Leaves{
		"SELECT * FROM plain":            LeavesNothing,
		"SELECT * FROM plain FOR UPDATE": LeavesNothing,
		"SELECT * FROM seen":             LeavesRoutine, // a view over a function
		"SELECT * FROM missing":          LeavesState,
		"SELECT adds(1)":                 LeavesNothing,
		"SELECT shop.adds(1) + abs(2)":   LeavesNothing,
		"SELECT other.adds(1)":           LeavesRoutine,
		"SELECT adds(keeps())":           LeavesRoutine,
		"SELECT calls()":                 LeavesRoutine,
		"SELECT unknown(1)":              LeavesRoutine,
		"SELECT adds(GET_LOCK('a', 1))":  LeavesState,
		"DROP SEQUENCE numbers":          LeavesNothing,
		"SELECT keeps()":                 LeavesRoutine,
		"SELECT GET_LOCK('a', 1)":        LeavesState,
		"SELECT @a := 1":                 LeavesVariables,
		"INSERT INTO plain VALUES (1)":   LeavesNothing,
		"INSERT INTO fired VALUES (1)":   LeavesRoutine,
		"DELETE FROM missing":            LeavesState,
		"SHOW CREATE TABLE missing":      LeavesNothing,
		"DESCRIBE missing":               LeavesNothing,
		"CREATE TABLE other (a INT, g MULTIPOLYGON, SPATIAL KEY (g))": LeavesNothing,
		"DESCRIBE `plain` '%'":                    LeavesNothing,
		"SHOW TABLES":                             LeavesNothing,
		"EXPLAIN SELECT * FROM plain":             LeavesNothing,
		"EXPLAIN SELECT * FROM seen":              LeavesRoutine,
		"EXPLAIN SELECT keeps()":                  LeavesRoutine,
		"EXPLAIN ANALYZE SELECT GET_LOCK('a', 1)": LeavesState,
		"DO 1":                                   LeavesNothing,
		"DO SLEEP(0)":                            LeavesNothing,
		"DO keeps()":                             LeavesRoutine,
		"DO RELEASE_ALL_LOCKS()":                 LeavesState,
		"DO (SELECT a FROM seen)":                LeavesRoutine,
		"CALL p()":                               LeavesUnknown,
		"ANALYZE TABLE plain":                    LeavesState,
		"FLUSH TABLES":                           LeavesState,
		"CREATE TABLE other LIKE plain":          LeavesNothing,
		"CREATE TABLE other SELECT * FROM plain": LeavesState,
		"CREATE TABLE other SELECT keeps()":      LeavesRoutine,
		"CREATE TEMPORARY TABLE other (a INT)":   LeavesState,
		"DROP TABLE plain":                       LeavesNothing,
		"DROP TABLE fired":                       LeavesNothing, // triggers don't run
		"DROP TABLE IF EXISTS missing":           LeavesNothing,
		"DROP TEMPORARY TABLE plain":             LeavesState,
		"TRUNCATE TABLE fired":                   LeavesNothing,
		"RENAME TABLE plain TO other":            LeavesNothing,
		"CREATE INDEX i ON plain (a)":            LeavesNothing,
		"DROP INDEX i ON plain":                  LeavesNothing,
		"CREATE INDEX i ON plain ((keeps()))":    LeavesRoutine,
		"ALTER TABLE plain ADD COLUMN b INT":     LeavesNothing,
		"ALTER TABLE plain ADD COLUMN b INT DEFAULT NEXTVAL(numbers)":       LeavesRoutine, // unread
		"ALTER TABLE plain ADD COLUMN b INT DEFAULT NEXT VALUE FOR numbers": LeavesRoutine,
		"CREATE VIEW other AS SELECT GET_LOCK('a', 1)":                      LeavesState, // though it is taken later
		"CREATE TABLE other (a INT DEFAULT 1)":                              LeavesNothing,
		"ALTER TABLE plain ADD COLUMN b INT DEFAULT (keeps())":              LeavesRoutine,
		"CREATE VIEW other AS SELECT a FROM plain":                          LeavesNothing,
		"CREATE VIEW other AS SELECT keeps()":                               LeavesRoutine,
		"DROP VIEW seen":                                                    LeavesNothing,
		"CREATE DATABASE other":                                             LeavesNothing,
		"ALTER DATABASE shop CHARACTER SET ascii":                           LeavesNothing,
		"DROP DATABASE other":                                               LeavesState, // the database may be the connection's default

		// The parser can't read the following texts.
		"CREATE TABLE other (a INT) WITH SYSTEM VERSIONING":                                 LeavesState,
		"CREATE TABLE other (g MULTIPOLYGON) AS SELECT keeps()":                             LeavesRoutine,
		"CREATE PROCEDURE q() BEGIN SET @a = keeps(); END":                                  LeavesNothing,
		"CREATE FUNCTION q() RETURNS INT RETURN keeps()":                                    LeavesNothing,
		"CREATE TRIGGER q BEFORE INSERT ON plain FOR EACH ROW SET NEW.a = keeps()":          LeavesNothing,
		"CREATE EVENT q ON SCHEDULE AT keeps() DO SELECT 1":                                 LeavesRoutine,
		"DROP FUNCTION IF EXISTS keeps":                                                     LeavesNothing,
		"DROP TRIGGER fires":                                                                LeavesNothing,
		"SET STATEMENT sort_buffer_size = 1000 FOR CREATE PROCEDURE q() BEGIN END":          LeavesRoutine,
		"CREATE TABLE other (s DATE, e DATE, PERIOD FOR p (s, e))":                          LeavesState,
		"SELECT other(1) FROM plain WINDOW w AS () EXCEPT ALL SELECT 1 FOR SYSTEM_TIME ALL": LeavesRoutine,
	} {
		p, err := Make(lexedText(text, 0), ctx)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := p.About().Leaves; got != want {
			t.Errorf("%s leaves %s, want %s", text, got, want)
		}
	}
}

// tracedCatalog returns the catalog of one shard, with a function that leaves state, and with objects that use it.
func tracedCatalog() *catalog.Catalog {
	in := func(name string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: name} }
	listing := &catalog.Listing{
		Tables: []catalog.ListedTable{
			{TableName: in("plain"), Type: "BASE TABLE"},
			{TableName: in("fired"), Type: "BASE TABLE"},
			{TableName: in("seen"), Type: "VIEW", Query: "select `shop`.`keeps`() AS `a`"},
			{TableName: in("numbers"), Type: "SEQUENCE"},
		},
		Programs: []catalog.Program{
			{TableName: in("keeps"), Type: "FUNCTION", Body: "BEGIN SET @a = 1; RETURN 1; END"},
			{TableName: in("adds"), Type: "FUNCTION", Body: "BEGIN INSERT INTO plain VALUES (1); RETURN a + 1; END"},
			{TableName: in("calls"), Type: "FUNCTION", Body: "RETURN keeps()"},
			{TableName: in("fires"), Type: "TRIGGER", On: "fired", Body: "SET @a = 1"},
			{TableName: in("p"), Type: "PROCEDURE", Body: "SELECT 1"},
		},
	}
	return catalog.NewListed([]router.ShardName{"s0"}, nil, nil, map[router.ShardName]*catalog.Listing{"s0": listing})
}

// The reads of a gather leave no state, so that their connections are lent to others without a reset.
func TestGatherLeavesNothing(t *testing.T) {
	of := &Facts{Statement: &stmt.Statement{Tables: []stmt.TableName{{Name: "orders"}}}}
	reads := new(Gathering).Reads(of).About()
	if reads.Leaves != LeavesNothing || len(reads.Statement.Tables) != 1 {
		t.Errorf("%v, tables %v", reads.Leaves, reads.Statement.Tables)
	}
}
