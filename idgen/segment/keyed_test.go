package segment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The clocks of the processes differ, the store loses answers, and some processes are restarted. In each
// period, no number of a key is returned twice, and each key starts at 1.
func TestEachKeyHasItsOwnNumbers(t *testing.T) {
	for _, faults := range []int{0, 20} {
		for _, timed := range []bool{false, true} {
			t.Run(fmt.Sprintf("faults=%d,timed=%v", faults, timed), func(t *testing.T) { testKeyed(t, faults, timed) })
		}
	}
}

func testKeyed(t *testing.T, faults int, timed bool) {
	store := newFakeKV()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	seen, first := map[string]bool{}, map[Period]uint64{}
	rng := rand.New(rand.NewPCG(7, 7))
	chance := rand.New(rand.NewPCG(8, 8)) // a source of its own, because background loads fail too
	store.fault = func(string) fault {
		if faults == 0 || chance.IntN(faults) > 0 {
			return noFault
		}
		return fault(chance.IntN(4))
	}
	var processes [4]*Periods
	for step := range 15_000 {
		i := rng.IntN(len(processes))
		if processes[i] == nil || rng.IntN(500) == 0 {
			cas := NewCASStore(store, "", fmt.Sprint(i), time.Now)
			cas.pause = 1
			if processes[i] != nil {
				processes[i].Close()
			}
			processes[i] = NewPeriods(Keyed{cas, 40}, "bill", Options{MaxStep: 64, Preload: []int{0, 20, 80}[rng.IntN(3)]})
		}
		at := start.Add(time.Duration(step) * 500 * time.Millisecond).Add(time.Duration(i-2) * 70 * time.Second)
		of := Period{Key: fmt.Sprintf("unit-%d", rng.IntN(40)), At: at}
		if timed {
			of.Name = minutes(at)
		}
		n, err := processes[i].Next(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		of.At = time.Time{}
		if text := fmt.Sprint(of, n); seen[text] {
			t.Fatalf("%s came twice", text)
		} else {
			seen[text] = true
		}
		if first[of] == 0 || n < first[of] {
			first[of] = n
		}
	}
	for of, n := range first {
		if n != 1 && faults == 0 { // else it may be lost
			t.Errorf("%v begins at %d", of, n)
		}
	}
	if len(store.values) > 40 {
		t.Errorf("%d keys for 40 keys", len(store.values))
	}
	for key, value := range store.values {
		if counters := strings.Count(string(value.text), "unit-"); counters > 2*roomFor(40)+1 {
			t.Errorf("%s has %d counters: those of periods that are over are not removed", key, counters)
		}
	}
	if !timed {
		return
	}
	store.fault = nil
	for key := range 40 {
		old := Period{Name: minutes(start.Add(time.Minute)), At: start.Add(time.Minute), Key: fmt.Sprintf("unit-%d", key)}
		if n, err := processes[1].Next(t.Context(), old); !errors.Is(err, ErrPeriodOver) {
			t.Errorf("a period that is long over gives %d, %v", n, err)
		}
	}
}

// A new key that would be one too many is refused. As many as declared have room, and keys that were used before go on.
func TestKeysAreBounded(t *testing.T) {
	store := newFakeKV()
	p := NewPeriods(Keyed{NewCASStore(store, "", "p", time.Now), 5000}, "bill", Options{})
	key := func(i int) Period { return Period{Key: fmt.Sprint("unit", i), At: time.Unix(1, 0)} }
	refused := 0
	for i := range 30_000 {
		_, err := p.Next(t.Context(), key(i))
		switch {
		case errors.Is(err, ErrTooManyKeys):
			refused++
		case err != nil:
			t.Fatal(err)
		}
		if refused > 0 && i < 5000 {
			t.Fatalf("key %d of 5,000 has no room", i)
		}
	}
	if accepted := 30_000 - refused; accepted > keyedParts*roomFor(5000) {
		t.Errorf("%d keys are accepted for 5,000", accepted)
	}
	if n, err := p.Next(t.Context(), key(0)); n != 2 || err != nil {
		t.Errorf("a key that was used before: %d, %v", n, err)
	}
	if held := len(p.held); held > keysHeld {
		t.Errorf("%d segments are held in memory", held)
	}
}

// One part with little room, many keys and callers that are late: each key's numbers in a period rise as long as it has some.
func TestNoPeriodBeginsAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var r keyedRecord
		highest, now, over := map[Period]uint64{}, int64(1000), 0
		for range 400 {
			now += rng.Int64N(3)
			at := now - rng.Int64N(40)
			of := Period{Name: fmt.Sprint(at / 10), Key: fmt.Sprint(rng.IntN(6))}
			bound, err := r.extend(Period{of.Name, time.UnixMilli(at), of.Key}, 1, 4)
			switch {
			case errors.Is(err, ErrPeriodOver):
				over++
			case errors.Is(err, ErrTooManyKeys):
			case err != nil:
				t.Fatal(err)
			case bound != highest[of]+1:
				t.Fatalf("%v has number %d after %d", of, bound, highest[of])
			default:
				highest[of] = bound
			}
		}
		if r.keys() > 8 && len(r.Periods) > 2 {
			t.Fatalf("%d counters of %d periods", r.keys(), len(r.Periods))
		}
		if over == 0 {
			t.Fatal("no caller was too late")
		}
	}
}

// A store that was restored from a backup repeats no number.
func TestKeyedStoreThatWentBack(t *testing.T) {
	store := newFakeKV()
	keyed := Keyed{NewCASStore(store, "", "p", time.Now), 10}
	of := Period{Key: "unit", At: time.Unix(1, 0)}
	for range 8 {
		if _, err := keyed.ExtendPeriod(t.Context(), "bill", of, 1); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range store.values {
		store.values[key] = fakeValue{[]byte(strings.NewReplacer(`"grants":8`, `"grants":4`, `"unit":8`, `"unit":4`).Replace(string(value.text))), value.revision}
	}
	if g, err := keyed.ExtendPeriod(t.Context(), "bill", of, 1); !errors.Is(err, ErrWentBack) {
		t.Errorf("the store grants %v again, %v", g, err)
	}
}
