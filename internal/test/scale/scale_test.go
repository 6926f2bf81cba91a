package scale

import "testing"

func TestIsLong(t *testing.T) {
	for _, test := range []struct {
		set          string
		tagged, want bool
	}{
		{"", false, false}, {"", true, true}, {"short", true, false}, {"short", false, false}, {"long", false, true}, {"long", true, true},
	} {
		if got := isLong(test.set, test.tagged); got != test.want {
			t.Errorf("isLong(%q, %v) is %v", test.set, test.tagged, got)
		}
	}
}

func TestUnknownScalePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	isLong("Long", false)
}

func TestOf(t *testing.T) {
	want := 1
	if Long() {
		want = 2
	}
	if got := Of(1, 2); got != want {
		t.Errorf("Of returns %d, want %d", got, want)
	}
}
