package moves

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/checkpoint"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

func (p *pair) verify(s checksum.Stream, tables []*table.Table, parts table.Parts, rows int) checksum.Result {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	r, err := checksum.New(checksum.Config{
		Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts, PieceRows: rows,
	}, s).Run(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// Rows that are equal on both servers are found equal, for every type, however they were written.
func TestVerifyTypes(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		kinds := matrix(p.engine)
		declared := map[string]catalog.Declaration{}
		var create []string
		for i, k := range kinds {
			name := fmt.Sprintf("t%d", i)
			declared[name] = byID
			create = append(create, "CREATE TABLE "+name+" (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, v "+k.sql+")")
		}
		p.both(create...)
		p.fill(kinds, 1)
		tables := p.read(declared)
		parts := all(1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(s, copier.Config{}, tables)
		p.fill(kinds, 2)
		p.settle(s)
		if r := p.verify(s, tables, parts, 3); !r.Equal() {
			t.Errorf("found differences: %v, %d unsettled", r.Differences, r.Unsettled)
		}
	})
}

// planted are changes of the target that the source does not have.
var planted = []struct {
	name, sql string
	only      servers.Engine
	kind      checksum.Kind
	columns   string
}{
	{name: "missing", sql: "DELETE FROM planted WHERE n = 1", kind: checksum.Missing},
	{name: "extra", sql: "INSERT INTO planted SELECT id + 500, owner, 1000, a, b, c, d, j, f, t FROM planted WHERE n = 2", kind: checksum.Extra},
	{name: "one byte", sql: "UPDATE planted SET b = INSERT(b, 50000, 1, 'y') WHERE n = 3", columns: "[b]"},
	{name: "NULL and empty", sql: "UPDATE planted SET a = NULL WHERE n = 4", columns: "[a]"},
	{name: "empty and NULL", sql: "UPDATE planted SET d = '' WHERE n = 5", columns: "[d]"},
	{name: "equal by collation", sql: "UPDATE planted SET c = 'STRASSE' WHERE n = 6", columns: "[c]"},
	{name: "trailing space", sql: "UPDATE planted SET c = 'strasse ' WHERE n = 7", columns: "[c]"},
	{name: "order of JSON keys", sql: `UPDATE planted SET j = '{"b":2,"a":1}' WHERE n = 8`, only: servers.MariaDB, columns: "[j]"},
	{name: "value of JSON", sql: `UPDATE planted SET j = '[]' WHERE n = 9; UPDATE planted SET j = '{"a":1.0,"b":2}' WHERE n = 9`, columns: "[j]"},
	{name: "last bit of a float", sql: "UPDATE planted SET f = 0.10000000894069672e0 WHERE n = 10", columns: "[f]"},
	{name: "sign of zero", sql: "UPDATE planted SET f = f * -1 WHERE n = 11", only: servers.MySQL, columns: "[f]"},
	{name: "microsecond", sql: "UPDATE planted SET t = '2024-01-02 03:04:05.000001' WHERE n = 12", columns: "[t]"},
	{name: "values exchanged", sql: "UPDATE planted SET a = 'other', d = '' WHERE n = 13", columns: "[a d]"},
}

func plantedRow(n int) string {
	f := "0.1e0"
	if n == 11 {
		f = "0e0"
	}
	d := "NULL"
	if n == 13 {
		d = "'other'"
	}
	return fmt.Sprintf(`INSERT INTO planted VALUES (%s, %d, %d, '', REPEAT('x', 60000), 'strasse', %s, '{"a":1,"b":2}', %s, '2024-01-02 03:04:05')`,
		idOf(int64(n), uint64(n)), n, n, d, f)
}

// The comparison finds every planted difference, and no other, while applications write.
func TestPlantedDifferences(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.both("CREATE TABLE planted (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n INT NOT NULL, a VARCHAR(20), b MEDIUMTEXT," +
			" c VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, d VARCHAR(20), j JSON, f FLOAT, t DATETIME(6))")
		for n := 1; n <= 40; n++ {
			p.on(p.source, plantedRow(n))
		}
		tables := append(p.read(map[string]catalog.Declaration{"planted": byID}), p.tables()...)
		p.seed()
		parts := all(2)
		s := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(s, copier.Config{}, tables)
		want := p.plant(s)
		stop := p.writers(2, write)
		defer stop()
		for _, rows := range []int{1000, 3} {
			if err := checkpoint.Restart(t.Context(), p.dial(p.target), p.job, checkpoint.Verify); err != nil {
				t.Fatal(err)
			}
			p.foundAll(p.verify(s, tables, parts, rows), want)
		}
		// A resumed comparison finds the differences again, because it records only equal rows.
		p.foundAll(p.verify(s, tables, parts, 3), want)
	})
}

// plant changes the target, and returns the expected differences.
func (p *pair) plant(s *stream) []string {
	p.settle(s)
	var want []string
	for _, d := range planted {
		if d.only != "" && d.only != p.engine {
			continue
		}
		p.on(p.target, append([]string{"SET SESSION sql_mode = ''"}, strings.Split(d.sql, "; ")...)...)
		if d.kind == "" {
			want = append(want, string(checksum.Differs)+" "+d.columns)
		} else {
			want = append(want, string(d.kind)+" []")
		}
	}
	slices.Sort(want)
	return want
}

func (p *pair) foundAll(r checksum.Result, want []string) {
	p.t.Helper()
	var got []string
	for _, d := range r.Differences {
		got = append(got, fmt.Sprintf("%s %v", d.Kind, d.Columns))
		if d.Table.Name.Name != "planted" {
			p.t.Errorf("found in a table that is the same: %s", d)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.t.Errorf("found\n%s\nplanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A write without a proxy does not replace a newer row at the target, and a unique key may refuse it. The row at the
// target stays, and both rows are recorded.
func TestConflicts(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		p.on(p.source,
			"INSERT INTO orders VALUES ("+idOf(1, 1)+", 1, 5, 'here', 'x'), ("+idOf(1, 2)+", 1, 5, 'here', 'x'), ("+idOf(1, 3)+", 1, 5, 'here', 'x')",
			fmt.Sprintf("INSERT INTO notices VALUES ('one', 1, %d, 1, 'a')", geneOf(1)))
		// Rows of no owner, which the pre-flight would have reported.
		p.on(p.target, fmt.Sprintf("INSERT INTO notices VALUES ('two', 2, %d, 1, 'b'), ('three', 3, %d, 7, 'c')", geneOf(2), geneOf(3)))
		parts := table.Split(genesOf(1), 1)
		s := p.stream(applier.Config{Parts: parts, Judge: strays}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		p.on(p.target, "UPDATE orders SET version = 9, state = 'newer' WHERE owner = 1 AND id <> "+idOf(1, 1))
		p.on(p.source,
			"UPDATE orders SET version = 4, state = 'older' WHERE id = "+idOf(1, 1),
			"DELETE FROM orders WHERE id = "+idOf(1, 2),
			"UPDATE orders SET version = 9, state = 'equal' WHERE id = "+idOf(1, 3),
			fmt.Sprintf("INSERT INTO notices VALUES ('three', 1, %d, 70, 'd')", geneOf(1)), // another gene has the key
			fmt.Sprintf("INSERT INTO notices VALUES ('four', 1, %d, 7, 'e')", geneOf(1)),   // and the slot
			fmt.Sprintf("INSERT INTO notices VALUES ('five', 1, %d, 5, 'f')", geneOf(1)))
		p.settle(s)
		var reasons []string
		for _, c := range p.conflicts(p.target) {
			reasons = append(reasons, fmt.Sprintf("%s|%s|%s|%s", c.Table[len(p.database)+1:], c.Reason, c.Incoming, c.Standing))
		}
		slices.Sort(reasons)
		p.wantConflicts(reasons)
		if got := s.Progress().Conflicts; got != int64(len(reasons)) {
			t.Errorf("%d conflicts are counted and %d kept", got, len(reasons))
		}
		p.wantRows(p.target, "SELECT GROUP_CONCAT(version, state ORDER BY id) FROM orders", "5here,9newer,9newer")
		p.wantRows(p.target, "SELECT GROUP_CONCAT(name, slot ORDER BY name) FROM notices", "five5,three7,two1")
	})
}

func (p *pair) wantConflicts(got []string) {
	p.t.Helper()
	const changed = "a row that was written without a proxy was also changed"
	want := []string{"notices|", "notices|", "notices|copied: ", "orders|a DELETE: " + changed, "orders|" + changed, "orders|the target has a newer version"}
	if len(got) != len(want) {
		p.t.Fatalf("conflicts:\n%s", strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			p.t.Errorf("conflict %q, want %q", got[i], want[i])
		}
		if stands := strings.Contains(got[i], "'newer'") || strings.Contains(got[i], "'here'"); strings.HasPrefix(got[i], "orders") && !stands {
			p.t.Errorf("conflict %q does not say what stands", got[i])
		}
	}
}

func (p *pair) wantRows(s *servers.Server, query, want string) {
	p.t.Helper()
	var got string
	if err := s.DB(p.t, p.database).QueryRowContext(p.t.Context(), query).Scan(&got); err != nil || got != want {
		p.t.Errorf("%s: %s (%v), want %s", query, got, err, want)
	}
}

// A second process that takes the job over stops the first, which writes nothing
// more.
func TestTakenOver(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.tables()
		parts := all(2)
		first := p.stream(applier.Config{Parts: parts}, tables)
		p.settle(first)
		second := p.stream(applier.Config{Parts: parts}, tables)
		p.seed()
		p.settle(second)
		<-first.ended
		if !errors.Is(first.err, checkpoint.ErrFenced) {
			t.Errorf("the first process ended with %v", first.err)
		}
		p.sameMoved(tables, parts)
	})
}
