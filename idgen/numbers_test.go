package idgen

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A run longer than a source returns at once is split into several. An error of any of them is the call's
// error.
func TestRunsOfAtMost(t *testing.T) {
	var asked []int
	next, fails := uint64(1), errors.New("no more")
	r := Run{Most: 10, Take: func(_ context.Context, n int) (uint64, error) {
		if asked = append(asked, n); next > 40 {
			return 0, fails
		}
		next += uint64(n) + 5 // others take some
		return next - uint64(n), nil
	}}
	into := make([]uint64, 25)
	if err := r.Fill(t.Context(), into); err != nil || !slices.Equal(asked, []int{10, 10, 5}) {
		t.Errorf("asked for %v, %v", asked, err)
	}
	for i := range into[1:] {
		if into[i+1] <= into[i] {
			t.Errorf("%v", into)
		}
	}
	if err := r.Fill(t.Context(), into); !errors.Is(err, fails) {
		t.Error(err)
	}
	if err := r.Fill(t.Context(), nil); err != nil || len(asked) != 4 {
		t.Errorf("asked %v for none, %v", asked, err)
	}
}
