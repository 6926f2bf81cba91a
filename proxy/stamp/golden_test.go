package stamp

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locus/idgen/orderid"
	"locus/internal/test/golden"
	"locus/router/stmt"
)

const goldenFile = "testdata/stamp.txt"

// TestGolden runs the statements of the golden file. The file shows a generated ID as <gene/sequence>, and its
// order number as <no gene/sequence>.
func TestGolden(t *testing.T) {
	f := newFixture(t)
	file, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var s Stamper
	for block := range strings.SplitSeq(strings.TrimSpace(string(file)), "\n\n") {
		question, want, _ := strings.Cut(block+"\n", "\n----\n")
		want = strings.TrimSuffix(want, "\n")
		got := f.answer(&s, question)
		if got != want && !golden.Updating() {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", question, got, want)
		}
		fmt.Fprintf(&out, "%s\n----\n%s\n\n", question, got)
	}
	golden.Update(t, goldenFile, strings.TrimSpace(out.String())+"\n")
}

func (f *fixture) answer(s *Stamper, question string) string {
	sql, bound := f.parse(question)
	f.m = f.whole
	if strings.Contains("\n"+question, "\ndivided\n") {
		f.m = f.divided
	}
	r, err := f.run(s, sql, bound, &counter{narrow: 1})
	if err != nil {
		return "refused: " + f.readable(err.Error())
	}
	var out []string
	for _, shard := range r.Shards {
		out = append(out, fmt.Sprintf("%s (%d): %s", f.m.Shards()[shard.Shard], shard.Rows, f.readable(string(shard.Text))))
		if bound != nil {
			out = append(out, "  with "+f.readable(showParams(shard.Params)))
		}
	}
	if r.HasID {
		out = append(out, "first "+f.readable(r.FirstID.String()))
		if r.CountFrom == 0 {
			out = append(out, "whose next ones are not counted from it")
		}
	}
	return strings.Join(out, "\n")
}

// parse reads the text and, if it is a prepared statement, its parameters.
func (f *fixture) parse(question string) (sql string, bound []stmt.Value) {
	for line := range strings.SplitSeq(question, "\n") {
		rest, prepared := strings.CutPrefix(line, "with ")
		switch {
		case strings.HasPrefix(line, "#"), line == "divided":
		case prepared:
			bound = parseBound(rest)
		default:
			sql += line + "\n"
		}
	}
	return strings.TrimSpace(f.withNumbers(sql)), bound
}

func parseBound(list string) (bound []stmt.Value) {
	for word := range strings.SplitSeq(list, ", ") {
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case word == "NULL":
			bound = append(bound, stmt.Value{Kind: stmt.Null})
		case err == nil:
			bound = append(bound, stmt.IntValue(n))
		default:
			bound = append(bound, stmt.Value{Kind: stmt.String, Text: []byte(word)})
		}
	}
	return bound
}

func showParams(params []Param) string {
	var out []string
	for _, p := range params {
		if p.Bound >= 0 {
			out = append(out, "?"+strconv.Itoa(p.Bound))
		} else {
			out = append(out, p.Value.String())
		}
	}
	return strings.Join(out, ", ")
}

var (
	bigNumber = regexp.MustCompile(`X'[0-9a-f]{32}'|0x[0-9A-Fa-f]{32}|\b\d{16,20}\b`)
	named     = regexp.MustCompile(`<(no )?([0-9a-f]+)/(\d+)>`)
)

// readable replaces the IDs and numbers that a fixture's issuer may have given.
func (f *fixture) readable(text string) string {
	return bigNumber.ReplaceAllStringFunc(text, func(spelled string) string {
		for _, name := range []string{"int64", "bytes16"} {
			l, _ := orderid.ByName(name)
			value, err := l.Parse(strings.ToLower(strings.Replace(spelled, "X'", "x'", 1)))
			if name == "bytes16" && strings.HasPrefix(spelled, "X'") {
				value, err = l.Parse(spelled)
			}
			if err != nil || l.Version(value) != 1 {
				continue
			}
			if seq := l.Sequence(value); seq.Hi == 0 && seq.Lo < 1000 {
				return fmt.Sprintf("<%04x/%d>", uint32(l.Gene(value)), seq.Lo)
			}
			if real, err := f.ring.Decode(l, value); err == nil {
				return fmt.Sprintf("<no %04x/%d>", uint32(l.Gene(value)), l.Sequence(real).Lo)
			}
		}
		return spelled
	})
}

// withNumbers is the reverse for int64 columns.
func (f *fixture) withNumbers(sql string) string {
	l, _ := orderid.ByName("int64")
	return named.ReplaceAllStringFunc(sql, func(name string) string {
		parts := named.FindStringSubmatch(name)
		g, _ := strconv.ParseUint(parts[2], 16, 32)
		n, _ := strconv.ParseUint(parts[3], 10, 64)
		value, _ := l.Compose(geneOf(g), 1, orderid.Seq(n))
		if parts[1] != "" {
			value, _ = f.ring.Encode(l, value)
		}
		return value.String()
	})
}
