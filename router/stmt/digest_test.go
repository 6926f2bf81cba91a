package stmt

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDigest(t *testing.T) {
	for _, c := range []struct {
		text, want string
		mode       Mode
	}{
		{"select * from orders where id = 7", "select * from orders where id = ?", 0},
		{" select  *\n\tfrom orders -- who? 'me'\n where id=-7 ; ", "select * from orders where id=-?", 0},
		{"insert into t values (1, 'a'), (2, 'b')", "insert into t values (?, ?)", 0},
		{"select a from t where a in (1, 2, 3)", "select a from t where a in (?)", 0},
		{"select `a 1`, t.1a, x1 from `t'` order by 2, 31", "select `a 1`, t.1a, x1 from `t'` order by ?, ?", 0},
		{`select "a" from t`, `select ? from t`, 0},
		{`select "a" from t where b = 'x'`, `select "a" from t where b = ?`, AnsiQuotes},
		{"select /*+ SET_VAR(init_connect='s3cret') */ 1", "select ?", 0},
		{"select * from t where a = x'4d' and b = n'm' and c = _utf8mb4'ä' and d = 1e7 and e = .5", "select * from t where a = ? and b = ? and c = ? and d = ? and e = ?", 0},
		{"set password for a@'%' = 's3cret'", "set password for a@? = ?", 0},
		{"select 's3cret", unreadable, 0},
		{"select * from t where id = ?", "select * from t where id = ?", 0},
	} {
		if got := lexed(c.text, c.mode).Digest(1000).Text; got != strings.TrimRight(c.want, " ") {
			t.Errorf("%s:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// The digest does not depend on the context that callers append to the key.
func TestDigestLeavesTheContextOut(t *testing.T) {
	l := lexed("select 1", 0)
	want := l.Digest(100)
	l.Key = append(l.Key, 0, 0)
	l.Key = append(l.Key, "shop"...)
	if got := l.Digest(100); got != want {
		t.Errorf("%v, before that %v", got, want)
	}
}

func TestALongDigestIsCut(t *testing.T) {
	long := lexed("select "+strings.Repeat("ä", 100)+" from t where id = 1", 0).Digest(20)
	other := lexed("select "+strings.Repeat("ä", 100)+" from u where id = 1", 0).Digest(20)
	if long.Text != "select ääääää…" || len(long.Hash) != 16 || long.Hash == other.Hash {
		t.Errorf("%+v, %+v", long, other)
	}
}

// A digest contains no literal, and does not depend on the literals.
func TestDigestsHaveNoLiterals(t *testing.T) {
	pieces := []string{
		"select ", "insert into t (a, b) values (%, %), (%, %)", "from t ", "where a = %", " and b in (%, %, %)", "/* % */", "/*+ HINT(%) */", " -- %\n",
		"set @a = %", " order by a", "limit 7", "`%`", "(", ")", ", ", "n%", "_utf8%", "%",
	}
	rapid.Check(t, func(t *rapid.T) {
		mode := Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		quote := rapid.SampledFrom([]string{"'", "'", `"`}).Draw(t, "quote")
		if quote == `"` && mode&AnsiQuotes != 0 {
			return // it is a name
		}
		with := func(secret string) Digest {
			return lexed(strings.ReplaceAll(strings.ReplaceAll(text, "`%`", "`name`"), "%", quote+secret+quote), mode).Digest(1 << 20)
		}
		d := with("s3cret")
		if strings.Contains(d.Text, "s3cret") || d != with("0ther") {
			t.Fatalf("%q", d.Text)
		}
		if slices.Contains([]byte(d.Text), 0) {
			t.Fatalf("%q has a mark", d.Text)
		}
	})
}

func FuzzDigest(f *testing.F) {
	f.Add("select /*+ a */ `b` 'd'", uint8(0))
	f.Fuzz(func(_ *testing.T, text string, mode uint8) { lexed(text, Mode(mode&15)).Digest(100) })
}
