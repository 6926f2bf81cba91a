//go:build servers

package lookup

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/router/catalog"
	"locus/router/stmt"
)

// collations are all collations that a column with a look-up index may have, as far as a server has them.
var collations = []string{
	"utf8mb4_general_ci", "utf8mb4_general_nopad_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_nopad_ci", "utf8mb4_unicode_520_ci", "utf8mb4_unicode_520_nopad_ci",
	"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs", "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_nopad_ai_ci",
	"utf8mb3_general_ci", "utf8mb3_unicode_ci", "ascii_general_ci", "latin1_swedish_ci", "latin1_general_ci", "utf8mb4_bin", "utf8mb4_0900_bin", "utf8mb4_nopad_bin", "ascii_bin",
}

// characters are parts of which random texts are made: letters in several forms, contractions, characters without weights, spaces.
var characters = []string{
	"a", "A", "á", "à", "ä", "å", "a\u0301", "ａ", "𝐀", "ª", "æ", "AE", "b", "B", "c", "ç", "ch", "CH", "e", "é", "i", "I", "ı", "İ", "l", "ll", "ł", "n", "ñ", "o", "ø", "ö", "s", "ß", "ſ", "ss", "SS",
	"ﬁ", "fi", "u", "ü", "y", "ÿ", "z", "ž", "1", "１", "①", "²", "2", " ", " ", "\t", "\u00a0", "\u00ad", "\u200b", "\x00", "\x01", "\x7f", "-", "_", "@", ".", "'", "\\", "%", "и", "й", "и\u0306", "Σ", "σ", "ς",
	"中", "国", "가", "\u1100\u1161", "か", "ガ", "カ\u3099", "🙂", "🙁", "\ufffd", "\u0e40\u0e01", "\u0e01\u0e40", "\u0e40", "\u0301",
}

// Texts that a collation treats as equal have one normal form. For texts of printable ASCII characters, the proxy knows the form that the weights
// of the server give.
func TestEqualTextsHaveOneNormalForm(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		db := server.DB(t, servers.Database(t, server))
		for _, collation := range collations {
			charset, _, _ := strings.Cut(collation, "_")
			if column(t, db, "SELECT COUNT(*) FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY WHERE COLLATION_NAME = '"+collation+"'") == "0" &&
				column(t, db, "SELECT COUNT(*) FROM information_schema.COLLATIONS WHERE COLLATION_NAME = '"+strings.TrimPrefix(collation, "utf8mb4_")+"'") == "0" {
				continue
			}
			c := &catalog.Column{Name: "c", DataType: "varchar", Length: 100, Charset: charset, Collation: collation}
			r := rand.New(rand.NewPCG(1, 5))
			equal := 0
			for range scale.Of(300, 20_000) {
				var pair [2]string
				for i := range pair {
					for range 1 + r.IntN(3) {
						pair[i] += characters[r.IntN(len(characters))]
					}
				}
				if r.IntN(2) == 0 { // a text that differs in one place
					at := r.IntN(len(characters))
					prefix, suffix := characters[r.IntN(len(characters))], characters[r.IntN(len(characters))]
					pair = [2]string{prefix + characters[at] + suffix, prefix + characters[max(0, at-1-r.IntN(3))] + suffix}
				}
				var forms [2][]byte
				for i, text := range pair {
					if charset == "ascii" && strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
						text = "x"
					}
					pair[i] = text
					forms[i] = normalOf(t, c, text, func(query string) string { return column2(t, db, query) })
				}
				side := func(text string) string {
					return fmt.Sprintf("CONVERT(_utf8mb4 x'%x' USING %s) COLLATE %s", text, charset, collation)
				}
				if column(t, db, "SELECT "+side(pair[0])+" = "+side(pair[1])) == "1" {
					equal++
					if !bytes.Equal(forms[0], forms[1]) {
						t.Errorf("%s: %q and %q are equal and have the forms %q and %q", collation, pair[0], pair[1], forms[0], forms[1])
					}
				}
			}
			if equal == 0 {
				t.Errorf("%s: no pair is equal", collation)
			}
			if known, is := c.Normal(nil, text("Ab c-9_z~ ")); !is || !strings.HasSuffix(collation, "_bin") && !bytes.Equal(known, byWeights(t, c, "Ab c-9_z~ ", func(query string) string { return column2(t, db, query) })) {
				t.Errorf("%s: the proxy's form of ASCII is %q", collation, known)
			}
		}
	})
}

func text(s string) stmt.Value { return stmt.Value{Kind: stmt.String, Text: []byte(s)} }

// normalOf returns the normal form as the proxy finds it. ask returns the two weights of a query's row, separated by a blank.
func normalOf(t *testing.T, c *catalog.Column, s string, ask func(string) string) []byte {
	t.Helper()
	normal, known := c.Normal(nil, text(s))
	if known {
		return normal
	}
	return byWeights(t, c, s, ask)
}

func byWeights(t *testing.T, c *catalog.Column, s string, ask func(string) string) []byte {
	t.Helper()
	weights, printable, _ := strings.Cut(ask(c.WeightsQuery([]byte(s))), " ")
	normal, err := c.NormalByWeights(nil, []byte(weights), []byte(printable))
	if err != nil {
		t.Fatalf("%s: %q: %v", c.Collation, s, err)
	}
	return normal
}
