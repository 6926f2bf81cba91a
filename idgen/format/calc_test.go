package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCalc(t *testing.T) {
	given := Values{Now: at, Context: map[string]string{"area": "010", "branch": "6541"}, Name: "g", Hider: ring(t)}
	for text, want := range map[string]string{
		"SN-{seq}-{calc:seq * 9 % 31 % 10}":                                    "SN-7-1",
		"SN-{calc:seq * 9 % 31 % 10}-{seq}":                                    "SN-1-7",
		"{seq:3}{calc:seq % 100}":                                              "00707",
		"{seq:3}{calc:(seq + 95) % 101}":                                       "007001",
		"{seq:3}{calc:2 + 3 * 4 - 10 / 3}":                                     "00711",
		"{seq:3}{calc:(2 + 3) * (4 - 1) % 7}":                                  "0071",
		"{seq:3}{calc:(seq - 20) % 7}":                                         "0071",
		"{seq:3}{calc:98 - seq * 100 % 97}":                                    "00777",
		"{seq:6}{calc:luhn(seq)}":                                              "0000075",
		"{seq:6}{calc:luhn(7992739000 + 871 + seq - 7)}":                       "0000073",
		"{seq:6}{calc:(10 - weighted(seq, 3, 1) % 10) % 10}":                   "0000079",
		"{seq:3}{calc:weighted(400638133393, 3, 1) % 10}":                      "0079", // EAN-13 4006381333931
		"{context:area:3}-{seq:3}{calc:(part1 + part2) % 10}":                  "010-0077",
		"{time:yyyyMMdd}{seq:3}{calc:part1 % 97}":                              "2017030400727",
		"{context:branch:4}-{seq:3}{calc:part1 * part1 % 1000}":                "6541-007681",
		"{seq:3}{calc:seq * 9223372036854775807 * 9223372036854775807 % 1000}": "007743",
	} {
		template, err := Parse(text, Parts())
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := template.Make(t.Context(), numbered(7), given)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
		if _, n, err := template.Read(got, given); n != 7 || err != nil {
			t.Errorf("%s: %q is read as %d, %v", text, got, n, err)
		}
		if len(got) > template.Max() {
			t.Errorf("%s: %q is longer than %d", text, got, template.Max())
		}
	}
}

func TestCalcRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"{seq:3}{calc:}":                                          "ends where a number is expected",
		"{seq:3}{calc:seq}":                                       "end it with %",
		"{seq:3}{calc:seq * 9}":                                   "end it with %",
		"{seq:3}{calc:5 - seq % 7}":                               "end it with %",
		"{seq:3}{calc:seq % 0}":                                   "number above 0",
		"{seq:3}{calc:9 / (seq + 1)}":                             "number above 0",
		"{seq:3}{calc:(seq - 9) * 2 % 7}":                         "may be negative",
		"{seq:3}{calc:luhn(seq - 9)}":                             "may be negative",
		"{seq:3}{calc:seq % 7)}":                                  "is not expected",
		"{seq:3}{calc:(seq % 7}":                                  ") is missing",
		"{seq:3}{calc:sum(seq) % 7}":                              "is none of seq, part1",
		"{seq:3}{calc:part0 % 7}":                                 "write part1",
		"{seq:3}{calc:part3 % 7}":                                 "part3: the template has 2 parts",
		"{seq:3}{calc:part2 % 7}":                                 "part2 is calculated too",
		"{time:yyyy-MM}{seq:3}{calc:luhn(part1)}":                 "part1, {time}, has other characters",
		"{gene:4}{seq:3}{calc:luhn(part1)}":                       "part1, {gene}, has other characters",
		"{seq:3}{calc:luhn(seq, 3)}":                              "write luhn(x)",
		"{seq:3}{calc:weighted(seq) % 7}":                         "write luhn(x)",
		"{seq:3}{calc:weighted(seq, 70000) % 7}":                  "up to 65535",
		"{seq:3}{calc:weighted seq % 7}":                          "arguments in parentheses",
		"{seq:3}{calc:seq % 99999999999999999999}":                "at most 63 bits",
		"{seq:3}{calc:9223372036854775807 * 9223372036854775807}": "at most 19 fit",
		"{seq:3}{calc:" + strings.Repeat("(", 50) + "1" + strings.Repeat(")", 50) + "}": "too many parentheses",
		"{seq:3}{calc:" + strings.Repeat("1+", 150) + "1}":                              "at most 200",
		"{calc:seq % 7}": "0 sequences",
	} {
		if _, err := Parse(text, Parts()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", text, err, reason)
		}
	}
	template := parsed(t, "{context:area:3}-{seq:3}{calc:part1 % 7}")
	for _, area := range []string{"", "1a", "-1", "+1", "1_0"} {
		if got, err := template.Make(t.Context(), counting(), Values{Context: map[string]string{"area": area}}); !errors.As(err, new(ValueError)) {
			t.Errorf("%q gives %q, %v", area, got, err)
		}
	}
	if _, _, err := parsed(t, "SN-{seq}-{calc:seq * 9 % 31 % 10}").Read("SN-7-2", Values{}); err == nil || !strings.Contains(err.Error(), "a digit is wrong") {
		t.Errorf("a wrong digit: %v", err)
	}
}

// Every accepted expression gives each number a text of the declared length. Its value equals that of check
// wherever both are defined.
func TestCalcAlwaysFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := expression(t, 3)
		p, err := calcPart(text)
		if err != nil {
			return
		}
		v := Values{Sequence: rapid.Uint64Range(0, 1<<63-1).Draw(t, "n"), texts: []string{rapid.StringMatching("[0-9]{1,19}").Draw(t, "part")}}
		got, err := p.Text(t.Context(), &v)
		if err != nil || len(got) != p.Max {
			t.Fatalf("%s of %d and %s: %q, %v: %d digits", text, v.Sequence, v.texts, got, err, p.Max)
		}
		f, m := rapid.Uint64Range(1, 1<<32-1).Draw(t, "factor"), rapid.Uint64Range(1, 1<<32-1).Draw(t, "modulus")
		check, err := checkPart(fmt.Sprintf("%d,%d,10", f, m))
		if err != nil {
			t.Fatal(err)
		}
		same, err := calcPart(fmt.Sprintf("seq * %d %% %d %% 10", f, m))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := check.Text(t.Context(), &v)
		if b, err := same.Text(t.Context(), &v); err != nil || strings.TrimLeft(a, "0") != strings.TrimLeft(b, "0") {
			t.Fatalf("%d * %d %% %d: %s and %s, %v", v.Sequence, f, m, a, b, err)
		}
	})
}

func expression(t *rapid.T, deep int) string {
	if deep == 0 {
		return rapid.SampledFrom([]string{"seq", "part1", "1", "7", "10", "97", "1000000"}).Draw(t, "operand")
	}
	a, b := expression(t, deep-1), expression(t, deep-1)
	switch rapid.IntRange(0, 7).Draw(t, "form") {
	case 0:
		return "luhn(" + a + ")"
	case 1:
		return "weighted(" + a + ", 3, 1) % 10"
	case 2:
		return "(" + a + ") % 97"
	case 3:
		return "(" + a + ") / 7"
	}
	return "(" + a + rapid.SampledFrom([]string{" + ", " - ", " * ", " % "}).Draw(t, "operator") + b + ")"
}
