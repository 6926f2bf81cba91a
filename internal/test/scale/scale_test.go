package scale

import "testing"

func TestScaleOf(t *testing.T) {
	for _, test := range []struct{ set, tagged, want string }{
		{"", "quick", "quick"}, {"", "short", "short"}, {"", "long", "long"}, {"short", "long", "short"}, {"long", "quick", "long"}, {"quick", "short", "quick"},
	} {
		if got := scaleOf(test.set, test.tagged); got != test.want {
			t.Errorf("scaleOf(%q, %q) is %s", test.set, test.tagged, got)
		}
	}
}

func TestUnknownScalePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	scaleOf("lnog", "short")
}

func TestQuickIsTheSmallestScale(t *testing.T) {
	if want := current == "quick"; Quick(true, false) != want || Of(false, true) != Long() {
		t.Errorf("in the scale %s, Quick is %v", current, Quick(true, false))
	}
}
