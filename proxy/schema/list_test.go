package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/router/catalog"
	"locus/test/servers"
)

// TestListing reads what a server has, in the words of both engines.
func TestListing(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		s.on(t, 0, "CREATE TABLE quiet (id INT PRIMARY KEY, s VARCHAR(9) DEFAULT 'f(x)', g INT AS (id + 1), u VARCHAR(40) DEFAULT (UUID()))",
			"CREATE TABLE fired (id INT PRIMARY KEY)",
			"CREATE VIEW above AS SELECT id FROM quiet",
			"CREATE SQL SECURITY INVOKER VIEW theirs AS SELECT id FROM quiet",
			"CREATE TRIGGER fires BEFORE INSERT ON fired FOR EACH ROW SET NEW.id = 3",
			"CREATE PROCEDURE goes() SELECT id FROM quiet",
			"CREATE FUNCTION counts() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM quiet)",
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
		want := []string{
			"fired BASE TABLE false query: false", "quiet BASE TABLE false query: false",
			"above VIEW false query: true", "theirs VIEW true query: true",
			`counts FUNCTION on "" body: true`, `goes PROCEDURE on "" body: true`, `fires TRIGGER on "fired" body: false`, `ticks EVENT on "" body: true`,
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
