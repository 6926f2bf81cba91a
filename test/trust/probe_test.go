package trust

import (
	"fmt"
	"strings"
	"testing"

	"locus/router/stmt"
	"locus/test/servers"
)

// positions are statements with {} in place of the byte that is probed. Where it is
// read in another way the answer is another one: behind it stands what counts the rows
// of all shards, or a quote that hides that.
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

// probed gives a position's statements with each of the bytes.
func probed(statement string, bytes []byte) (texts []string) {
	for _, b := range bytes {
		texts = append(texts, strings.ReplaceAll(statement, "{}", string([]byte{b})))
	}
	return texts
}

func everyByte() (all []byte) {
	for b := range 256 {
		all = append(all, byte(b))
	}
	return all
}

// probe asks both sides each position with each byte, and gives how many answers the
// plain server had that are no errors, and how many the proxy refused.
func (s *stand) probe(t *testing.T, charset string, bytes []byte) (answered, refused int) {
	t.Helper()
	proxy := login{s.Addr, "app", password, s.Schema}.pipe(t)
	plain := login{s.server.Addr(), "app", password, s.Schema}.pipe(t)
	for position, statement := range positions {
		texts := append([]string{"SET NAMES " + charset}, probed(statement, bytes)...)
		got, err := proxy.ask(texts...)
		if err != nil {
			t.Fatalf("proxy, %s, %s: %v", charset, position, err)
		}
		if got[0].code != 0 {
			return 0, len(positions) * len(bytes)
		}
		want, err := plain.ask(texts...)
		if err != nil {
			t.Fatalf("plain, %s, %s: %v", charset, position, err)
		}
		for i, text := range texts {
			switch {
			case got[i].code != 0 && code.MatchString(got[i].message):
				refused++
			case !got[i].equal(want[i]):
				t.Errorf("%s, %s, %s: %q\n  proxy: %v\n  plain: %v", s.engine, charset, position, text, got[i], want[i])
			case want[i].code == 0:
				answered++
			}
		}
	}
	return answered, refused
}

// What is sent with each byte in each position is answered through the proxy as by the
// plain server.
func TestProbe(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		charsets, bytes := usualCharsets, usualBytes
		if charsets == nil {
			charsets, bytes = s.charsets(t), everyByte()
		}
		var all []string
		for _, charset := range charsets {
			answered, refused := s.probe(t, charset, bytes)
			all = append(all, fmt.Sprintf("%s %d/%d", charset, answered, refused))
		}
		t.Logf("%s: %d positions × %d bytes; answered/refused: %s", s.engine, len(positions), len(bytes), strings.Join(all, ", "))
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
				if err := k.compareSplits(probed(statement, everyByte()), k.reads()); err != nil {
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
