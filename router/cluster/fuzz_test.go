package cluster

import (
	"os"
	"testing"
)

// Every text is either refused, or has the same meaning after the cluster is written and read again.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("routes: [0xffff s0]\nshards: {s0: {address: 'a:1', user: u, secret: s}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(Format(c))
		if err != nil {
			t.Fatalf("%v in\n%s", err, Format(c))
		}
		if changes, err := Diff(c, again); err != nil || changes != nil {
			t.Fatalf("differences %v, %v", changes, err)
		}
	})
}
