package catalog

import (
	"reflect"
	"strings"
	"testing"
)

// oddNames are names that servers accept.
var oddNames = []string{
	"t", "x y", " x", "a.b", ".", "a`b", "`", "``", "it's", `say "x"`, "a/b", "/", "a%b", "%2F", "a%2Fb", "größe", "表", "😀", "A", "a", "a;b", "a,b", "a=b", "--", "#x", "a\\b", "a\u00a0b", "-", "0x1", strings.Repeat("n", 64), strings.Repeat("é", 64),
}

func TestNamesAreReadAsTheyAreWritten(t *testing.T) {
	texts, keys := map[string]TableName{}, map[string]TableName{}
	for _, schema := range oddNames {
		for _, table := range oddNames {
			n := TableName{schema, table}
			if err := n.Validate(); err != nil {
				t.Errorf("%+v: %v", n, err)
			}
			if again, err := ParseTableName(n.String()); err != nil || again != n {
				t.Errorf("%+v is written %q, which is read as %+v, %v", n, n, again, err)
			}
			if again, err := ParseTableKey(n.Key()); err != nil || again != n {
				t.Errorf("%+v has the key %q, which is read as %+v, %v", n, n.Key(), again, err)
			}
			if strings.Contains(n.Key(), "/") {
				t.Errorf("%+v has a slash in its key %q", n, n.Key())
			}
			if other, taken := texts[n.String()]; taken {
				t.Errorf("%+v and %+v are both written %q", n, other, n)
			}
			if other, taken := keys[n.Key()]; taken {
				t.Errorf("%+v and %+v have the same key %q", n, other, n.Key())
			}
			texts[n.String()], keys[n.Key()] = n, n
		}
	}
}

// Names that earlier versions could parse have the same keys as there.
func TestKeysStayAsTheyWere(t *testing.T) {
	for _, text := range []string{"shop.orders", "a.b.c", "shop.größe", "shop.a%b", `shop."x"`, "shop.a-b", "shop.a;b"} {
		n, err := ParseTableName(text)
		if err != nil || n.Key() != text || n.String() != text {
			t.Errorf("%s: %+v has the key %s, %v", text, n, n.Key(), err)
		}
	}
	if n, err := ParseTableName("a.b.c"); err != nil || n != (TableName{"a", "b.c"}) {
		t.Errorf("%+v, %v", n, err)
	}
	if n := (TableName{"a.b", "c"}); n.String() != "`a.b`.`c`" {
		t.Errorf("%s", n)
	}
}

func TestKeysThatMeanNoTable(t *testing.T) {
	for _, key := range []string{
		"", ".", "a", "a.", ".a", "shop.x y", "shop.x`", "`shop`.`x`", "`a.b`.c", "`a.b`.`c", "`a.b`.`c`d", "`a b`.`c`", "`a%20b`.`c`x", "``.`c d`", "`a.b`.`c%2f`", "`a.b`.`%c`", "\x00\xff", "a'b.c", "a\nb.c",
	} {
		if n, err := ParseTableKey(key); err == nil {
			t.Errorf("%q is read as %+v", key, n)
		}
	}
	for text, want := range map[string]TableName{
		"`shop`.`x`": {"shop", "x"}, "shop.`x y`": {"shop", "x y"}, "`a.b`.c": {"a.b", "c"}, "`a``b`.`c/d`": {"a`b", "c/d"}, "`a b`.c.d": {"a b", "c.d"},
	} {
		if n, err := ParseTableName(text); err != nil || n != want {
			t.Errorf("%s is read as %+v, %v", text, n, err)
		}
	}
}

func TestNamesThatCannotBeDeclared(t *testing.T) {
	for _, bad := range []string{"a\nb", "a\x00", "\x1b[2J", "a\xffb", "a ", strings.Repeat("n", 65), "\u0085"} {
		if (TableName{bad, "t"}).Validate() == nil || (TableName{"s", bad}).Validate() == nil {
			t.Errorf("%q can be declared", bad)
		}
		if err := (Declaration{Kind: Sharded, Owner: bad}).Validate(); err == nil {
			t.Errorf("column %q can be declared", bad)
		}
	}
}

func TestWordsWithOddColumns(t *testing.T) {
	for _, column := range oddNames[:len(oddNames)-2] { // without the longest
		d := Declaration{Kind: Sharded, Owner: column, ID: &IDColumn{Column: "i" + column, Layout: "int64"}, OrderNumber: "n" + column, Stamped: map[string]string{"s" + column: "g"}}
		again, err := ParseWords(d.Words())
		if err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%+v is written %q, which is read as %+v, %v", d, d.Words(), again, err)
		}
		words, declares := CommentWords("locus: " + d.Words() + "; for people: `x")
		if again, err := ParseWords(words); !declares || err != nil || !reflect.DeepEqual(d, again) {
			t.Errorf("%q is said as %q: %+v, %v", d.Words(), words, again, err)
		}
	}
	for _, words := range []string{"owner=`a", "owner=`a`b", "owner=``", "stamped.`a=g", "owner=a b"} {
		if d, err := ParseWords(words); err == nil {
			t.Errorf("%s: %+v", words, d)
		}
	}
}
