//go:build servers

package schema

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"locus/internal/test/servers"
	"locus/router/catalog"
	"locus/router/stmt"
)

// After any definition, Again finds the same as Find, which reads everything.
func TestAgainFindsWhatFindDoes(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 2)...)
		s.Tables[s.name("a")] = catalog.Declaration{Kind: catalog.Global}
		random := rand.New(rand.NewPCG(7, 11))
		names := []string{"a", "b", "c", "d"}
		pick := func() string { return names[random.IntN(len(names))] }
		known, err := Find(t.Context(), s.queriers, s.Cluster, nil)
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for n := range 80 {
			one := definitionOf(random, pick, n)
			for i := range s.servers {
				if one.onFirst && i > 0 {
					continue
				}
				if _, err := s.servers[i].DB(t, s.database).Exec(one.text); err == nil { // most definitions that fail name an object that doesn't exist
					made++
				}
			}
			change := s.changeOf(one)
			if one.routine != "" {
				change = change.And(catalog.Change{Routines: []catalog.TableName{s.name(one.routine)}})
			}
			if n == 20 { // a table that is declared later was not read before
				s.Tables[s.name("c")] = catalog.Declaration{Kind: catalog.Global}
			}
			known, err = known.Again(t.Context(), s.queriers, s.Cluster, nil, change)
			if err != nil {
				t.Fatalf("%s: %v", one.text, err)
			}
			all, err := Find(t.Context(), s.queriers, s.Cluster, nil)
			if err != nil {
				t.Fatal(err)
			}
			for shard, listing := range all.listings {
				if !known.listings[shard].Equal(listing) {
					t.Fatalf("after %s, shard %s:\n%s\nand read as a whole\n%s", one.text, shard, s.own(known.listings[shard]), s.own(listing))
				}
				if !reflect.DeepEqual(known.servers[shard].tables, all.servers[shard].tables) {
					t.Fatalf("after %s, the declared tables of shard %s:\n%+v\nand read as a whole\n%+v", one.text, shard, known.servers[shard].tables, all.servers[shard].tables)
				}
				if known.Digest(shard) != all.Digest(shard) {
					t.Fatalf("after %s, shard %s has another digest when it is read as a whole", one.text, shard)
				}
			}
		}
		if made < 30 {
			t.Errorf("only %d definitions were accepted", made)
		}
	})
}

// changeOf returns the change that a proxy announces for a definition.
func (s *shop) changeOf(one madeDefinition) (change catalog.Change) {
	alone := false
	var l stmt.Lexed
	l.Lex([]byte(one.text), 0)
	if read, err := stmt.Parse(&l); err == nil && read.Features&stmt.Program == 0 {
		var names []stmt.TableName
		one.tables = nil
		for names, alone = read.Redefined(); len(names) > 0; names = names[1:] {
			one.tables = append(one.tables, names[0].Name)
		}
	}
	_, trigger := l.DefinesTrigger()
	for _, name := range one.tables {
		c := catalog.Change{Tables: []catalog.TableName{s.name(name)}}
		if alone || trigger {
			c.Alone = c.Tables
		}
		change = change.And(c)
	}
	return change
}

// own returns the part of a listing that belongs to the shop's database.
func (s *shop) own(l *catalog.Listing) string {
	var own catalog.Listing
	for _, t := range l.Tables {
		if t.Schema == s.database {
			own.Tables = append(own.Tables, t)
		}
	}
	for _, p := range l.Programs {
		if p.Schema == s.database {
			own.Programs = append(own.Programs, p)
		}
	}
	own.ForeignKeys = l.ForeignKeys
	return fmt.Sprintf("%#v", own)
}

// madeDefinition is a definition with the names that it contains.
type madeDefinition struct {
	text    string
	tables  []string
	routine string
	onFirst bool
}

func definitionOf(random *rand.Rand, pick func() string, n int) madeDefinition {
	name, other := pick(), pick()
	one := madeDefinition{tables: []string{name}, onFirst: random.IntN(4) == 0}
	switch random.IntN(14) {
	case 0, 1:
		one.text = "CREATE TABLE " + name + " (id INT PRIMARY KEY, n INT DEFAULT (1 + 1), u INT UNIQUE, g INT AS (u + 1), s VARCHAR(9) DEFAULT 'next(')"
	case 2:
		one.text = "CREATE TABLE " + name + " (id INT PRIMARY KEY, p INT, CONSTRAINT f" + fmt.Sprint(n) + " FOREIGN KEY (p) REFERENCES " + other + " (id))"
		one.tables = append(one.tables, other)
	case 3:
		one.text = "ALTER TABLE " + name + " ADD COLUMN x" + fmt.Sprint(n) + " INT, ADD CHECK (x" + fmt.Sprint(n) + " > 0), COMMENT 'locus: global'"
	case 4:
		one.text = "RENAME TABLE " + name + " TO " + other
		one.tables = append(one.tables, other)
	case 5:
		one.text = "CREATE OR REPLACE VIEW v" + name + " AS SELECT * FROM " + other
		one.tables = []string{"v" + name}
	case 6:
		one.text = "DROP VIEW v" + name
		one.tables = []string{"v" + name}
	case 7:
		one.text = "CREATE TRIGGER t" + fmt.Sprint(n) + " BEFORE INSERT ON " + name + " FOR EACH ROW SET @a = 1"
	case 8:
		one.text, one.tables, one.routine = "CREATE PROCEDURE P"+name+"() SELECT "+fmt.Sprint(n), nil, "p"+name
	case 9:
		one.text, one.tables, one.routine = "DROP PROCEDURE p"+name, nil, "p"+name
	case 11:
		one.text = "ALTER TABLE " + name + " ADD CONSTRAINT f" + fmt.Sprint(n) + " FOREIGN KEY (p) REFERENCES " + other + " (id)"
		one.tables = append(one.tables, other)
	case 12:
		one.text = "CREATE UNIQUE INDEX i" + fmt.Sprint(n) + " ON " + name + " (id)"
	case 10:
		one.text = "ALTER TABLE " + name + " DROP COLUMN n, ADD INDEX i" + fmt.Sprint(n) + " (id)"
	default:
		one.text = "DROP TABLE " + name
	}
	return one
}
