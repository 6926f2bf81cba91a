package format

import (
	"math/rand/v2"
	"testing"

	"locus/internal/test/scale"
)

func parsed(t *testing.T, text string) *Template {
	t.Helper()
	template, err := Parse(text, Parts())
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestFollows(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          bool
	}{
		{"9{seq:3}", "{seq}", false}, // 9001
		{"9{seq:3}", "{seq:4}", false},
		{"{seq:3}", "{seq:2}1", false},
		{"A{seq:3}", "A{seq:4}", true},
		{"A{seq:3}", "A{seq:2}", true},
		{"A{seq:3}", "A{seq}", true},
		{"A{seq}-", "A{seq:9}-", true},
		{"A{seq:3}", "B{seq:3}", true},
		{"A{seq:3}", "AB{seq:3}", false},
		{"A{seq:3}", "{seq:3}A", false},
		{"{context:a:3}{seq:3}", "{context:a:3}{seq:4}", false}, // 1234 and 123 of A, 1
		{"{context:a:3}{seq:3}", "{context:b:9}-{seq:3}", true},
		{"{context:a:3}{seq:3}", "A{seq:3}", false}, // with the value A, texts of both templates could be equal
		{"{seq}-{context:a:3}", "{seq:5}-{context:a:3}", false},
		{"{seq:6}{check:9,10}", "{seq:7}{check:7,10}", true},
		{"{seq:6,hidden=1}", "{seq:7,hidden=1}", false},
		{"A{seq:6,hidden=1}", "B{seq:6,hidden=1}", true},
		{"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}", "{time:yyyyMMdd}{seq:6,per=yyyyMMdd}", true},
		{"{time:yyyyMMdd}-{seq:5,per=yyyyMMdd}", "{time:yyyyMMdd}_{seq:5,per=yyyyMMdd}", true},
		{"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}", "{time:yyyyddMM}{seq:5,per=yyyyMMdd}", false}, // 0102 and 0201
		{"{time:yyMM}{time:dd}{seq:5,per=yyMMdd}", "{time:yyMMdd}{seq:5,per=yyMMdd}", false},
		{"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}", "{time:yyyyMMdd}{seq:5,per=yyyyMM}", false},
		{"{time:yyyyMMdd}{seq:5,per=yyyyMMdd}", "{time:yyyyMMdd,zone=+08:00}{seq:5,per=yyyyMMdd,zone=+08:00}", false},
		{"{context:a:3}-{seq:5}", "{context:a:3}-{seq:5,per=context:a}", false},
		{"{context:a:3}-{seq:5,per=context:a}", "{context:a:3}-{seq:5}", false},
		{"{context:a:3}-{seq:5,per=context:a}", "{context:a:4}-{seq:5,per=context:a}", false},
		{"{context:a:3}-{seq:5,per=context:a}", "{context:a:3}_{seq:5,per=context:a}", true},
		{"{context:a:3,exact}-{seq:5,per=context:a}", "{context:a:3,exact}-{seq:6,per=context:a}", true},
		{"{context:a:3,exact}{context:b:3}-{seq:5,per=context:a}", "{context:a:3,exact}{context:b:3}-{seq:5,per=context:a,per=context:b}", false},
	} {
		if got := parsed(t, c.after).Follows(parsed(t, c.before)); got != c.want {
			t.Errorf("%s becomes %s: %v", c.before, c.after, got)
		}
	}
}

// A template is replaced repeatedly, as far as Follows allows it. No text is made twice.
func TestNoTextTwiceAfterReplacements(t *testing.T) {
	pieces := []string{"1", "9", "A", "12", "-", "{context:a:2}", "{context:a:3}", "{time:yyMMdd}", "{time:ddMMyy}", "{time:yy}", "{check:7,10}"}
	sequences := []string{"{seq}", "{seq:1}", "{seq:2}", "{seq:3}", "{seq:4}", "{seq:2,per=yyMMdd}", "{seq:3,per=yyMMdd}"}
	random := rand.New(rand.NewPCG(1, 2))
	replaced := 0
	for range scale.Of(2000, 100_000) {
		numbers, seen := counting(), map[string]bool{}
		var template *Template
		for range 60 {
			next := randomTemplate(random, pieces, sequences)
			if next == nil || template != nil && !next.Follows(template) {
				continue
			}
			if template != nil && next.text != template.text {
				replaced++
			}
			template = next
			for range 40 {
				text, err := template.Make(t.Context(), numbers, Values{
					Now: at.AddDate(0, random.IntN(3), random.IntN(3)), Context: map[string]string{"a": digits(random)},
				})
				if err != nil {
					break // it is full
				}
				if seen[text] {
					t.Fatalf("%s gives %s again", template, text)
				}
				seen[text] = true
			}
		}
	}
	t.Logf("%d replacements", replaced)
	if replaced < 100 {
		t.Errorf("a template was replaced %d times", replaced)
	}
}

func randomTemplate(random *rand.Rand, pieces, sequences []string) *Template {
	text := ""
	for range random.IntN(3) {
		text += pieces[random.IntN(len(pieces))]
	}
	text += sequences[random.IntN(len(sequences))]
	for range random.IntN(3) {
		text += pieces[random.IntN(len(pieces))]
	}
	template, err := Parse(text, Parts())
	if err != nil {
		return nil
	}
	return template
}

// digits returns at most two digits, so that texts of different parts are often equal.
func digits(random *rand.Rand) string {
	return []string{"", "1", "9", "12", "19", "0"}[random.IntN(6)]
}
