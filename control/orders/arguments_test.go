package orders

import (
	"testing"

	"locus/router/stmt"
)

// An argument that is left out has its default; one that says nothing, in SQL, is wrong:
// nobody's cut-over goes to 100 % by an empty text.
func TestArgumentsThatAreLeftOut(t *testing.T) {
	for what, c := range map[string]struct {
		args []stmt.Value
		want float64
		bad  bool
	}{
		"not given":       {texts([]string{"split-1"}), 100, false},
		"an empty text":   {texts([]string{"split-1", ""}), 100, false},
		"a text":          {texts([]string{"split-1", "40"}), 40, false},
		"'' in SQL":       {[]stmt.Value{{Kind: stmt.String, Text: []byte("split-1")}, {Kind: stmt.String}}, 0, true},
		"NULL in SQL":     {[]stmt.Value{{Kind: stmt.String, Text: []byte("split-1")}, {Kind: stmt.Null}}, 100, false},
		"no number":       {texts([]string{"split-1", "all"}), 0, true},
		"above its bound": {texts([]string{"split-1", "101"}), 0, true},
	} {
		call := &call{args: c.args}
		if got := call.percent(1, 100); (call.bad != "") != c.bad || !c.bad && got != c.want {
			t.Errorf("%s: %v, %q", what, got, call.bad)
		}
	}
	_, err := with(new(Procedures), "cutover", texts([]string{"split-1", ""}), "anna", func(procedure, *call) (int, error) { return 0, nil })
	if err == nil {
		t.Error("a percentage that must be given was left out")
	}
}
