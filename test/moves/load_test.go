package moves

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"locus/migrate/applier"
	"locus/migrate/copier"
	"locus/router/catalog"
)

// Bytes with a meaning in files of LOAD DATA are loaded unchanged; no table needs another way of writing because of
// them.
func TestLoadedBytes(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		defer p.takesFiles(true)()
		p.both("CREATE TABLE t (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, a VARBINARY(600), b VARCHAR(40) CHARACTER SET latin1, c LONGBLOB)")
		rng := rand.New(rand.NewPCG(1, 2))
		special := []byte("\\\t\n\r\x00\x1a'\"Nn0tbZ,;\xff\xc3 ")
		value := func(most int) string {
			switch rng.IntN(8) {
			case 0:
				return "NULL"
			case 1:
				return "''"
			}
			b := make([]byte, 1+rng.IntN(most))
			for i := range b {
				b[i] = special[rng.IntN(len(special))]
			}
			return fmt.Sprintf("X'%x'", b)
		}
		const rows = 3000
		var texts []string
		for n := range rows {
			long := 40
			if n%500 == 0 {
				long = 700_000 // more than a packet of the file
			}
			texts = append(texts, fmt.Sprintf("(%s, %d, %s, %s, %s)", idOf(int64(n), uint64(n)), n, value(600), value(40), value(long)))
			if n%250 == 249 {
				p.on(p.source, "INSERT INTO t VALUES "+strings.Join(texts, ","))
				texts = nil
			}
		}
		tables := p.read(map[string]catalog.Declaration{"t": byID})
		s := p.stream(applier.Config{Parts: all(2)}, tables)
		loaded, inserted := p.status("Com_load"), p.status("Com_insert")
		p.copy(s, copier.Config{ChunkBytes: 1 << 20}, tables)
		if n := p.status("Com_load") - loaded; n < 4 {
			t.Errorf("LOAD DATA was run %d times", n)
		}
		if n := p.status("Com_insert") - inserted; n > 0 {
			t.Errorf("%d INSERTs", n)
		}
		if n := p.same(tables[0], ""); n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	})
}

// Rows that LOAD DATA would skip silently are reported as by an INSERT: a row with another row's unique value is a
// conflict.
func TestARowInTheWayOfLoadedOnes(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		defer p.takesFiles(true)()
		p.both("CREATE TABLE t (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, name VARCHAR(20) UNIQUE)")
		for n := range 50 {
			p.on(p.source, fmt.Sprintf("INSERT INTO t VALUES (%s, %d, 'n%d')", idOf(int64(n), 1), n, n))
		}
		p.on(p.target, fmt.Sprintf("INSERT INTO t VALUES (%s, 1000, 'n7')", idOf(1000, 9)))
		tables := p.read(map[string]catalog.Declaration{"t": byID})
		s := p.stream(applier.Config{Parts: all(1)}, tables)
		loaded := p.status("Com_load")
		p.copy(s, copier.Config{}, tables)
		if p.status("Com_load") == loaded {
			t.Error("LOAD DATA was not tried")
		}
		if c := p.conflicts(p.target); len(c) != 1 || s.Progress().Conflicts != 1 {
			t.Errorf("conflicts: %v", c)
		}
		if n := len(p.rows(p.target, tables[0], "")); n != 50 { // 49, and the one that was there
			t.Errorf("%d rows", n)
		}
	})
}

// If the target stops accepting files while rows are copied, the rows are written by statements.
func TestFilesAreNoLongerTaken(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		defer p.takesFiles(true)()
		declared := map[string]catalog.Declaration{}
		for _, name := range []string{"a", "b"} {
			declared[name] = byID
			p.both("CREATE TABLE " + name + " (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL)")
			for n := range 20 {
				p.on(p.source, fmt.Sprintf("INSERT INTO %s VALUES (%s, %d)", name, idOf(int64(n), 1), n))
			}
		}
		tables := p.read(declared)
		s := p.stream(applier.Config{Parts: all(1)}, tables)
		loaded := p.status("Com_load")
		p.copy(s, copier.Config{}, tables[:1])
		if p.status("Com_load") == loaded {
			t.Error("the first table was not loaded")
		}
		p.takesFiles(false)
		p.copy(s, copier.Config{}, tables[1:])
		for _, table := range tables {
			if n := p.same(table, ""); n != 20 {
				t.Errorf("%s has %d rows", table.Name, n)
			}
		}
	})
}
