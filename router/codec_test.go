package router_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

func TestEncode(t *testing.T) {
	m := mustNew(t, gene.W16, 7, "0x3fff s0", "0x7fff s1", "0xbfff s0", "0xffff s2")
	at := time.Date(2026, 8, 14, 9, 30, 0, 0, time.FixedZone("", 2*3600))
	got := string(router.Encode(m, router.Stamp{By: "ada@ops", Why: "split: s1 is hot", At: at}))
	want := `schema: 1
gene_bits: 16
version: 7
by: ada@ops
why: 'split: s1 is hot'
at: 2026-08-14T07:30:00Z
entries: |
  0x3fff s0
  0x7fff s1
  0xbfff s0
  0xffff s2
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Just("\xff"), rapid.StringMatching(`[ \n\r\t#:'"|>\-a\x{85}\x{2028}\x{feff}\x{7f}]*`))
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		stamp := router.Stamp{
			By:  text.Draw(t, "by"),
			Why: text.Draw(t, "why"),
			At:  time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
		}
		written := router.Encode(m, stamp)
		got, gotStamp, err := router.Decode(written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if got.Version() != m.Version() || got.Width() != m.Width() || got.String() != m.String() {
			t.Fatalf("got version %d\n%s\nof\n%s", got.Version(), got, written)
		}
		if gotStamp != stamp {
			t.Fatalf("got %+q, want %+q", gotStamp, stamp)
		}
	})
}

const byHand = `# made with an editor
schema: 1
gene_bits: 14
version: 3
entries: |
  # the first half
  0x1fff   s0

  0x3FFF s1
`

func TestDecodeByHand(t *testing.T) {
	m, stamp, err := router.Decode([]byte(byHand))
	if err != nil {
		t.Fatal(err)
	}
	if want := "0x0000..0x1fff  s0\n0x2000..0x3fff  s1\n"; m.String() != want || m.Version() != 3 {
		t.Errorf("version %d\n%s", m.Version(), m)
	}
	if stamp != (router.Stamp{}) {
		t.Errorf("stamp %+v", stamp)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct{ name, old, replacement, want string }{
		{"an unknown field", "version: 3", "version: 3\nversoin: 4", "route map: line 5: field versoin is unknown"},
		{"a newer schema, whatever it holds", "schema: 1", "schema: 7\nweights: {}", "route map: schema 7 is newer than 6, which this build reads: upgrade locus"},
		{"a newer schema", "schema: 1", "schema: 7", "route map: schema 7 is newer than 6, which this build reads: upgrade locus"},
		{"no schema", "schema: 1\n", "", "route map: no schema: begin with schema: 1"},
		{"another document", "  0x3FFF s1\n", "  0x3FFF s1\n---\nschema: 1\n", "route map: more follows the first YAML document"},
		{"a decimal bound", "0x1fff ", "8191 ", `route map version 3: line 2 of entries: "8191   s0": write a bound in hex and a shard, like 0x3fff s0`},
		{"a bound of too many digits", "0x1fff", "0x11111fff1", `route map version 3: line 2 of entries: "0x11111fff1   s0": write a bound in hex and a shard, like 0x3fff s0`},
		{"no shard", " s1", "", `route map version 3: entry 2: shard name "": use 1 to 63 letters, digits, '_', '.' and '-', beginning with a letter or digit`},
		{"two shards", " s1", " s1 s2", `route map version 3: entry 2: shard name "s1 s2": use 1 to 63 letters, digits, '_', '.' and '-', beginning with a letter or digit`},
		{"a hole", "0x3FFF", "0x2fff", "route map version 3: the last bound is 0x2fff and not 0x3fff: genes 0x3000..0x3fff would have no shard"},
		{"a width", "gene_bits: 14", "gene_bits: 200", "route map version 3: genes of 200 bits: use 14, 15, 16 or 23"},
		{"nothing", byHand, "", "route map: the document is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(byHand, test.old, test.replacement, 1)
			if text == byHand {
				t.Fatal("nothing replaced")
			}
			if _, _, err := router.Decode([]byte(text)); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// An accepted encoding can be written and read again, as the same map.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(byHand))
	f.Add([]byte("{schema: 1, gene_bits: 23, version: 1, by: a, at: 2026-01-01, entries: '0x7fffff s0'}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, stamp, err := router.Decode(text)
		if err != nil {
			return
		}
		again, stampAgain, err := router.Decode(router.Encode(m, stamp))
		if err != nil {
			t.Fatal(err)
		}
		if again.Version() != m.Version() || again.String() != m.String() || stampAgain != stamp {
			t.Errorf("%+v\n%s\nis read again as\n%+v\n%s", stamp, m, stampAgain, again)
		}
	})
}

func BenchmarkDecode65536(b *testing.B) {
	text := router.Encode(spreadMap(b, gene.W16, 65536, 16), router.Stamp{})
	b.SetBytes(int64(len(text)))
	for range b.N {
		if _, _, err := router.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode65536(b *testing.B) {
	m := spreadMap(b, gene.W16, 65536, 16)
	for range b.N {
		router.Encode(m, router.Stamp{})
	}
}

func BenchmarkWith4096(b *testing.B) {
	m := spreadMap(b, gene.W16, 4096, 16)
	c := change(b, "0x1000-0x1fff", "s99")
	for range b.N {
		if _, err := m.With(c); err != nil {
			b.Fatal(err)
		}
	}
}
