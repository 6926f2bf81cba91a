package ddl

import (
	"fmt"
	"testing"

	"locus/router"
	"locus/router/catalog"
)

// withListing makes s0's objects known: a table with a trigger, and a procedure.
func (s *stand) withListing() {
	l := &catalog.Listing{
		Tables: []catalog.ListedTable{{TableName: catalog.TableName{Schema: "shop", Name: "scratch"}, Type: "BASE TABLE"}},
		Programs: []catalog.Program{
			{TableName: catalog.TableName{Schema: "shop", Name: "r"}, Type: "TRIGGER", On: "scratch", Body: "SET NEW.a = 1"},
			{TableName: catalog.TableName{Schema: "shop", Name: "p"}, Type: "PROCEDURE", Body: "SELECT * FROM scratch"},
		},
	}
	l.Finish()
	s.now.Catalog = catalog.NewListed([]router.ShardName{"s0"}, nil, nil, map[router.ShardName]*catalog.Listing{"s0": l})
}

// The proxies read what a definition names, and everything only if its names are not known.
func TestChangeOfAStatement(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.withListing()
	for text, want := range map[string]string{
		"CREATE TABLE a (n INT)":                                      "tables a",
		"CREATE TABLE a (n INT REFERENCES scratch (id))":              "tables a",
		"ALTER TABLE scratch ADD INDEX (n)":                           "tables scratch alone",
		"CREATE PROCEDURE q() SELECT * FROM scratch":                  "routines q",
		"DROP PROCEDURE IF EXISTS p":                                  "routines p",
		"DROP FUNCTION f":                                             "routines f",
		"CREATE TRIGGER q BEFORE INSERT ON a FOR EACH ROW SET @b = 1": "tables a alone",
		"DROP TRIGGER r":                                              "tables scratch alone",
		"DROP TRIGGER IF EXISTS q":                                    "everything",
		"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM a":     "everything",
	} {
		c := s.request(text).Change("s0")
		got := ""
		for what, names := range map[string][]catalog.TableName{"tables": c.Tables, "routines": c.Routines} {
			for _, n := range names {
				got += fmt.Sprintf("%s %s", what, n.Name)
			}
		}
		if c.Everything {
			got = "everything"
		}
		if len(c.Alone) > 0 {
			got += " alone"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestFailsPartly(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for text, want := range map[string]bool{
		"DROP TABLE a, b": true, "DROP TABLE IF EXISTS a, b": true, "DROP VIEW a, b": true,
		"DROP TABLE a": false, "DROP VIEW a": false, "ALTER TABLE a ADD b INT": false, "CREATE TABLE a (n INT REFERENCES b (n))": false,
	} {
		if got := s.request(text).FailsPartly(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// A DROP with IF EXISTS that drops nothing changes nothing. It may drop something although the catalog doesn't have it, when another session has
// just created that.
func TestFoundNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.withListing()
	for text, want := range map[string]string{ // for 0, 1 and 2 warnings
		"DROP TABLE IF EXISTS a":                      "-+-",
		"DROP TABLE IF EXISTS a, b":                   "--+",
		"DROP TABLE IF EXISTS scratch":                "---",
		"DROP TABLE IF EXISTS a, scratch":             "---",
		"DROP TABLE a":                                "---",
		"CREATE TABLE IF NOT EXISTS a (n INT)":        "---",
		"DROP TRIGGER IF EXISTS q":                    "-+-",
		"DROP TRIGGER IF EXISTS r":                    "---",
		"DROP TRIGGER q":                              "---",
		"DROP PROCEDURE IF EXISTS q":                  "-+-",
		"DROP PROCEDURE IF EXISTS p":                  "---",
		"CREATE PROCEDURE IF NOT EXISTS q() SELECT 1": "---",
	} {
		a := s.request(text)
		got := ""
		for warnings := range uint16(3) {
			found := "-"
			if a.FoundNothing("s0", warnings) {
				found = "+"
			}
			got += found
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if a.FoundNothing("s1", 1) || a.FoundNothing("s1", 2) {
			t.Errorf("%s: of a shard whose objects are not known", text)
		}
	}
}
