package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy/sysvars"
	"locus/router/stmt"
)

// positions are statements with {} in place of the probed byte. If the byte is read in another way, the answer differs: after
// it comes a subquery that counts the rows of all shards, or a quote that hides the subquery.
var positions = map[string]string{
	"third of --":            "SELECT 1 --{} ' \n , COUNT(*) FROM test_order --{} '",
	"third of --, number":    "SELECT 5 --{}1\n , COUNT(*) FROM test_order",
	"fourth of --":           "SELECT 1 -- {}' \n , COUNT(*) FROM test_order",
	"in -- before the line":  "SELECT 1 -- {}\n , COUNT(*) FROM test_order",
	"between words":          "SELECT COUNT(*) FROM{}test_order",
	"between words, blank":   "SELECT COUNT(*) FROM {} test_order",
	"before AND":             "SELECT COUNT(*) FROM test_order WHERE 1{}AND buyer_uid < 20",
	"before UPDATE's table":  "UPDATE{}test_order SET status = 'old' WHERE 1 = 0",
	"in a name":              "SELECT 1 AS a{}b, COUNT(*) FROM test_order",
	"in a table's alias":     "SELECT COUNT(*) FROM test_order a{}b",
	"in the table's name":    "SELECT COUNT(*) FROM test_{}order",
	"before a name":          "SELECT COUNT(*) FROM {}test_order",
	"behind a name":          "SELECT COUNT(*) FROM test_order{}",
	"behind a name, more":    "SELECT COUNT(*) FROM test_order{}WHERE buyer_uid = 3",
	"before a number":        "SELECT COUNT(*) FROM test_order WHERE buyer_uid = {}3",
	"behind a number":        "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 3{}",
	"behind a number, OR":    "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 3{}OR buyer_uid = 4",
	"in a number":            "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1{}2",
	"behind e":               "SELECT 1e{}5, COUNT(*) FROM test_order",
	"behind 1.5e":            "SELECT 1.5e{}2, COUNT(*) FROM test_order",
	"behind 0x":              "SELECT 0x{}41, COUNT(*) FROM test_order",
	"behind a point":         "SELECT COUNT(*) FROM test_order o WHERE o.{}buyer_uid = 3",
	"in /* */":               "SELECT 1 /* {} */ , COUNT(*) FROM test_order",
	"first of /* */":         "SELECT 1 /*{} ' */ , COUNT(*) FROM test_order -- '",
	"before */":              "SELECT 1 /* {}*/ , COUNT(*) FROM test_order -- */",
	"between * and /":        "SELECT 1 /* *{}/ , COUNT(*) FROM test_order -- */",
	"between / and *":        "SELECT 1 /{}* ' */ , COUNT(*) FROM test_order -- '",
	"behind */":              "SELECT 1 /**/{}, COUNT(*) FROM test_order",
	"behind */ and a word":   "SELECT COUNT(*) FROM/**/{}test_order",
	"behind #":               "SELECT 1 #{}' \n , COUNT(*) FROM test_order",
	"in # before the line":   "SELECT 1 # {}\n , COUNT(*) FROM test_order",
	"before a quote":         "SELECT {}'a', COUNT(*) FROM test_order",
	"in a string":            "SELECT 'a{}', COUNT(*) FROM test_order -- '",
	"first of a string":      "SELECT '{}', COUNT(*) FROM test_order -- '",
	"behind a backslash":     "SELECT '\\{}', COUNT(*) FROM test_order -- '",
	"in a double quote":      "SELECT \"a{}\", COUNT(*) FROM test_order -- \"",
	"in a quoted name":       "SELECT 1 AS `a{}`, COUNT(*) FROM test_order -- `",
	"behind a string":        "SELECT 'a'{}, COUNT(*) FROM test_order",
	"between strings":        "SELECT COUNT(*) FROM test_order WHERE buyer_uid = '1'{}'2'",
	"behind a quoted name":   "SELECT COUNT(*) FROM `test_order`{}",
	"before (":               "SELECT COUNT{}(*) FROM test_order",
	"before ( of IN":         "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN{}(1, 2, 3)",
	"in a list":              "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (1,{}2, 3)",
	"behind an introducer":   "SELECT COUNT(*) FROM test_order WHERE buyer_uid = _latin1{}'12'",
	"before an introducer's": "SELECT COUNT(*) FROM test_order WHERE buyer_uid = {}'12'",
	"in an introducer":       "SELECT COUNT(*) FROM test_order WHERE buyer_uid = _lat{}in1'12'",
	"behind @":               "SELECT @a{}, COUNT(*) FROM test_order",
	"at the start":           "{}SELECT COUNT(*) FROM test_order",
	"behind a semicolon":     "SELECT COUNT(*) FROM test_order;{}",
	"before a semicolon":     "SELECT COUNT(*) FROM test_order{}; SELECT 2",
	"behind a semicolon, 2":  "SELECT COUNT(*) FROM test_order;{}SELECT 2",
	"behind !":               "SELECT /*!{}99999 ' */ COUNT(*) FROM test_order -- '",
	"behind a version":       "SELECT /*!99999{} ' */ COUNT(*) FROM test_order -- '",
	"in a version":           "SELECT 1 /*!99{}999 , 2 */ , COUNT(*) FROM test_order",
	"sixth of a version":     "SELECT 1 /*!50000{} , 2 */ , COUNT(*) FROM test_order",
	"before !":               "SELECT /*{}!99999 ' */ COUNT(*) FROM test_order -- '",
	"in a hint":              "SELECT /*+ {} */ COUNT(*) FROM test_order",
	"before a hint":          "SELECT{}/*+ x */ COUNT(*) FROM test_order",
}

// probed gives a position's statements with each of the pieces.
func probed(statement string, pieces []string) (texts []string) {
	for _, piece := range pieces {
		texts = append(texts, strings.ReplaceAll(statement, "{}", piece))
	}
	return texts
}

func everyByte() (all []byte) {
	for b := range 256 {
		all = append(all, byte(b))
	}
	return all
}

// tally counts the outcomes of a character set's texts.
type tally struct {
	asked, answered, refused int
}

func (n tally) String() string { return fmt.Sprintf("%d/%d/%d", n.asked, n.answered, n.refused) }

// prober asks both sides about pieces of texts.
type prober struct {
	*stand
	proxy, plain fan
	charset      string
	pieces       []string
	tally        tally
}

// asking is the number of connections on which a position is sent at the same time. A name that no shard has makes the proxy
// read the shards again, at most ten times a second. One read serves all waiting sessions, so waiting at the same time is
// faster.
const asking = 32

func (s *stand) prober(t *testing.T) *prober {
	p := &prober{stand: s}
	for range asking {
		p.proxy = append(p.proxy, login{s.Addr, "app", password, s.Schema}.pipe(t))
	}
	for range 4 {
		p.plain = append(p.plain, login{s.server.Addr(), "app", password, s.Schema}.pipe(t))
	}
	return p
}

// probe sends each position with each byte to both sides. If the proxy refuses a character set, no text in it may pass.
func (p *prober) probe(t *testing.T, charset string, bytes []byte, letters string) (through bool) {
	t.Helper()
	p.charset, p.pieces, p.tally = charset, piecesIn(charset, bytes, letters), tally{}
	refused := p.proxy.all("SET NAMES " + charset)
	if (refused == nil) != sysvars.Readable(charset) {
		t.Fatalf("%s: SET NAMES %s: %v", p.engine, charset, refused)
	}
	if refused != nil {
		return false
	}
	if err := p.plain.all("SET NAMES " + charset); err != nil {
		t.Fatal(err)
	}
	for _, position := range slices.Sorted(maps.Keys(positions)) {
		if err := p.position(t, position); err != nil {
			t.Fatalf("%s, %s, %s: %v", p.engine, charset, position, err)
		}
	}
	return true
}

// position sends a position with each byte to the proxy, and to the plain server if the proxy did not refuse it.
func (p *prober) position(t *testing.T, position string) error {
	texts := probed(positions[position], p.pieces)
	p.tally.asked += len(texts)
	got, err := p.proxy.ask(texts...)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	var through []string
	var answers []said
	for i, a := range got {
		if a.code != 0 && code.MatchString(a.message) {
			p.tally.refused++
			continue
		}
		through, answers = append(through, texts[i]), append(answers, a)
	}
	want, err := p.plain.ask(through...)
	if err != nil {
		return fmt.Errorf("plain: %w", err)
	}
	for i, a := range answers {
		switch {
		case !a.equal(want[i]):
			t.Errorf("%s, %s, %s: %q\n  proxy: %v\n  plain: %v", p.engine, p.charset, position, through[i], a, want[i])
		case want[i].code == 0:
			p.tally.answered++
		}
	}
	return nil
}

// piecesIn are the bytes, and of UTF-8, where those from 0x80 on are letters' alone,
// letters.
func piecesIn(charset string, bytes []byte, letters string) (pieces []string) {
	for _, b := range bytes {
		pieces = append(pieces, string([]byte{b}))
	}
	if strings.HasPrefix(charset, "utf8") {
		pieces = append(pieces, strings.Split(letters, "")...)
	}
	return pieces
}

// everyLetter returns all characters of two bytes below U+0100, blanks, characters that look like a blank or a quote, and the
// first and last characters of each length.
func everyLetter() string {
	var all strings.Builder
	for r := rune(0x80); r < 0x100; r++ {
		all.WriteRune(r)
	}
	return all.String() + "\u1680\u180e\u2000\u2007\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\uff07\uff0d\u2019\u07ff\u0800\uffff\U00010000\U0001f600\U0010ffff"
}

var oneByteOfEachKind = []byte("\x00\x01\t '`;-/!M1\\\x7f\xa0\xc2\xff")

// TestProbe checks that each byte in each position is answered through the proxy as by the plain server.
func TestProbe(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		charsets, bytes, letters := []string{"utf8mb4", "latin1"}, oneByteOfEachKind, "\u00a0é\u2028\U0001f600"
		if scale.Long() {
			charsets, bytes, letters = s.charsets(t), everyByte(), everyLetter()
		}
		p, all := s.prober(t), tally{}
		var through []string
		for _, charset := range charsets {
			if !p.probe(t, charset, bytes, letters) {
				continue
			}
			n := p.tally
			all = tally{all.asked + n.asked, all.answered + n.answered, all.refused + n.refused}
			through = append(through, fmt.Sprintf("%s %v", charset, n))
			if n.answered*8 < n.asked {
				t.Errorf("%s, %s: asked/answered/refused %v: too few answers to say anything", s.engine, charset, n)
			}
		}
		t.Logf("%s: %d positions × %d bytes × %d of %d character sets; asked/answered/refused: %v; %s",
			s.engine, len(positions), len(bytes), len(through), len(charsets), all, strings.Join(through, ", "))
	})
}

// Each byte in each position is read as the server reads it: the same, without the
// proxy's planning, so that all bytes can be gone through.
func TestProbeReadings(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, shards+1)[shards]
		schema := soupTable(t, server)
		server.Exec(t, "CREATE TABLE "+schema+".test_order (buyer_uid INT KEY, status VARCHAR(16) DEFAULT 'old') ENGINE MyISAM DEFAULT CHARSET utf8mb4",
			"INSERT INTO "+schema+".test_order (buyer_uid) VALUES (1), (2), (3), (4), (12)")
		k := &kettle{
			pipe: login{server.Addr(), server.User, server.Password, schema}.pipe(t), engine: engine,
			reading: reading{servers: []stmt.Server{version(t, server)}}, refusals: map[string]int{},
		}
		for _, k.charset = range []string{"utf8mb4", "latin1"} {
			if _, err := k.pipe.ask("SET NAMES " + k.charset); err != nil {
				t.Fatal(err)
			}
			for _, statement := range positions {
				if err := k.compareSplits(probed(statement, piecesIn(k.charset, everyByte(), everyLetter())), k.reads()); err != nil {
					t.Fatal(err)
				}
			}
		}
		report(t, engine, []*kettle{k}, 4)
	})
}

// charsets are all that the server has.
func (s *stand) charsets(t *testing.T) (names []string) {
	t.Helper()
	a := s.plain.say("SELECT CHARACTER_SET_NAME FROM information_schema.CHARACTER_SETS")
	if a.err != nil {
		t.Fatal(a.err)
	}
	for _, row := range a.results[0].rows {
		names = append(names, strings.Trim(row, `"`))
	}
	return names
}
