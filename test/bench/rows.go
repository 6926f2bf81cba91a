package main

import (
	"context"
	"fmt"
)

// row is a line of the table, or a few that are measured together.
type row struct {
	name    string
	measure func(ctx context.Context, s *stand, r *report) error
}

// allRows returns the rows in the order of the table.
func allRows(o options) []row {
	var all []row
	for _, kind := range statementKinds() {
		for _, p := range []protocol{text, prepared} {
			for _, clients := range []int{8, 32} {
				all = append(all, kind.row(p, clients))
			}
		}
	}
	for _, kind := range statementKinds()[1:] {
		for _, clients := range []int{8, 32} {
			all = append(all, callsRow(kind, clients))
		}
	}
	return append(all,
		scatterRow("scatter count and sum", countAll),
		scatterRow("scatter order by, limit 10", func(field) step { return firstTen() }),
		plansRow(), planningRow(), killedRow(), bigRow(), eightBigRow(), idleRow(o.idle), connectsRow(), movesRow("mariadb", o.moved), movesRow("mysql", o.moved),
		importsRow("mariadb", o.moved), importsRow("mysql", o.moved),
		outageRow("mariadb"), outageRow("mysql"), definitionsRow("mariadb"), definitionsRow("mysql"),
		definitionTimesRow("mariadb", o.tables), definitionTimesRow("mysql", o.tables),
		definitionShardsRow("mariadb"), definitionShardsRow("mysql"), fewRowsRow("mariadb"), fewRowsRow("mysql"))
}

// statementKind is a kind of statement that the single-shard rows measure.
type statementKind struct {
	name   string
	script func(s *stand, sp spelling) scripting
}

func statementKinds() []statementKind {
	return []statementKind{
		{name: "SELECT by buyer_uid", script: readScript(selectByBuyer())},
		{name: "SELECT by order_id", script: readScript(selectByOrder())},
		{name: "INSERT", script: insertScript},
		{name: "transaction of 5", script: transactionScript},
	}
}

func (k statementKind) row(p protocol, clients int) row {
	name := fmt.Sprintf("%s, %s, %d clients", k.name, p, clients)
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		script := func(sp spelling) scripting { return k.script(s, sp) }
		if s.options.before != "" {
			builds, err := s.compare(ctx, test{clients, p, script}, []lane{s.before, s.locus(0, stamped)})
			r.builds = append(r.builds, comparison{name, builds})
			return err
		}
		var measured []series
		err := s.lent(ctx, r, func() (err error) {
			measured, err = s.compare(ctx, test{clients, p, script}, s.lanes())
			return err
		})
		if err != nil {
			return err
		}
		r.comparisons = append(r.comparisons, comparison{name, measured})
		return nil
	}}
}

func readScript(one step) func(*stand, spelling) scripting {
	return func(s *stand, _ spelling) scripting {
		return func(i, n int) script { return script{[]step{one}, deal(s.cast.readers, i, n, s.fresh)} }
	}
}

func insertScript(s *stand, sp spelling) scripting {
	return func(i, n int) script { return script{[]step{insert(sp)}, deal(s.cast.writers, i, n, s.fresh)} }
}

func transactionScript(s *stand, sp spelling) scripting {
	return func(i, n int) script { return script{transaction(sp), deal(s.cast.writers, i, n, s.fresh)} }
}
