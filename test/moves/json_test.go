package moves

import (
	"errors"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/checksum"
	"locus/migrate/copier"
	"locus/migrate/table"
	"locus/router/catalog"
)

// typed are JSON values of MySQL whose text does not contain their type.
var typed = []string{
	"JSON_OBJECT('a', 1.50)", "JSON_ARRAY(1, JSON_OBJECT('x', JSON_ARRAY(TIMESTAMP '2024-01-02 03:04:05')))", "CAST(1.5 AS JSON)",
	"CAST(TIME '10:00:00' AS JSON)", "CAST(DATE '2024-01-02' AS JSON)", "JSON_OBJECT('a', X'00ff')", "JSON_OBJECT('b', b'1')",
}

// JSON values whose type their text does not contain are refused before a move and by the copy. If the stream has
// brought one, the comparison finds it.
func TestTypesInsideJSON(t *testing.T) {
	p := newPair(t, servers.MySQL)
	declared := map[string]catalog.Declaration{"documents": byID}
	p.both("CREATE TABLE documents (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, inside JSON)")
	p.on(p.source, "INSERT INTO documents VALUES ("+idOf(1, 100)+`, 1, '{"a":[1,2.5,true,null,"x",{"b":1e100}]}'), (`+idOf(1, 101)+", 1, NULL)")
	tables := p.read(declared)
	parts := all(1)
	s := p.stream(applier.Config{Parts: parts}, tables)
	p.copy(s, copier.Config{}, tables)
	for n, v := range typed {
		p.on(p.source, "INSERT INTO documents VALUES ("+idOf(1, uint64(n+1))+", 1, "+v+")")
	}
	p.settle(s)
	v := checksum.New(checksum.Config{Job: p.job, Source: at(p.source), Target: at(p.target), Tables: tables, Parts: parts}, s)
	if _, err := v.Run(t.Context()); !errors.As(err, new(*table.TypedError)) {
		t.Errorf("compared: %v", err)
	}
	found := p.look(map[catalog.TableName]catalog.Declaration{p.name("documents"): byID})
	if !strings.Contains(strings.Join(found, "\n"), "values: table "+p.database+".documents has JSON values") {
		t.Errorf("before a move: %v", found)
	}
	for n := range typed {
		rows := p.typedRows()
		if rows != len(typed)-n {
			t.Errorf("%d rows are found, want %d", rows, len(typed)-n)
		}
		row := " WHERE id = " + idOf(1, uint64(n+1)) // as the remedy says
		p.on(p.source, "UPDATE documents SET inside = JSON_ARRAY(CAST(inside AS CHAR))"+row, "UPDATE documents SET inside = JSON_UNQUOTE(inside->'$[0]')"+row)
	}
	p.settle(s)
	if r := p.verify(s, tables, parts, 3); !r.Equal() {
		t.Errorf("mended: %v", r.Differences)
	}
}

// In one transaction a JSON value is replaced by another one that MySQL considers equal.
func TestEqualJSON(t *testing.T) {
	p := newPair(t, servers.MySQL)
	p.both("CREATE TABLE documents (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, inside JSON)", "INSERT INTO documents VALUES ("+idOf(1, 1)+`, 1, '{"a":1}')`)
	tables := p.read(map[string]catalog.Declaration{"documents": byID})
	s := p.stream(applier.Config{Parts: all(1)}, tables)
	p.on(p.source, "START TRANSACTION", "UPDATE documents SET inside = '[]'", `UPDATE documents SET inside = '{"a":1.0}'`, "COMMIT")
	p.settle(s)
	p.same(tables[0], "")
}

// typedRows counts the rows that can't be carried.
func (p *pair) typedRows() int {
	p.t.Helper()
	t := p.read(map[string]catalog.Declaration{"documents": byID})[0]
	rows, err := p.dial(p.source).Query(p.t.Context(), "SELECT id FROM "+t.SQL()+" WHERE "+t.TypedInside())
	if err != nil {
		p.t.Fatal(err)
	}
	return len(rows)
}
