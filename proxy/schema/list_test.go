//go:build servers

package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/catalog"
)

// TestListing reads a server's objects with the queries for both engines.
func TestListing(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		s.on(t, 0, "CREATE TABLE quiet (id INT PRIMARY KEY, s VARCHAR(9) DEFAULT 'f(x)', g INT AS (id + 1), u VARCHAR(40) DEFAULT (UUID()))",
			"CREATE TABLE pair (x INT, y INT, PRIMARY KEY (x, y))",
			"CREATE TABLE fired (id INT PRIMARY KEY)",
			"CREATE VIEW above AS SELECT id FROM quiet",
			"CREATE SQL SECURITY INVOKER VIEW theirs AS SELECT id FROM quiet",
			"CREATE TRIGGER fires BEFORE INSERT ON fired FOR EACH ROW SET NEW.id = 3",
			"CREATE PROCEDURE goes() SELECT id FROM quiet",
			"CREATE FUNCTION counts() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM quiet)",
			"CREATE TABLE child (a INT, b INT, c INT, CONSTRAINT two FOREIGN KEY (c) REFERENCES quiet (id), CONSTRAINT one FOREIGN KEY (b, a) REFERENCES pair (x, y) ON DELETE CASCADE ON UPDATE SET NULL)",
			"CREATE EVENT ticks ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM quiet",
		)
		c := s.load(t).Catalog
		l := c.Listings()["s0"]
		var got []string
		for _, x := range l.Tables {
			if x.Schema == s.database {
				got = append(got, fmt.Sprintf("%s %s %v query: %v", x.Name, x.Type, x.Invoker, strings.Contains(x.Query, "quiet")))
			}
		}
		for _, x := range l.Programs {
			if x.Hidden != "" {
				t.Errorf("%s: hidden: %s", x.TableName, x.Hidden)
			}
			if x.Schema == s.database {
				got = append(got, fmt.Sprintf("%s %s on %q body: %v", x.Name, x.Type, x.On, strings.Contains(x.Body, "quiet")))
			}
		}
		for _, f := range l.ForeignKeys {
			if f.Schema == s.database && f.References.Schema == s.database {
				rules := strings.NewReplacer("NO ACTION", "-", "RESTRICT", "-").Replace(f.OnDelete + ", " + f.OnUpdate)
				got = append(got, fmt.Sprintf("%s: %s %v, %s %v, %s", f.Name, f.TableName.Name, f.Columns, f.References.Name, f.Referred, rules))
			}
		}
		want := []string{
			"child BASE TABLE false query: false", "fired BASE TABLE false query: false", "pair BASE TABLE false query: false", "quiet BASE TABLE false query: false",
			"above VIEW false query: true", "theirs VIEW true query: true",
			`counts FUNCTION on "" body: true`, `goes PROCEDURE on "" body: true`, `fires TRIGGER on "fired" body: false`, `ticks EVENT on "" body: true`,
			"one: child [b a], pair [x y], CASCADE, SET NULL", "two: child [c], quiet [id], -, -",
		}
		if !slices.Equal(got, want) {
			t.Errorf("it lists\n%s\nand should\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for name, quiet := range map[string]bool{"quiet": true, "fired": false, "above": false, "absent": false} {
			if c.Quiet(catalog.TableName{Schema: s.database, Name: name}) != quiet {
				t.Errorf("Quiet(%s) isn't %v", name, quiet)
			}
		}
	})
}
