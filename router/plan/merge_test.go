package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestSortKeys checks which columns of the answer the merge sorts by.
func TestSortKeys(t *testing.T) {
	for text, want := range map[string]string{
		"select id from orders order by amount":                                         "hidden 0",
		"select id from orders order by amount desc, note":                              "hidden 0 desc, hidden 1 weighted",
		"select id, amount + 1 as a from orders order by a":                             "column 1",
		"select amount + 1 as a, orders.* from orders order by a desc":                  "column 0 desc",
		"select *, amount + 1 as a from orders order by a":                              "column -1",
		"select *, amount + 1 as a, amount + 2 as b from orders order by b, a":          "column -1, column -2",
		"select id, amount + 1 as a, orders.* from orders order by 2, 1":                "column 1, hidden 0",
		"select amount + 1 as a, id as b from orders order by b, a, created, null":      "hidden 0, column 0, hidden 1",
		"select id from orders order by null":                                           "",
		"select id from orders order by sku":                                            "refused",
		"select i.id from orders o join order_item i on i.order_id = o.id order by sku": "hidden 0 weighted",
	} {
		l := lexedText(text, 0)
		p, err := Make(l, Context{Catalog: shopCatalog(t), Schema: "shop"})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := "refused"
		if m := p.(*Read).Merge; m != nil {
			var keys []string
			for _, k := range m.Keys {
				key := fmt.Sprintf("column %d", k.Column)
				if k.Hidden {
					key = fmt.Sprintf("hidden %d", k.Column)
				}
				if k.Desc {
					key += " desc"
				}
				if k.Weighted {
					key += " weighted"
				}
				keys = append(keys, key)
			}
			got = strings.Join(keys, ", ")
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
