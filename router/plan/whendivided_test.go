package plan

import (
	"strings"
	"testing"

	"locus/router/stmt"
)

// TestWhenDivided checks statements by their digests, whose values are not known.
func TestWhenDivided(t *testing.T) {
	tables := shopCatalog(t)
	for text, want := range map[string]string{
		"select * from orders where buyer_uid = ?":                                                               "",
		"select * from orders where buyer_uid = ? order by id limit ?":                                           "",
		"select * from orders where id in (?)":                                                                   "",
		"select count(*) from orders":                                                                            "",
		"select o . id , p . id from orders o join orders p on p . buyer_uid = o . buyer_uid":                    "",
		"select * from orders where buyer_uid = ? for update":                                                    "",
		"select o . id from orders o join orders p on p . buyer_uid = o . buyer_uid where o . id = ? for update": "does not join rows on the ID",
		"update orders set amount = ? where buyer_uid = ?":                                                       "",
		"update orders set amount = ? where buyer_uid = ? limit ?":                                               "",
		"update orders set amount = ? where buyer_uid = ? order by id limit ?":                                   "",
		"update orders set amount = ? where buyer_uid = ? order by id + ? limit ?":                               "it has ORDER BY and LIMIT",
		"delete from orders where buyer_uid = ? and id = ? limit ?":                                              "",
		"delete from orders where id = ? limit ?":                                                                "",
		"update orders set id = ? where id = ?":                                                                  "it sets id",
		"update orders o join orders p on p . buyer_uid = o . buyer_uid set o . amount = ?":                      "does not join rows on the ID",
		"insert into orders ( buyer_uid , amount ) values ( ? )":                                                 "",
		"insert into order_item ( order_id , sku ) values ( ? )":                                                 "",
		"insert into order_item ( id , order_id , sku ) values ( ? , ? , ? )":                                    "it gives values of unique key PRIMARY",
		"begin": "",
	} {
		var lexed stmt.Lexed
		lexed.Lex([]byte(text), 0)
		p, err := Make(&lexed, Context{Catalog: tables, Schema: "shop"})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		why := DividedRefusal(p)
		if (why == nil) != (want == "") || why != nil && !strings.Contains(why.Message, want) {
			t.Errorf("%s: %v, want %q", text, why, want)
		}
	}
}
