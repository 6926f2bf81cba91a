package catalog

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"locus/router"
)

// Tables to which nothing refers need no object of their own: the answers are the same as if each table had one.
func TestOnlyReferredTablesHaveObjects(t *testing.T) {
	spared := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		shards := []router.ShardName{"s0", "s1"}
		listings := map[router.ShardName]*Listing{}
		for _, shard := range shards {
			listings[shard] = randomListing(r)
		}
		broken := map[TableName]error{{"shop", "t1"}: &MissingTableError{}}
		c, whole := NewListed(shards, nil, broken, listings), NewListed(shards, nil, broken, listings)
		for shard, l := range listings {
			all := make([]int, len(l.Tables))
			for i := range all {
				all[i] = i
			}
			spared += len(all) - len(l.referred())
			whole.closed.reach[shard] = whole.follow(shard, l, all)
		}
		if got, want := answers(c), answers(whole); !reflect.DeepEqual(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("seed %d: %s, with objects for all tables %s", seed, got[i], want[i])
				}
			}
		}
	}
	if spared == 0 {
		t.Error("each table had an object")
	}
}

// randomListing returns a finished listing of some of a few names, whose texts name others of them.
func randomListing(r *rand.Rand) *Listing {
	l := &Listing{}
	name := func() string { return fmt.Sprintf("%s%d", []string{"t", "T"}[r.IntN(2)], r.IntN(4)) }
	for _, schema := range []string{"shop", "Other"} {
		for _, table := range []string{"t0", "t1", "T1", "t2", "T3"} {
			if r.IntN(2) > 0 {
				continue
			}
			one := ListedTable{TableName: TableName{schema, table}, Type: []string{"BASE TABLE", "BASE TABLE", "SEQUENCE", "VIEW"}[r.IntN(4)]}
			switch {
			case !one.Base():
				one.Query = fmt.Sprintf("select 1 from `%s`.`%s`", schema, name())
			case r.IntN(5) == 0:
				one.Expressions = []string{"nextval(`shop`.`t2`)"}
			}
			l.Tables = append(l.Tables, one)
		}
	}
	for i := range r.IntN(3) {
		l.Programs = append(l.Programs, Program{TableName: TableName{"shop", fmt.Sprint("t", i+3)}, Type: "PROCEDURE", Body: "UPDATE " + name() + " SET a = 1"})
	}
	for i := range r.IntN(3) {
		l.Programs = append(l.Programs, Program{TableName: TableName{"shop", fmt.Sprint("on", i)}, Type: trigger, On: name(), Body: "INSERT INTO " + name() + " VALUES (1)"})
	}
	if r.IntN(3) == 0 {
		l.ForeignKeys = append(l.ForeignKeys, ForeignKey{
			TableName: TableName{"shop", name()}, Name: "fk", Columns: []string{"a"}, References: TableName{"shop", name()}, Referred: []string{"a"},
			OnDelete: "CASCADE", OnUpdate: "NO ACTION",
		})
	}
	l.Finish()
	return l
}

// answers returns what a catalog reports of each name.
func answers(c *Catalog) (all []string) {
	for _, schema := range []string{"shop", "Other", "OTHER"} {
		for i := range 5 {
			for _, letter := range []string{"t", "T"} {
				n := TableName{schema, fmt.Sprint(letter, i)}
				low := strings.ToLower(n.Name)
				mentioned, mentions := c.Mentions(schema, []string{low})
				local, is := c.OnDefaultShard(schema, []string{low}, TableName{})
				all = append(all, fmt.Sprint(n, ": ", c.Knows(n), c.Reading(n), c.Writing(n), c.Quiet(n), c.Alone(n), c.On(n), c.Invokes(n), c.HasTable(n),
					c.ReadTrace(n), c.WriteTrace(n), c.CallTrace(schema, "", low), c.CallError(schema, "", low), mentioned, mentions, local, is))
			}
		}
	}
	return append(all, fmt.Sprint(c.Remarks()), fmt.Sprint(c.Uniform()), fmt.Sprint(len(c.closed.views)))
}

// A declared single table is on its shard only. Tables of the same name on other shards are never read, so they must not hide
// the objects that its trigger reaches.
func TestCopiesOfSingleTablesAreNotFar(t *testing.T) {
	log := &Table{TableName: TableName{"shop", "log"}, Declaration: Declaration{Kind: Sharded}}
	single := func(name string, shard router.ShardName) *Table {
		return &Table{TableName: TableName{"shop", name}, Declaration: Declaration{Kind: Single, Shard: shard}}
	}
	listings := map[router.ShardName]*Listing{}
	for _, shard := range []router.ShardName{"s0", "s1"} {
		listings[shard] = &Listing{
			Tables: []ListedTable{
				{TableName: TableName{"shop", "log"}, Type: "BASE TABLE"}, {TableName: TableName{"shop", "here"}, Type: "BASE TABLE"},
				{TableName: TableName{"shop", "there"}, Type: "BASE TABLE"},
				{TableName: TableName{"shop", "shown"}, Type: "VIEW", Query: "select 1 AS `one` from `shop`.`here`"},
			},
			Programs: []Program{{TableName: TableName{"shop", "logs"}, Type: trigger, On: "there", Body: "INSERT INTO log VALUES (1)"}},
		}
	}
	c := NewListed([]router.ShardName{"s0", "s1"}, []*Table{log, single("here", "s0"), single("there", "s1")}, nil, listings)
	if err := c.Writing(TableName{"shop", "there"}); err == nil || !strings.Contains(err.Error(), "sharded table shop.log") {
		t.Errorf("writing: %v", err)
	}
	if err := c.Reading(TableName{"shop", "shown"}); err != nil {
		t.Errorf("reading the view: %v", err)
	}
}

// A statement over several shards would leave a value of each shard, and the session can have one only.
func TestTriggersOfShardedTablesAssignNoUserVariables(t *testing.T) {
	orders := &Table{TableName: TableName{"shop", "orders"}, Declaration: Declaration{Kind: Sharded}}
	for body, want := range map[string]bool{
		"SET @total = @total + NEW.amount": true, "SET NEW.amount = (@a := 1)": true,
		"SET NEW.amount = @a": false, "BEGIN IF @a = 1 THEN SET NEW.amount = 1; END IF; END": false,
	} {
		listings := map[router.ShardName]*Listing{}
		for _, shard := range []router.ShardName{"s0", "s1"} {
			listings[shard] = &Listing{
				Tables:   []ListedTable{{TableName: TableName{"shop", "orders"}, Type: "BASE TABLE"}},
				Programs: []Program{{TableName: TableName{"shop", "sums"}, Type: trigger, On: "orders", Body: body}},
			}
		}
		err := NewListed([]router.ShardName{"s0", "s1"}, []*Table{orders}, nil, listings).Writing(TableName{"shop", "orders"})
		if (err != nil) != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}
