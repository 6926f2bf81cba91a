package plan

import (
	"bytes"
	"errors"
	"testing"

	"locus/router/stmt"
)

func TestPlansAreKeptApartByRights(t *testing.T) {
	key := AppendContext([]byte("select"), "shop", 0)
	a := AppendRights(bytes.Clone(key), &Rights{ID: 1})
	b := AppendRights(bytes.Clone(key), &Rights{ID: 2})
	if bytes.Equal(a, b) || bytes.Equal(a, key) || !bytes.Equal(AppendRights(bytes.Clone(key), nil), key) {
		t.Errorf("keys %q, %q, %q", key, a, b)
	}
}

// What can't be read can't be allowed.
func TestAnUnreadableTextIsDenied(t *testing.T) {
	for _, text := range []string{"FROBNICATE the_server", "HANDLER t OPEN", "SELECT 1 /*!80000 , 2 */"} {
		var l stmt.Lexed
		l.Lex([]byte(text), 0)
		_, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop", Rights: &Rights{ID: 1, User: "u", NoDDL: true}})
		var denied *Denied
		if !errors.As(err, &denied) || denied.Number != erTableDenied {
			t.Errorf("%s: %v", text, err)
		}
	}
}
