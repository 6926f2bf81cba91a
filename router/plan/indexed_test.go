package plan

import (
	"fmt"
	"testing"
)

// TestIndexedColumns checks which columns of gathered tables get an index: the integer columns of joins, correlations and subqueries.
func TestIndexedColumns(t *testing.T) {
	catalog := shopCatalog(t)
	for text, want := range map[string]string{
		"select * from orders a join item b on a.amount = b.product":                                                "",
		"select a.id from orders a join audit b on a.id = b.id":                                                     "a[id] b[id]",
		"select a.id from orders a left join audit b on b.what = a.buyer_uid and b.id > 3":                          "a[buyer_uid] b[what]",
		"select a.id from orders a where exists (select 1 from audit where audit.what = a.id)":                      "a[id] audit[what]",
		"select a.id from orders a where a.id in (select what from audit)":                                          "a[id] audit[what]",
		"select a.id from orders a, audit b where a.note = b.what":                                                  "",
		"select a.id from orders a, audit b where a.id = b.what or a.id = 1":                                        "",
		"select a.id from orders a, audit b where a.id = b.id and a.buyer_uid = b.id and a.buyer_uid = b.buyer_uid": "a[buyer_uid id] b[buyer_uid id]",
	} {
		p, err := Make(lexedText(text, 0), Context{Catalog: catalog, Schema: "shop"})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		read, is := p.(*Read)
		if !is || read.Gather == nil {
			t.Errorf("%s is not gathered: %T", text, p)
			continue
		}
		got := ""
		for _, table := range read.Gather.Tables {
			if table.Indexed != nil {
				got += fmt.Sprintf(" %s%v", table.Alias, table.Indexed)
			}
		}
		if got != "" {
			got = got[1:]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
