package plan

import (
	"fmt"
	"strings"
	"testing"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// The cases are the shards on which a routine is created, by what is known of the shards. s2 is unreachable unless it is
// listed.
func TestRoutines(t *testing.T) {
	const first, everywhere = "*plan.OneShard", "*plan.Definition"
	listing := func(tables []string, routines ...string) *catalog.Listing {
		var l catalog.Listing
		for _, name := range tables {
			l.Tables = append(l.Tables, catalog.ListedTable{TableName: catalog.TableName{Schema: "shop", Name: name}, Type: "BASE TABLE"})
		}
		for _, name := range routines {
			l.Programs = append(l.Programs, catalog.Program{TableName: catalog.TableName{Schema: "shop", Name: name}, Type: "FUNCTION", Body: "RETURN 1"})
		}
		return &l
	}
	all := map[router.ShardName]*catalog.Listing{"s0": listing([]string{"plain"}, "f", "home"), "s1": listing(nil, "f"), "s2": listing(nil, "f")}
	asked := map[router.ShardName]*catalog.Listing{"s0": listing([]string{"plain"}, "home"), "s1": listing(nil)}
	for _, c := range []struct {
		text     string
		listings map[router.ShardName]*catalog.Listing
		want     string // the plan, or a part of the refusal
	}{
		{"CREATE FUNCTION g() RETURNS INT RETURN 1", all, everywhere},
		{"CREATE FUNCTION g() RETURNS INT RETURN f()", all, everywhere},
		{"CREATE FUNCTION g() RETURNS INT RETURN home()", all, first},
		{"CREATE FUNCTION g() RETURNS INT RETURN (SELECT COUNT(*) FROM plain)", all, first},
		{"CREATE PROCEDURE g() BEGIN SELECT 1; END", all, everywhere},
		{"CREATE PROCEDURE g() BEGIN SELECT 1 FROM plain; END", all, first},
		{"CREATE OR REPLACE FUNCTION f() RETURNS INT RETURN home()", all, "DROP FUNCTION it first"},
		{"CREATE OR REPLACE FUNCTION home() RETURNS INT RETURN (SELECT 1 FROM plain)", all, first},
		{"CREATE FUNCTION IF NOT EXISTS home() RETURNS INT RETURN 2", all, "is on shard s0 alone"},
		{"DROP FUNCTION f", all, everywhere},
		{"DROP FUNCTION home", all, first},
		{"DROP FUNCTION nothing", all, first},
		{"ALTER FUNCTION f COMMENT 'x'", all, everywhere},
		{"CREATE FUNCTION g() RETURNS INT RETURN 1", asked, everywhere},
		{"CREATE FUNCTION g() RETURNS INT RETURN (SELECT COUNT(*) FROM plain)", asked, first},
		{"CREATE OR REPLACE FUNCTION home() RETURNS INT RETURN (SELECT 1 FROM plain)", asked, "whether it is on shard s2 too is not known"},
		{"DROP FUNCTION home", asked, everywhere},
		{"CREATE FUNCTION g() RETURNS INT RETURN 1", nil, first},
	} {
		shards := []router.ShardName{"s0", "s1", "s2"}
		known := catalog.New(shards, nil, nil)
		if c.listings != nil {
			known = catalog.NewListed(shards, nil, nil, c.listings)
		}
		l := new(stmt.Lexed)
		l.Lex([]byte(c.text), 0)
		p, err := Make(l, Context{Catalog: known, Schema: "shop"})
		got := fmt.Sprintf("%T", p)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
