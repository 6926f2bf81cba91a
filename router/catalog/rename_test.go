package catalog

import (
	"strings"
	"testing"
)

func renames(text string) (list []Rename) {
	for pair := range strings.SplitSeq(text, ", ") {
		from, to, _ := strings.Cut(pair, ">")
		list = append(list, Rename{TableName{"s", from}, TableName{"s", to}})
	}
	return list
}

func TestNet(t *testing.T) {
	for text, want := range map[string]string{
		"a>b":                  "a>b",
		"a>b, c>d":             "a>b, c>d",
		"t>old, new>t":         "t>old, new>t",
		"a>b, b>c":             "a>c",
		"a>tmp, b>a, tmp>b":    "exchange their names",
		"a>b, c>b":             "two tables would be called s.b",
		"a>x, b>a, c>b, x>y":   "a>y, b>a, c>b",
		"a>a":                  "exchange their names",
		"a>b, a>c":             "two names",
		"a>b, b>a":             "exchange their names",
		"a>b, c>a, b>d, a>b":   "a>d, c>b",
		"t>u, u>v, v>w, new>t": "t>w, new>t",
	} {
		net, err := NetRenames(renames(text))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var got []string
		for _, r := range net {
			got = append(got, r.From.Name+">"+r.To.Name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}
