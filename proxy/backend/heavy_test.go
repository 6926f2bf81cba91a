package backend

import (
	"strings"
	"testing"
)

// The memory of a connection for prepared statements is limited by the length of their texts as well.
func TestStatementsAreBoundedByTheirTexts(t *testing.T) {
	l := statements{limit: 100}
	add := func(sql string) (closed int) {
		key := text{under: Default, sql: sql}
		closed = len(l.makeRoom(key))
		l.add(&Statement{key: key})
		return closed
	}
	third := mostText / 3
	for i := range 3 {
		if n := add(strings.Repeat("x", third-i)); n != 0 {
			t.Errorf("%d are closed for the %d. text", n, i+1)
		}
	}
	if n := add("SELECT 1" + strings.Repeat(" ", third-20)); n != 1 || l.len() != 3 || l.tooLong() {
		t.Errorf("%d are closed, %d are left of %d bytes", n, l.len(), l.bytes)
	}
	if n := add(strings.Repeat("y", 2*mostText)); n != 3 || l.len() != 1 || !l.tooLong() {
		t.Errorf("a long text: %d are closed, %d are left of %d bytes", n, l.len(), l.bytes)
	}
	if n := add("SELECT 2"); n != 1 || l.bytes != len("SELECT 2") {
		t.Errorf("behind a long text: %d are closed, %d bytes are left", n, l.bytes)
	}
	l.giveUp()
	if l.bytes != 0 || l.len() != 0 {
		t.Errorf("%d bytes of %d", l.bytes, l.len())
	}
}

// A returned connection is reset if its session state is large.
func TestAConnectionIsLentLight(t *testing.T) {
	for what, c := range map[string]*Conn{
		"a value": {settings: Default.With("@a", "'"+strings.Repeat("x", mostText)+"'")},
		"a text":  {prepared: statements{bytes: mostText + 1}},
	} {
		if c.lighten(); c.left&leftState == 0 {
			t.Errorf("%s stays on it", what)
		}
	}
	c := &Conn{settings: Default.With("@a", "'x'"), out: make([]byte, 0, mostText+1)}
	if c.lighten(); c.left != 0 || c.out != nil {
		t.Errorf("a small value: left %d, and a buffer of %d", c.left, cap(c.out))
	}
}
