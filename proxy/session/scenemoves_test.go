package session_test

import (
	"fmt"
	"slices"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
)

// In the scenes, the genes of users 1 and 2 move away from s0.
var (
	moving = gene.NewSet(gene.Range{First: 0x4000, Last: 0x5fff}, gene.Range{First: 0xd000, Last: 0xffff})
	first  = gene.NewSet(gene.Range{First: 0x4000, Last: 0x5fff}) // the genes of the first step, with user 1
)

// move executes the next step of a move of genes from s0 to s1.
func (a *actor) move(name string) []string {
	m := a.snapshot().Map
	step := func(held gene.Set, changes ...router.Change) []string {
		next, err := m.Step([]router.Move{{Job: "1", Genes: moving, From: "s0", To: "s1", Held: held}}, changes...)
		if err != nil {
			a.t.Fatal(err)
		}
		a.publish(next)
		return nil
	}
	imports := func(holds bool) []string {
		var moves []router.Move
		for _, to := range []router.ShardName{"s0", "s2"} {
			moves = append(moves, router.Move{Job: "2-" + string(to), Genes: m.GenesOf(to), From: "s1", To: to, Tables: []string{"shop.notes"}, HoldsTables: holds})
		}
		next, err := m.Step(moves)
		if err != nil {
			a.t.Fatal(err)
		}
		a.publish(next)
		return nil
	}
	switch name {
	case "announce the import":
		return imports(false)
	case "fence the import":
		return imports(true)
	case "declare plain as it is": // the first step of an import
		return a.redeclare(catalog.Declaration{Kind: catalog.Single, Shard: "s0"}, "plain")
	case "end the import": // including plain, which is not declared
		return a.redeclare(catalog.Declaration{Kind: catalog.Sharded, Owner: "user_id"}, "notes", "plain")
	case "take the import back":
		return a.redeclare(catalog.Declaration{Kind: catalog.Single, Shard: "s1"}, "notes")
	case "announce":
		return step(gene.Set{})
	case "fence":
		return step(first)
	case "hand over":
		return step(gene.Set{}, router.Change{Genes: first, To: "s1"})
	case "lose the lease":
		a.lease.Store(0)
		return nil
	case "preempt":
		return []string{fmt.Sprintf("there is something to wait for: %t", a.person.session.Preempt(m.Version(), m.Held()))}
	case "obeys":
		return []string{fmt.Sprintf("obeys: %t", a.person.session.Obeys(m.Version(), m.Held()))}
	}
	a.t.Fatalf("nothing happens by %q", name)
	return nil
}

// redeclare changes or adds the declarations of tables of the shop.
func (a *actor) redeclare(d catalog.Declaration, names ...string) []string {
	tables := slices.DeleteFunc(shopTables(a.t), func(t *catalog.Table) bool { return slices.Contains(names, t.Name) })
	for _, name := range names {
		columns := []catalog.Column{column("id", "bigint"), column("text", "varchar"), column("user_id", "bigint"), {Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true}}
		t, err := catalog.Resolve(catalog.TableName{Schema: "shop", Name: name}, d, columns, gene.W16)
		if err != nil {
			a.t.Fatal(err)
		}
		tables = append(tables, t)
	}
	a.recatalog(tables, nil)
	return nil
}
