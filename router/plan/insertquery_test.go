package plan

import (
	"slices"
	"strings"
	"testing"

	"locus/router/stmt"
)

// The rows of a query are inserted in batches by one plan. The text after the rows is complete before any row is known,
// because the positions of later literals depend on the number of literals in the first row.
func TestBatchesHaveOneTail(t *testing.T) {
	ctx := Context{Catalog: shopCatalog(t), Schema: "shop"}
	text := "INSERT INTO orders (buyer_uid, memo) -- every one\nSELECT buyer_uid, memo FROM orders ON DUPLICATE KEY UPDATE memo = 'five'"
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	p, err := Make(&l, ctx)
	if err != nil {
		t.Fatal(err)
	}
	query, ok := p.(*InsertQuery)
	if !ok {
		t.Fatalf("%T", p)
	}
	values := &Values{Args: new(stmt.Args)}
	values.Reset(&l, nil)
	around := query.Around(values)
	if want := " ON DUPLICATE KEY UPDATE memo = 'five', `version` = `version` + 1"; around.Tail != want {
		t.Errorf("the tail is %q, want %q", around.Tail, want)
	}
	stamped, ok := query.Batch.(*Stamped)
	if !ok {
		t.Fatalf("a batch is planned as %T", query.Batch)
	}
	for _, rows := range []string{"(1, NULL)", "(1, 'a')", "(NULL, NULL)"} {
		var batch stmt.Lexed
		batch.Lex([]byte(around.Head+" VALUES "+rows+around.Tail), 0)
		if len(batch.Rows) != 1 {
			t.Errorf("%q has %d rows", batch.Text, len(batch.Rows))
		}
		if slices.ContainsFunc(stamped.Added, func(s Splice) bool { return batch.Offset(s.At) > strings.Index(string(batch.Text), rows) }) {
			t.Errorf("%q: %+v is inserted after the first row", batch.Text, stamped.Added)
		}
	}
}
