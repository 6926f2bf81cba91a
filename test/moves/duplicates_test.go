package moves

import (
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/router/catalog"
)

// duplicates are unique keys that don't contain the owner, each with a row per server; the two rows have equal values
// in the key. Only the columns a and b are given.
var duplicates = []struct {
	name, columns  string
	source, target string
	value          string // the value in the error; empty: the rows are no duplicates
	only           servers.Engine
}{
	{name: "number", columns: "a INT, b INT, UNIQUE KEY loose (a)", source: "7, 1", target: "7, 2", value: "7"},
	{name: "of several columns", columns: "a INT, b VARCHAR(20), UNIQUE KEY loose (a, b)", source: "7, 'x'", target: "7, 'x'", value: "x"},
	{name: "column attribute", columns: "a VARCHAR(20) UNIQUE, b INT", source: "'mail', 1", target: "'mail', 1", value: "mail"},
	{name: "letter case", columns: "a VARCHAR(20) COLLATE utf8mb4_general_ci, b INT, UNIQUE KEY loose (a)", source: "'Mail', 1", target: "'mAIL', 1", value: "mAIL"},
	{name: "letter case that counts", columns: "a VARCHAR(20) COLLATE utf8mb4_bin, b INT, UNIQUE KEY loose (a)", source: "'Mail', 1", target: "'mAIL', 1"},
	{name: "trailing blank", columns: "a VARCHAR(20) COLLATE utf8mb4_general_ci, b INT, UNIQUE KEY loose (a)", source: "'mail', 1", target: "'mail ', 1", value: "mail"},
	{name: "another character set", columns: "a VARCHAR(20) CHARACTER SET latin1, b INT, UNIQUE KEY loose (a)", source: "_latin1 x'e9', 1", target: "_latin1 x'e9', 1", value: "row"},
	{name: "wide characters", columns: "a VARCHAR(20) CHARACTER SET utf16, b INT, UNIQUE KEY loose (a)", source: "'é', 1", target: "'é', 1", value: "row"},
	{name: "beginning", columns: "a VARCHAR(20), b INT, UNIQUE KEY loose (a(3))", source: "'abcd', 1", target: "'abce', 1", value: "abc"},
	{name: "beginning of a text", columns: "a TEXT, b INT, UNIQUE KEY loose (a(3), b)", source: "'abcd', 1", target: "'abce', 1", value: "abc"},
	{name: "other beginning", columns: "a VARCHAR(20), b INT, UNIQUE KEY loose (a(3))", source: "'abcd', 1", target: "'abdd', 1"},
	{name: "bytes", columns: "a VARBINARY(20), b INT, UNIQUE KEY loose (a)", source: "x'00ff27', 1", target: "x'00ff27', 2", value: "row"},
	{name: "decimal", columns: "a DECIMAL(10,3), b INT, UNIQUE KEY loose (a)", source: "1.5, 1", target: "1.500, 2", value: "1.500"},
	{name: "float", columns: "a FLOAT, b INT, UNIQUE KEY loose (a)", source: "0.1, 1", target: "0.1, 2", value: "row"},
	{name: "time", columns: "a DATETIME(3), b INT, UNIQUE KEY loose (a)", source: "'2024-01-02 03:04:05.678', 1", target: "'2024-01-02 03:04:05.678', 2", value: "05.678"},
	{name: "enumeration", columns: "a ENUM('x','y'), b INT, UNIQUE KEY loose (a)", source: "'y', 1", target: "'y', 2", value: "row"},
	{name: "bit", columns: "a BIT(9), b INT, UNIQUE KEY loose (a)", source: "b'100000001', 1", target: "257, 2", value: "257"},
	{name: "generated column", columns: "a VARCHAR(20) COLLATE utf8mb4_bin, b INT, low VARCHAR(20) COLLATE utf8mb4_bin AS (LOWER(a)) STORED UNIQUE", source: "'Mail', 1", target: "'mAIL', 1", value: "mail"},
	{name: "virtual column", columns: "a VARCHAR(20) COLLATE utf8mb4_bin, b INT, low VARCHAR(20) COLLATE utf8mb4_bin AS (LOWER(a)) VIRTUAL, UNIQUE KEY loose (low)", source: "'Mail', 1", target: "'mAIL', 1", value: "mail"},
	{name: "expression", columns: "a VARCHAR(20) COLLATE utf8mb4_bin, b INT, UNIQUE KEY loose ((LOWER(a)))", source: "'Mail', 1", target: "'mAIL', 1", value: "mail", only: servers.MySQL},
	{name: "expression with a text", columns: "a VARCHAR(20), b INT, UNIQUE KEY loose ((CONCAT(a, '''x')), b)", source: "'q', 1", target: "'q', 1", value: "q'x", only: servers.MySQL},
	{name: "sum", columns: "a INT, b INT, UNIQUE KEY loose ((a + b))", source: "3, 4", target: "5, 2", value: "7", only: servers.MySQL},
	{name: "long text", columns: "a TEXT, b INT, UNIQUE KEY loose (a)", source: "REPEAT('x', 5000), 1", target: "REPEAT('x', 5000), 1", value: "xxx", only: servers.MariaDB},
	{name: "NULL", columns: "a INT, b INT, UNIQUE KEY loose (a)", source: "NULL, 1", target: "NULL, 2"},
	{name: "NULL in one column", columns: "a INT, b INT, UNIQUE KEY loose (a, b)", source: "1, NULL", target: "1, NULL"},
	{name: "empty text", columns: "a VARCHAR(20), b INT, UNIQUE KEY loose (a)", source: "'', 1", target: "'', 1", value: "row"},
	{name: "with the owner", columns: "a INT, b INT, UNIQUE KEY kept (owner, a)", source: "7, 1", target: "7, 1"},
	{name: "with a number of the cluster", columns: "a INT AUTO_INCREMENT, b INT, UNIQUE KEY kept (a)", source: "7, 1", target: "7, 1"},
}

// moves is an owner whose rows move, stays one whose rows don't.
var moves, stays = ownerWith(func(g gene.Gene) bool { return g <= 0x7fff }), ownerWith(func(g gene.Gene) bool { return g > 0x7fff })

func ownerWith(is func(gene.Gene) bool) (owner int64) {
	for owner = 1; !is(gene.OfInt(owner, gene.W16)); owner++ {
	}
	return owner
}

func atSource(sequence uint64) string {
	return fmt.Sprintf("row %q at the source", idOf(moves, sequence))
}

var atTarget = fmt.Sprintf("row %q at the target", idOf(stays, 1))

// duplicate makes a table with a row of each server.
func (p *pair) duplicate(columns, source, target string) map[catalog.TableName]catalog.Declaration {
	p.both("DROP TABLE IF EXISTS person", "CREATE TABLE person (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, "+columns+") CHARACTER SET utf8mb4")
	p.on(p.source, "INSERT INTO person (id, owner, a, b) VALUES ("+idOf(moves, 1)+fmt.Sprintf(", %d, ", moves)+source+")")
	p.on(p.target, "INSERT INTO person (id, owner, a, b) VALUES ("+idOf(stays, 1)+fmt.Sprintf(", %d, ", stays)+target+")")
	return map[catalog.TableName]catalog.Declaration{p.name("person"): byID}
}

// Before a move, all rows that the target would refuse are listed.
func TestPreflightFindsDuplicates(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		for _, d := range duplicates {
			if d.only != "" && d.only != p.engine {
				continue
			}
			found := strings.Join(p.look(p.duplicate(d.columns, d.source, d.target)), "\n")
			if d.value == "" {
				if found != "" {
					t.Errorf("%s: found %s", d.name, found)
				}
				continue
			}
			for _, want := range []string{"unique key ", "person", atSource(1), atTarget, d.value, "through a proxy"} {
				if strings.Count(found, "\n") > 0 || !strings.Contains(found, want) {
					t.Errorf("%s: found %q, want %q", d.name, found, want)
				}
			}
		}
	})
}

// Of many rows one has a twin: the first, the last, in the middle, alone, and of long values.
func TestPreflightFindsTheDuplicateOfMany(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		for _, at := range []uint64{2, 1000, 1001, 2500} {
			tables := p.duplicate("a VARCHAR(300), b INT, UNIQUE KEY loose (a)", "'first', 1", "REPEAT('z', 250), 2")
			p.on(p.source, "CREATE TABLE IF NOT EXISTS n (n INT PRIMARY KEY)", "INSERT IGNORE INTO n WITH RECURSIVE s AS (SELECT 2 n UNION ALL SELECT n + 1 FROM s WHERE n < 900) SELECT n FROM s",
				"INSERT IGNORE INTO n SELECT n + 899 FROM n", "INSERT IGNORE INTO n SELECT n + 1798 FROM n WHERE n <= 702")
			p.on(p.source, "INSERT INTO person SELECT "+idOf(moves, 0)+" + n * ("+idOf(moves, 1)+" - "+idOf(moves, 0)+fmt.Sprintf("), %d, CONCAT(REPEAT('y', 250), n), 1 FROM n", moves))
			p.on(p.source, "UPDATE person SET a = REPEAT('z', 250) WHERE id = "+idOf(moves, at))
			found := strings.Join(p.look(tables), "\n")
			if !strings.Contains(found, atSource(at)) || !strings.Contains(found, atTarget) {
				t.Errorf("row %d: found %q", at, found)
			}
		}
	})
}

// The comparison lists a duplicate that appears after the pre-flight, whether the copy or the stream brings it.
func TestTheComparisonNamesDuplicates(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		for _, streamed := range []bool{false, true} {
			p.duplicate("a VARCHAR(20) COLLATE utf8mb4_general_ci, b INT, UNIQUE KEY loose (a)", "'mail', 1", "'post', 1")
			tables := p.read(map[string]catalog.Declaration{"person": byID})
			p.job = p.database + "/" + t.Name() + map[bool]string{true: "/streamed"}[streamed]
			parts := moving(1)
			s := p.stream(applier.Config{Parts: parts}, tables)
			insert := "INSERT INTO person VALUES (" + idOf(moves, 2) + fmt.Sprintf(", %d, 'Post', 1), (", moves) + idOf(moves, 3) + fmt.Sprintf(", %d, 'other', 1)", moves)
			if !streamed {
				p.on(p.source, insert)
			}
			p.copy(s, copier.Config{}, tables)
			if streamed {
				p.on(p.source, insert)
			}
			p.settle(s)
			r := p.verify(s, tables, parts, 3)
			if len(r.Differences) != 1 || r.Differences[0].Kind != checksum.Missing {
				t.Fatalf("streamed %v: found %v", streamed, r.Differences)
			}
			text := r.Differences[0].String()
			for _, want := range []string{"unique key loose of table", atSource(2), atTarget, "post", "through a proxy", "locus repair --take source"} {
				if !strings.Contains(text, want) {
					t.Errorf("streamed %v: the text is %q, want %q", streamed, text, want)
				}
			}
			s.stop()
		}
	})
}
