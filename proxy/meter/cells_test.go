package meter

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyTime() *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		exact := rapid.SampledFrom([]float64{0.0001, 0.001, 0.0025, 0.5, 1, 60, 0.25, 2, NativeZero}).Draw(t, "bound")
		return rapid.OneOf(
			rapid.Just(time.Duration(exact*1e9)), rapid.Just(time.Duration(exact*1e9)+1),
			rapid.Custom(func(t *rapid.T) time.Duration {
				return time.Duration(math.Exp(rapid.Float64Range(0, math.Log(1e12)).Draw(t, "ln")))
			}),
		).Draw(t, "took")
	})
}

// TestBothKindsOfBucketsAreExact: native and classic buckets equal a plain count of the times, also for times that are bounds.
func TestBothKindsOfBucketsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(anyTime(), 1, 50).Draw(t, "times")
		var c cells
		for _, took := range times {
			c.add(grid.of(took), took)
		}
		var d Distribution
		d.take(&c)
		classic := d.Classic()
		if len(classic) != len(Bounds) || d.Count != uint64(len(times)) {
			t.Fatalf("%d bounds, %d times", len(classic), d.Count)
		}
		for bound, n := range classic {
			if want := uint64(len(slices.DeleteFunc(slices.Clone(times), func(d time.Duration) bool { return float64(d)/1e9 > bound }))); n != want {
				t.Fatalf("%d up to %v s, of %v: %d", n, bound, times, want)
			}
		}
		zero, native := d.Native()
		for _, took := range times {
			seconds := float64(took) / 1e9
			if seconds <= NativeZero {
				zero--
				continue
			}
			index := int(math.Ceil(math.Log2(seconds) * 8))
			for math.Exp2(float64(index)/8) < seconds { // corrects the rounding of the logarithm
				index++
			}
			for math.Exp2(float64(index-1)/8) >= seconds {
				index--
			}
			native[min(index, highestOctave*nativePerOctave)]--
		}
		for index, n := range native {
			if n != 0 || zero != 0 {
				t.Fatalf("%d too many in bucket %d, %d about zero, of %v", n, index, zero, times)
			}
		}
	})
}

func TestQuantiles(t *testing.T) {
	var c cells
	for ms := range 1000 {
		took := time.Duration(ms+1) * time.Millisecond
		c.add(grid.of(took), took)
	}
	var d Distribution
	d.take(&c)
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond, 0: 0} {
		got := Quantile(d.Times(), share)
		if share > 0 && (got < want || float64(got) > 1.12*float64(want)) {
			t.Errorf("%v of them within %v, not %v", share, got, want)
		}
	}
	three := []Times{{1, 1}, {2, 1}, {3, 1}}
	if got := Quantile(three, 0.5); got != 2 {
		t.Errorf("half of three are within %d", got)
	}
	if Quantile(nil, 0.5) != 0 {
		t.Error("nothing takes a time")
	}
}

// TestTimesAddUp: SinceTimes reverses AddTimes.
func TestTimesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := func(name string) []Times {
			var c cells
			for _, took := range rapid.SliceOfN(anyTime(), 0, 20).Draw(t, name) {
				c.add(grid.of(took), took)
			}
			var d Distribution
			d.take(&c)
			return d.Times()
		}
		a, b := list("a"), list("b")
		sum := AddTimes(a, b)
		since, later := SinceTimes(sum, a)
		if !later || !slices.Equal(since, b) {
			t.Fatalf("%v and %v are %v, and since the first %v (%v)", a, b, sum, since, later)
		}
		if _, later := SinceTimes(a, sum); later != (len(b) == 0) {
			t.Fatalf("%v is later than %v: %v", a, sum, later)
		}
	})
}
