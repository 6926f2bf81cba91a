package format

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/cipher"
)

// keys is the key ring of docs/reference/generators.md.
const keys = `current: 2
keys:
  - {version: 1, key: 2b7e151628aed2a6abf7158809cf4f3c}
  - {version: 2, key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94}
`

func ring(t testing.TB) *cipher.Ring {
	t.Helper()
	r, err := cipher.Parse([]byte(keys))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func numbered(n uint64) Sequence {
	return func(context.Context, Scope) (uint64, error) { return n, nil }
}

const hiddenWaybill = "{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8,per=yyMMddHHmm,hidden=1}"

// Hidden numbers never change: these texts are in the documentation.
func TestHiddenSequences(t *testing.T) {
	given := Values{Now: at, Context: map[string]string{"shop": "TMAL"}, Name: "waybill", Hider: ring(t)}
	for _, golden := range []struct {
		template string
		n        uint64
		want     string
	}{
		{hiddenWaybill, 1, "170304050607089TMAL71347043"},
		{hiddenWaybill, 2, "170304050607089TMAL40123425"},
		{"W{seq:12,hidden=2}-{check:9,31,10}", 1, "W047568477658-1"},
		{"{time:yyyyMMdd,zone=+08:00}{seq:6,hidden=1,per=yyyyMMdd,zone=+08:00}", 999_999, "20170304353132"},
	} {
		template, err := Parse(golden.template, Parts())
		if err != nil {
			t.Fatal(err)
		}
		text, err := template.Make(t.Context(), numbered(golden.n), given)
		if err != nil || text != golden.want {
			t.Errorf("%s of %d: %q, %v, want %q", golden.template, golden.n, text, err, golden.want)
			continue
		}
		if _, n, err := template.Read(text, given); n != golden.n || err != nil {
			t.Errorf("%q is read as %d, %v, want %d", text, n, err, golden.n)
		}
	}
	template, err := Parse(hiddenWaybill, Parts())
	if err != nil || template.Max() != 27 {
		t.Errorf("27 characters: %d, %v", template.Max(), err)
	}
	given.Hider = nil
	if text, err := template.Make(t.Context(), numbered(1), given); err == nil {
		t.Errorf("without keys: %q", text)
	}
}

// All sequences of a period are hidden differently, and each can be decoded. In another period, or another
// generator, the same sequence is hidden differently.
func TestHiddenSequencesAreDistinct(t *testing.T) {
	template, err := Parse("{time:yyyyMMdd}{seq:6,per=yyyyMMdd,hidden=1}", Parts())
	if err != nil {
		t.Fatal(err)
	}
	given, seen := Values{Now: at, Name: "daily", Hider: ring(t)}, make([]bool, 1_000_000)
	for n := range uint64(50_000) {
		text, err := template.Make(t.Context(), numbered(n), given)
		if err != nil {
			t.Fatal(err)
		}
		var shown int
		if _, err := fmt.Sscanf(text, "20170304%d", &shown); err != nil || seen[shown] {
			t.Fatalf("%d is hidden as %s, as another one is, %v", n, text, err)
		}
		seen[shown] = true
	}
	if _, err := template.Make(t.Context(), numbered(1_000_000), given); !errors.Is(err, ErrFull) {
		t.Errorf("a sequence of 7 digits: %v", err)
	}
	alike := 0
	for n := range uint64(1000) {
		one, _ := template.Make(t.Context(), numbered(n), given)
		next, _ := template.Make(t.Context(), numbered(n), Values{Now: at.AddDate(0, 0, 1), Name: "daily", Hider: ring(t)})
		other, _ := template.Make(t.Context(), numbered(n), Values{Now: at, Name: "other", Hider: ring(t)})
		if one[8:] == next[8:] || one == other {
			alike++
		}
	}
	if alike > 3 {
		t.Errorf("%d of 1,000 sequences are hidden alike by another day or generator", alike)
	}
}

// The texts that a template makes can be read back.
func TestReadsWhatIsMade(t *testing.T) {
	keys := ring(t)
	templates := []string{
		"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}", "{context:area:3}-{seq:7}", "QJ{seq:7}", "SN-{seq}-{check:9,31,10}", "{seq}", "{seq}X{context:a:9}",
		"{context:a:9}X{seq}", hiddenWaybill, "{time:yyyy-MM-dd}/{context:shop:4}/{seq:9,per=yyyyMM,hidden=2}{check:7,10}", "{seq:7,hidden=1}{context:a:20}",
		"{context:unit:4,exact}{context:b:9}-{time:yyyy}-{seq:7,per=yyyy,per=context:unit,per=context:b,hidden=1}",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(templates).Draw(t, "template")
		template, err := Parse(text, Parts())
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.StringMatching("[a-zA-Z]{0,3}")
		given := Values{
			Now: time.UnixMilli(rapid.Int64Range(946_684_800_000, 4_000_000_000_000).Draw(t, "time")), Name: "g", Hider: keys,
			Context: map[string]string{"area": value.Draw(t, "area"), "shop": value.Draw(t, "shop"), "a": value.Draw(t, "a"), "unit": "Ab-1", "b": "B" + value.Draw(t, "b")},
		}
		n := rapid.Uint64Range(0, 9999).Draw(t, "n")
		made, err := template.Make(context.Background(), numbered(n), given)
		if err != nil {
			t.Fatal(err)
		}
		fields, read, err := template.Read(made, given)
		if err != nil || read != n {
			t.Fatalf("%q of %s is read as %d, %v, want %d", made, text, read, err, n)
		}
		for _, f := range fields {
			if want, isContext := given.Context[f.Name]; isContext && f.Text != want {
				t.Fatalf("%q of %s: %s is read as %q, want %q", made, text, f.Name, f.Text, want)
			}
		}
	})
}

func TestTextsThatWereNotMade(t *testing.T) {
	for _, c := range []struct{ template, text, reason string }{
		{"QJ{seq:6}", "QK000001", "no such text"},
		{"QJ{seq:6}", "QJ00001", "no such text"},
		{"QJ{seq:6}", "QJ0000011", "no such text"},
		{"QJ{seq:6}", "QJ00000x", "is no number"},
		{"QJ{seq}", "QJ007", "no such text"},
		{"QJ{seq}", "QJ", "no such text"},
		{"SN-{seq}-{check:9,31,10}", "SN-1-8", "a digit is wrong"},
		{"{context:a:3}{seq:5}", "TMALL00001", "no such text"},
		{"{seq:5}{context:a:3}{context:b:3}", "00001abcd", "can't be told"},
		{"{seq:8,hidden=7}", "00000001", "key version 7 is not in the key ring"},
	} {
		template, err := Parse(c.template, Parts())
		if err != nil {
			t.Fatal(err)
		}
		if fields, n, err := template.Read(c.text, Values{Hider: ring(t)}); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q as %s: %v, %d, %v, want %q", c.text, c.template, fields, n, err, c.reason)
		}
	}
}

func TestFields(t *testing.T) {
	template, err := Parse("{time:yyyyMMdd}-{context:shop:4}-{seq:5}", Parts())
	if err != nil {
		t.Fatal(err)
	}
	fields, n, err := template.Read("20170304-TMAL-00017", Values{})
	if want := []Field{{"time", "20170304"}, {"shop", "TMAL"}, {"seq", "00017"}}; !slices.Equal(fields, want) || n != 17 || err != nil {
		t.Errorf("%v, %d, %v, want %v", fields, n, err, want)
	}
}

func BenchmarkMake(b *testing.B) {
	template, err := Parse("B{seq:14}", Parts())
	if err != nil {
		b.Fatal(err)
	}
	n := uint64(0)
	next := func(context.Context, Scope) (uint64, error) { n++; return n, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := template.Make(context.Background(), next, Values{Now: at}); err != nil {
			b.Fatal(err)
		}
	}
}
