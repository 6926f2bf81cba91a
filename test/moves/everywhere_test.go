package moves

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/idgen/gene"
	"locus/migrate/preflight"
	"locus/router/catalog"
)

// lookEverywhere runs the preflight of a move to a shard that must have the same objects as the source, the first shard.
func (p *pair) lookEverywhere(resumed bool) string {
	p.t.Helper()
	r, err := preflight.Look(p.t.Context(), preflight.Config{
		Source: at(p.source), Target: at(p.target), Tables: map[catalog.TableName]catalog.Declaration{p.name("sold"): byID},
		Width: gene.W16, Genes: moving(1).All(), Resumed: resumed,
		Everywhere: &preflight.Everywhere{First: at(p.source), FirstShard: "s0", Shard: "s1", Tables: map[catalog.TableName]catalog.Declaration{
			p.name("sold"): byID, p.name("country"): {Kind: catalog.Global}, p.name("keyless"): {Kind: catalog.Global}, p.name("alone"): {Kind: catalog.Single, Shard: "s0"},
		}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	var found []string
	for _, problem := range r.Problems {
		found = append(found, problem.String())
	}
	return strings.Join(found, "\n")
}

// TestPreflightOfWhatIsEverywhere: a shard that lacks global tables, their rows or views gets no genes, because it
// would answer statements wrongly.
func TestPreflightOfWhatIsEverywhere(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE sold (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)")
		p.on(p.source, "CREATE TABLE country (code CHAR(2) PRIMARY KEY, name VARCHAR(40), price DECIMAL(10,2))", "CREATE TABLE keyless (v INT)", "CREATE TABLE alone (v INT)",
			"INSERT INTO country VALUES ('de', 'Germany', 1), ('fr', 'France', 2.50)", "INSERT INTO keyless VALUES (1)",
			"CREATE VIEW dear AS SELECT code FROM country WHERE price > 2", "CREATE VIEW dearest AS SELECT MAX(code) FROM dear",
			"CREATE VIEW mixed AS SELECT v FROM alone, country", "CREATE VIEW lonely AS SELECT v FROM alone")
		told := func(wants ...string) {
			t.Helper()
			found := p.lookEverywhere(false)
			for _, want := range wants {
				if !strings.Contains(found, want) {
					t.Errorf("nothing says %q in\n%s", want, found)
				}
			}
			if n := strings.Count(found, "everywhere: "); n != len(wants) {
				t.Errorf("%d problems, want %d:\n%s", n, len(wants), found)
			}
		}
		told("does not have global table "+p.database+".country", "does not have global table "+p.database+".keyless",
			"does not have view "+p.database+".dear,", "does not have view "+p.database+".dearest")
		p.on(p.target, "CREATE TABLE country (code CHAR(2) PRIMARY KEY, name VARCHAR(40), price DECIMAL(10,2))", "CREATE TABLE keyless (v INT)",
			"CREATE VIEW dear AS SELECT code FROM country WHERE price > 3", "CREATE VIEW dearest AS SELECT MAX(code) FROM dear")
		told("global table "+p.database+".country has other rows", "global table "+p.database+".keyless has another number", "view "+p.database+".dear is another one")
		p.on(p.target, "INSERT INTO country VALUES ('de', 'Germany', 1), ('fr', 'France', 2.51)", "INSERT INTO keyless VALUES (1)", "ALTER VIEW dear AS SELECT code FROM country WHERE price > 2")
		told(`such as "fr"`)
		p.on(p.target, "UPDATE country SET price = 2.5", "UPDATE country SET price = 1 WHERE code = 'de'", "INSERT INTO country VALUES ('it', 'Italy', 3)")
		told(`such as "it"`)
		if found := p.lookEverywhere(true); found != "" {
			t.Errorf("a job that has begun is refused: %s", found)
		}
		p.on(p.target, "DELETE FROM country WHERE code = 'it'")
		told()
		p.on(p.target, "ALTER TABLE country MODIFY name VARCHAR(41), ADD COLUMN more INT")
		told("global table " + p.database + ".country has other columns")
	})
}

// TestPreflightAmidWriters: rows that are written on one shard shortly before the other count as equal.
func TestPreflightAmidWriters(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE sold (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)", "CREATE TABLE country (code INT PRIMARY KEY, hits INT NOT NULL, name VARCHAR(40))", "CREATE TABLE keyless (v INT)",
			"INSERT INTO country VALUES (1, 0, 'one'), (2, 0, 'two'), (3, 0, 'three')")
		ctx, stop := context.WithCancel(t.Context())
		var writing sync.WaitGroup
		for w := range 4 {
			writing.Go(func() { p.writeBoth(ctx, w) })
		}
		for range 5 {
			if found := p.lookEverywhere(false); found != "" {
				t.Error(found)
			}
		}
		p.on(p.target, "UPDATE country SET name = 'Two' WHERE code = 2")
		if found := p.lookEverywhere(false); !strings.Contains(found, `such as "2"`) {
			t.Errorf("a row that differs beside others that change: %q", found)
		}
		stop()
		writing.Wait()
	})
}

// writeBoth changes rows as a proxy does: on both servers, and then both commit.
func (p *pair) writeBoth(ctx context.Context, w int) {
	both := []*sql.DB{p.source.DB(p.t, p.database), p.target.DB(p.t, p.database)}
	for i := 0; ctx.Err() == nil; i++ {
		code := 1 + (w+i)%3
		statement := fmt.Sprintf("UPDATE country SET hits = hits + 1 WHERE code = %d", code)
		switch i % 3 {
		case 1:
			statement = fmt.Sprintf("INSERT INTO country VALUES (%d, 0, 'new')", 10+w)
		case 2:
			statement = fmt.Sprintf("DELETE FROM country WHERE code = %d", 10+w)
		}
		var ends []func() error
		for _, db := range both {
			tx, err := db.Begin()
			if err != nil {
				p.t.Error(err)
				return
			}
			if _, err := tx.Exec(statement); err != nil {
				p.t.Errorf("%s: %v", statement, err)
			}
			ends = append(ends, tx.Commit)
		}
		for _, end := range ends {
			if err := end(); err != nil {
				p.t.Error(err)
			}
		}
	}
}
