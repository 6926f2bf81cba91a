package format

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/scale"
)

// counting returns a sequence in memory, by scope.
func counting() Sequence {
	counts := map[Scope]uint64{}
	return func(_ context.Context, scope Scope) (uint64, error) {
		counts[scope]++
		return counts[scope], nil
	}
}

var at = time.Date(2017, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

func TestExamples(t *testing.T) {
	given := Values{Now: at, Context: map[string]string{"area": "010", "branch": "6541", "shop": "TMAL"}, Gene: 0x3eab, Width: gene.W16}
	for text, want := range map[string][]string{
		"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}":         {"2017030400001", "2017030400002"},
		"{context:area:3}-{context:branch:4}-{seq:5}": {"010-6541-00001", "010-6541-00002"},
		"QJ{seq:6}":                {"QJ000001", "QJ000002"},
		"SN-{seq}-{check:9,31,10}": {"SN-1-9", "SN-2-8", "SN-3-7", "SN-4-5"},
		"SN-{check:9,31,10}-{seq}": {"SN-9-1", "SN-8-2"},
		"{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8,per=yyMMddHHmm}":                          {"170304050607089TMAL00000001"},
		"{context:area:3,exact}-{context:branch:4}-{seq:5,per=context:area,per=context:branch}": {"010-6541-00001", "010-6541-00002"},
		"{gene}{seq:4}": {"3eab0001"},
	} {
		template, err := Parse(text, Parts())
		if err != nil {
			t.Error(err)
			continue
		}
		next := counting()
		for _, w := range want {
			got, err := template.Make(t.Context(), next, given)
			if err != nil || got != w {
				t.Errorf("%s: %q, %v, want %q", text, got, err, w)
			}
			if len(got) > template.Max() {
				t.Errorf("%s: %q is longer than %d", text, got, template.Max())
			}
		}
	}
	long, err := Parse("{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8,per=yyMMddHHmm}", Parts())
	if err != nil || long.Max() != 27 {
		t.Errorf("27 characters: %v, %d", err, long.Max())
	}
}

// A sequence per day restarts at 1 with the next day. 23:59:59 of one day and 00:00:00 of the next are
// distinguished by the same time that the text shows.
func TestASequencePerDay(t *testing.T) {
	template, err := Parse("{time:yyyyMMdd}-{seq:2,per=yyyyMMdd}", Parts())
	if err != nil {
		t.Fatal(err)
	}
	next, seen := counting(), map[string]bool{}
	for day := range 3 {
		for range 99 {
			got, err := template.Make(t.Context(), next, Values{Now: at.AddDate(0, 0, day)})
			if err != nil || seen[got] {
				t.Fatalf("%q, %v", got, err)
			}
			seen[got] = true
		}
	}
	if got, err := template.Make(t.Context(), next, Values{Now: at}); !errors.Is(err, ErrFull) {
		t.Errorf("the hundredth of two digits: %q, %v", got, err)
	}
}

// The day changes where the shop is.
func TestAnOffset(t *testing.T) {
	template, err := Parse("{time:yyyyMMdd,zone=+08:00}{seq:5,per=yyyyMMdd,zone=+08:00}", Parts())
	if err != nil {
		t.Fatal(err)
	}
	next := counting()
	for text, now := range map[string]time.Time{
		"2017030300001": time.Date(2017, 3, 3, 15, 59, 59, 0, time.UTC), "2017030400001": time.Date(2017, 3, 3, 16, 0, 0, 0, time.UTC),
	} {
		if got, err := template.Make(t.Context(), next, Values{Now: now}); got != text || err != nil {
			t.Errorf("at %s: %q, %v, want %q", now, got, err, text)
		}
	}
}

func TestTemplatesThatCouldRepeatAreRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"order":                             "0 sequences",
		"{time:yyyyMMddHHmmssSSS}":          "0 sequences",
		"{seq:3}{seq:4}":                    "2 sequences",
		"{seq:5,per=yyyyMMdd}":              "does not show yy",
		"{time:yyyyMM}{seq:5,per=yyyyMMdd}": "does not show dd",
		"{time:MMdd}{seq:5,per=MMdd}":       "occurs again",
		"{seq}{check:9,31}":                 "can't be told",
		"{context:a:3}{seq:5}{context:b:3}": "can't be told",
		"{time:yyyyMMdd}{context:a:3}{seq:5,per=yyyyMMdd}{context:b:3}": "can't be told",
		"{context:a:3}{time:yyyyMMdd}{context:b:3}{seq:5,per=yyyyMMdd}": "does not show",
		"{time:yyyyMMdd}{seq:5,per=yyyyMMdd,zone=+08:00}":               "does not show yy",
		"{time:yyyyMMdd,zone=Asia/Shanghai}{seq:5}":                     "a fixed offset such as +08:00",
		"{time:yyyyMMdd,zone=+15:00}{seq:5}":                            "from -12:00 to +14:00",
		"{context:shop:4}{seq}":                                         "can't be told",
		"{context:a:3}-{seq:5,per=context:b}":                           "does not show b",
		"{context:a:3}-{context:b:3}-{seq:5,per=context:a}":             "give all but one a fixed length",
		"{context:a:3}-{check:7,31}-{seq:5,per=context:a}":              "give all but one a fixed length",
		"{context:a:3}-{seq:5,per=context:}":                            "name each value once",
		"{context:a:3}-{seq:5,per=context:a,per=context:a}":             "name each value once",
		"{time:yyyyMM}{seq:5,per=yyyy,per=MM}":                          "as one layout",
		"{context:a:3}{seq:5,per=yyyyMMdd,per=context:a}":               "does not show yy",
		"{context:a:exact}{seq:5}":                                      "context:name:max,exact",
		"{seq:0}":                                                       "1 to 19 digits",
		"{seq:5,hidden=1}":                                              "6 to 19 digits",
		"{seq,hidden=1}":                                                "no part is named",
		"{seq:,hidden=1}":                                               "6 to 19 digits",
		"{seq:6,hidden}":                                                "version of the key ring",
		"{seq:6,hidden=0}":                                              "version of the key ring",
		"{seq:6,hiden=1}":                                               "per, zone and hidden",
		"{seq:6,zone=+08:00}":                                           "that of per",
		"{seq:5":                                                        "without a }",
		"seq}":                                                          "without a {",
		"{sequence}":                                                    "no part is named",
		"{time:YYYY}{seq}":                                              "use yyyy",
		"{context:shop}{seq}":                                           "context:name:max",
		"{check:9}{seq}":                                                "at least one modulus",
		"{check:9,0}{seq}":                                              "factor,modulus",
	} {
		if _, err := Parse(text, Parts()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", text, err, reason)
		}
	}
}

func TestWhatDoesNotFitIsAnError(t *testing.T) {
	template, err := Parse("{context:shop:4}-{seq:2}", Parts())
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []map[string]string{nil, {"shop": "TMALL"}} {
		if got, err := template.Make(t.Context(), counting(), Values{Context: values}); err == nil {
			t.Errorf("%v gives %q", values, got)
		}
	}
}

// Each unit has its own numbers, in each period. Values that a column can store as equal texts share a counter.
func TestASequenceForEachValue(t *testing.T) {
	template := parsed(t, "{context:unit:6}-{time:yyyy}-{seq:3,per=yyyy,per=context:unit}")
	next := counting()
	for _, c := range []struct {
		unit string
		year int
		want string
	}{
		{"A", 0, "A-2017-001"}, {"B", 0, "B-2017-001"}, {"A", 0, "A-2017-002"}, {"a", 0, "a-2017-003"}, {"A ", 0, "A -2017-004"},
		{"A", 1, "A-2018-001"}, {"A-2017", 1, "A-2017-2018-001"}, {"A", 0, "A-2017-005"},
	} {
		got, err := template.Make(t.Context(), next, Values{Now: at.AddDate(c.year, 0, 0), Context: map[string]string{"unit": c.unit}})
		if err != nil || got != c.want {
			t.Errorf("%q in %d: %q, %v, want %q", c.unit, 2017+c.year, got, err, c.want)
		}
	}
	for unit, reason := range map[string]string{"": "is empty", "  ": "is empty", "é": "not printable ASCII", "A\x00": "not printable ASCII", "TOOLONG": "at most 6"} {
		var refused ValueError
		if got, err := template.Make(t.Context(), next, Values{Now: at, Context: map[string]string{"unit": unit}}); !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q gives %q, %v, want %q", unit, got, err, reason)
		}
	}
	exact := parsed(t, "{context:unit:3,exact}{seq:3}")
	for _, unit := range []string{"ab", "abcd"} {
		if got, err := exact.Make(t.Context(), next, Values{Context: map[string]string{"unit": unit}}); err == nil {
			t.Errorf("%q of exactly 3 gives %q", unit, got)
		}
	}
}

// Whatever the values, with a counter for each no text comes twice, also in a column that takes a and A for the same.
func TestNoTextTwiceOfSeveralCounters(t *testing.T) {
	pieces := []string{"1", "A", "-", "{context:a:3}", "{context:b:2,exact}", "{context:a:2,exact}", "{context:b:3}", "{time:yyMMdd}", "{check:7,10}"}
	sequences := []string{"{seq,per=context:a}", "{seq:,per=context:a}", "{seq:2,per=context:a}", "{seq:2,per=context:a,per=context:b}", "{seq:3,per=yyMMdd,per=context:b}"}
	random, tried := rand.New(rand.NewPCG(1, 2)), 0
	for range scale.Of(3000, 100_000) {
		template := randomTemplate(random, pieces, sequences)
		if template == nil {
			continue
		}
		numbers, seen := counting(), map[string]string{}
		for range 60 {
			given := Values{Now: at.AddDate(0, 0, random.IntN(3)), Context: map[string]string{"a": unit(random), "b": unit(random)}}
			text, err := template.Make(t.Context(), numbers, given)
			if err != nil {
				continue
			}
			tried++
			stored := strings.ToLower(strings.TrimRight(text, " "))
			if before, twice := seen[stored]; twice {
				t.Fatalf("%s gives %q and %q", template, before, text)
			}
			seen[stored] = text
		}
	}
	if tried < 1000 {
		t.Errorf("%d texts", tried)
	}
}

// unit returns a short value. Many are alike.
func unit(random *rand.Rand) string {
	const letters = "1-aA "
	text := make([]byte, 1+random.IntN(3))
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return string(text)
}

// A custom part is a function that is registered by name.
func ExampleRegistry_With() {
	luhn := func(string) (Part, error) {
		return Part{Max: 1, Stage: Calculated, Text: func(_ context.Context, v *Values) (string, error) {
			sum, double := uint64(0), true
			for n := v.Sequence; n > 0; n /= 10 {
				d := n % 10
				if double {
					d = d*2/10 + d*2%10
				}
				sum, double = sum+d, !double
			}
			return fmt.Sprint((10 - sum%10) % 10), nil
		}}, nil
	}
	template, err := Parse("C-{seq:6}-{luhn}", Parts().With("luhn", luhn))
	if err != nil {
		panic(err)
	}
	number := uint64(7992738)
	text, err := template.Make(context.Background(), func(context.Context, Scope) (uint64, error) { number++; return number % 1_000_000, nil }, Values{})
	fmt.Println(text, err)
	// Output: C-992739-3 <nil>
}
