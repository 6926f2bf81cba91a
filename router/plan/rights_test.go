package plan

import (
	"bytes"
	"errors"
	"testing"

	"locus/router/catalog"
	"locus/router/stmt"
)

func TestRightsInKeys(t *testing.T) {
	key := AppendContext([]byte("select"), "shop", 0)
	a := AppendRights(bytes.Clone(key), &Rights{ID: 1})
	b := AppendRights(bytes.Clone(key), &Rights{ID: 2})
	if bytes.Equal(a, b) || bytes.Equal(a, key) || !bytes.Equal(AppendRights(bytes.Clone(key), nil), key) {
		t.Errorf("keys %q, %q, %q", key, a, b)
	}
}

// A text that can't be read can't be allowed.
func TestUnreadableTextIsDenied(t *testing.T) {
	for _, text := range []string{"FROBNICATE the_server", "HANDLER t OPEN"} {
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		_, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop", Rights: &Rights{ID: 1, User: "u", NoDDL: true}})
		var denied *Denied
		if !errors.As(err, &denied) || denied.Number != erTableDenied {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A user with rights to a part can query and see that part.
func TestNarrow(t *testing.T) {
	part := &Rights{ID: 1, User: "u", Tables: map[catalog.TableName]bool{{Schema: "shop", Name: "a"}: true}}
	const shop, a = "X'73686f70'", "X'61'"
	own := "CAST(`TABLE_SCHEMA` AS BINARY) IN (X'696e666f726d6174696f6e5f736368656d61', X'494e464f524d4154494f4e5f534348454d41')" +
		" OR CAST(`TABLE_SCHEMA` AS BINARY) IN (" + shop + ") AND CAST(`TABLE_NAME` AS BINARY) IN (" + a + ")"
	for text, want := range map[string]string{
		"SHOW TABLES":                         "SHOW TABLES WHERE CAST(`Tables_in_shop` AS BINARY) IN (" + a + ")",
		"SHOW FULL TABLES LIKE '%x' ":         "SHOW FULL TABLES WHERE `Tables_in_shop` LIKE '%x' AND CAST(`Tables_in_shop` AS BINARY) IN (" + a + ") ",
		"SHOW TABLE STATUS WHERE 1 OR 0":      "SHOW TABLE STATUS WHERE ( 1 OR 0) AND CAST(`Name` AS BINARY) IN (" + a + ")",
		"SHOW EVENTS":                         "SHOW EVENTS WHERE CAST(`Db` AS BINARY) IN (X'696e666f726d6174696f6e5f736368656d61', X'494e464f524d4154494f4e5f534348454d41')",
		"SHOW TABLES FROM information_schema": "SHOW TABLES FROM information_schema",
		"SELECT 1 FROM information_schema.tables t, information_schema.engines": "SELECT 1 FROM (SELECT * FROM information_schema.tables WHERE (" + own + ")) t, information_schema.engines",
		"SELECT (SELECT COUNT(*) FROM information_schema.columns)":              "SELECT (SELECT COUNT(*) FROM (SELECT * FROM information_schema.columns WHERE (" + own + ") AND COLUMN_NAME <> 'locus_gene') AS `columns`) AS `(SELECT COUNT(*) FROM information_schema.columns)`",
	} {
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		p, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop", Rights: part})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, from := "", 0
		for _, s := range p.(*OneShard).Added {
			got += text[from:l.Offset(s.At)] + s.Text
			from = l.Offset(s.At)
		}
		if got += text[from:]; got != want {
			t.Errorf("%s becomes\n%s, want\n%s", text, got, want)
		}
	}
	for _, text := range []string{"SHOW CHARACTER SET", "SHOW COLLATION LIKE 'utf8%'", "SHOW ENGINES"} { // of no database
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		p, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop", Rights: part})
		if _, all := p.(*AnyShard); err != nil || !all {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
	for _, text := range []string{
		"SELECT * FROM information_schema.innodb_metrics", "DO (SELECT 1 FROM information_schema.tables)",
		"INSERT INTO a SELECT table_name FROM information_schema.tables", "EXPLAIN SELECT 1 FROM information_schema.views",
	} {
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		_, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop", Rights: part})
		if _, denied := errors.AsType[*Denied](err); !denied {
			t.Errorf("%s: %v", text, err)
		}
	}
}
