package catalog

import (
	"fmt"
	"strings"
	"testing"

	"locus/router/stmt"
)

// Shards with the same text share its content. With another sql_mode, the content is another one.
func TestATextIsReadOnce(t *testing.T) {
	const query = "select `shop`.`a`.`x` AS `x` from `shop`.`a` where \"y\" = 1"
	one, other := readText(query, 0), readText(strings.Clone(query), 0)
	if one.content != other.content || one == other {
		t.Errorf("%p and %p say %p and %p", one, other, one.content, other.content)
	}
	if quoted := readText(query, stmt.AnsiQuotes); quoted.content == one.content || one.words["y"] || !quoted.words["y"] {
		t.Errorf("words are %v, and with ANSI_QUOTES %v", one.words, quoted.words)
	}
}

// The size of the cache of texts is limited.
func TestTextsAreForgotten(t *testing.T) {
	c := contents{known: map[body]*content{}, most: 1 << 10}
	for i := range 40 {
		text := fmt.Sprintf("select '%d%s'", i, strings.Repeat("x", c.most/16))
		if first := c.of(body{text: text}); c.of(body{text: text}) != first {
			t.Errorf("text %d is read twice", i)
		}
		held := 0
		for b := range c.known {
			held += len(b.text)
		}
		if held > c.most || held != c.size {
			t.Fatalf("after %d texts %d bytes are kept, and %d are counted", i+1, held, c.size)
		}
	}
	c.of(body{text: strings.Repeat("y", c.most+1)})
	c.of(body{text: "select 1"})
	if len(c.known) != 1 || c.size != len("select 1") {
		t.Errorf("after a long text %d are kept, of %d bytes", len(c.known), c.size)
	}
}
