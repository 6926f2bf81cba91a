package moves

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/copier"
	"locus/migrate/owned"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// lowering are writes of the owner's clients that make a version lower, equal or NULL, or that don't set it.
var lowering = []string{
	"REPLACE INTO @t (id, owner, version, state) VALUES (@1, 1, 1, 'replaced')",
	"REPLACE INTO @t (id, owner, version, state) VALUES (@1, 1, 0, 'replaced'), (@2, 1, 5, 'replaced'), (@9, 1, 0, 'new')",
	"UPDATE @t SET version = version - 1, state = 'lowered' WHERE id = @2",
	"UPDATE @t SET version = 0 WHERE owner = 1",
	"UPDATE @t SET state = CONCAT(state, '!') WHERE id = @3",
	"INSERT INTO @t (id, owner, version, state) VALUES (@3, 1, 1, 'x') ON DUPLICATE KEY UPDATE version = VALUES(version), state = 'upserted'",
	"DELETE FROM @t WHERE id = @4; INSERT INTO @t (id, owner, version, state) VALUES (@4, 1, 1, 'again')",
	"BEGIN; DELETE FROM @t WHERE id = @5; INSERT INTO @t (id, owner, version, state) VALUES (@5, 1, -7, 'again'); COMMIT",
	"BEGIN; UPDATE @t SET id = @8 WHERE id = @1; UPDATE @t SET id = @1 WHERE id = @2; UPDATE @t SET id = @2 WHERE id = @8; COMMIT",
	"UPDATE @t SET version = NULL WHERE id = @3",
	"DELETE FROM @t WHERE owner = 1",
	"INSERT INTO @t (id, owner, version, state) VALUES (@1, 1, 0, 'back'), (@2, 1, 0, 'back'), (@3, 1, 0, 'back')",
}

// lowered are the tables that these writes go to: with and without a version column, a unique key, text as the key.
var lowered = map[string]struct {
	definition string
	declared   catalog.Declaration
}{
	"versioned":   {"id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, version INT, state VARCHAR(40), KEY (owner)", versionedByID},
	"unversioned": {"id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, version INT, state VARCHAR(40), KEY (owner)", byID},
	"keyed":       {"id BIGINT NOT NULL, owner BIGINT NOT NULL, version INT, state VARCHAR(40), UNIQUE KEY wide (owner, id), UNIQUE KEY by_id (id)", versionedByID},
	"paired":      {"state VARCHAR(40), owner BIGINT NOT NULL, version INT, id BIGINT NOT NULL, UNIQUE KEY pair (id, owner)", byID},
	"descending":  {"id BIGINT NOT NULL, owner BIGINT NOT NULL, version INT, state VARCHAR(40), UNIQUE KEY down (id DESC), KEY (owner)", versionedByID},
	"mixed":       {"id BIGINT NOT NULL, owner BIGINT NOT NULL, version INT, state VARCHAR(40), UNIQUE KEY down (owner DESC, id)", byID},
	"slotted":     {"id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, version INT, state VARCHAR(40), slot INT AS (version % 1000 + owner * 0) STORED, UNIQUE KEY (owner, id)", versionedByID},
}

var versionedByID = catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", Version: "version", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}}

func lowerings(name string) []string {
	var all []string
	for _, s := range lowering {
		s = strings.ReplaceAll(s, "@t", name)
		for n := range uint64(10) {
			s = strings.ReplaceAll(s, fmt.Sprintf("@%d", n), idOf(1, n))
		}
		all = append(all, strings.Split(s, "; ")...)
	}
	return all
}

func (p *pair) lowered() []*table.Table {
	p.t.Helper()
	declared := map[string]catalog.Declaration{}
	for name, of := range lowered {
		p.both("CREATE TABLE " + name + " (" + of.definition + ")")
		declared[name] = of.declared
	}
	return p.read(declared)
}

func (p *pair) fillLowered() {
	p.t.Helper()
	for name := range lowered {
		for n := range uint64(6) {
			p.on(p.source, fmt.Sprintf("INSERT INTO %s (id, owner, version, state) VALUES (%s, 1, 9, 'first')", name, idOf(1, n)))
		}
	}
}

// TestOwnersChangesAreApplied: changes of clients at the owner are applied whatever their version, while the rows are
// copied and after, and none is recorded as a conflict. The reverse stream does the same after the genes have changed
// hands.
func TestOwnersChangesAreApplied(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.lowered()
		p.fillLowered()
		parts := table.Split(genesOf(1), 1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		for name := range lowered { // while nothing is copied
			p.on(p.source, lowerings(name)...)
		}
		p.fillAgain()
		p.copy(s, copier.Config{ChunkBytes: 50}, tables)
		p.settle(s)
		for name := range lowered {
			p.on(p.source, lowerings(name)...)
		}
		p.settle(s)
		p.sameTables(tables)
		back := p.streamBetween(applier.Config{Job: p.job + "/back", Parts: parts, Copied: func() bool { return true }}, tables, p.target, p.source)
		p.settleFrom(back, p.target)
		for name := range lowered {
			p.on(p.target, lowerings(name)...)
		}
		p.settleFrom(back, p.target)
		p.sameTables(tables)
		for _, st := range []*stream{s, back} {
			if n := st.Progress(); n.Conflicts+n.Overwritten > 0 {
				t.Errorf("%d conflicts, %d rows overwritten", n.Conflicts, n.Overwritten)
			}
		}
		if c := p.conflicts(p.target); len(c) > 0 {
			t.Errorf("conflicts: %+v", c)
		}
	})
}

// fillAgain inserts rows with higher versions than the writes have.
func (p *pair) fillAgain() {
	p.t.Helper()
	for name := range lowered {
		p.on(p.source, "UPDATE "+name+" SET version = 9, state = 'second'")
	}
}

func (p *pair) sameTables(tables []*table.Table) {
	p.t.Helper()
	for _, t := range tables {
		if p.same(t, "") == 0 {
			p.t.Errorf("%s: no rows", t.Name)
		}
	}
}

// TestOwnersChangesReplaceStrays: a row at the target that differs from the owner's is recorded, and then replaced by
// the owner's.
func TestOwnersChangesReplaceStrays(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.lowered()
		p.fillLowered()
		copied := false
		s := p.stream(applier.Config{Parts: table.Split(genesOf(1), 1), Copied: func() bool { return copied }}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		copied = true // after the stream has settled, and before it reads more
		for name := range lowered {
			p.on(p.target,
				"UPDATE "+name+" SET version = 50, state = 'stray' WHERE id IN ("+idOf(1, 1)+","+idOf(1, 2)+")",
				"DELETE FROM "+name+" WHERE id IN ("+idOf(1, 3)+","+idOf(1, 4)+")",
				"INSERT INTO "+name+" (id, owner, version, state) VALUES ("+idOf(1, 7)+", 1, 70, 'stray'), ("+idOf(1, 8)+", 1, 70, 'stray')")
			p.on(p.source,
				"UPDATE "+name+" SET version = 1, state = 'mine' WHERE id = "+idOf(1, 1),
				"DELETE FROM "+name+" WHERE id IN ("+idOf(1, 2)+","+idOf(1, 4)+")",
				"UPDATE "+name+" SET version = 2 WHERE id = "+idOf(1, 3),
				"REPLACE INTO "+name+" (id, owner, version, state) VALUES ("+idOf(1, 7)+", 1, 1, 'mine')",
				"INSERT INTO "+name+" (id, owner, version, state) VALUES ("+idOf(1, 8)+", 1, 1, 'mine')")
		}
		p.settle(s)
		p.sameTables(tables)
		kept := map[string]int{}
		for _, c := range p.conflicts(p.target) {
			if !strings.HasPrefix(c.Reason, "applied: ") && !strings.HasPrefix(c.Reason, "a DELETE: applied: ") {
				t.Errorf("a reason is %s", c.Reason)
			}
			if standing := string(c.Standing); standing != "" && !strings.Contains(standing, "'stray'") {
				t.Errorf("what was replaced is %s", standing)
			}
			kept[c.Table]++
		}
		for name := range lowered {
			if kept[p.database+"."+name] != 5 { // the deleted row that the owner deletes as well is equal
				t.Errorf("%s: %d records, of 5", name, kept[p.database+"."+name])
			}
		}
		if n := s.Progress(); n.Conflicts != 0 || n.Overwritten != int64(5*len(lowered)) {
			t.Errorf("%d were refused and %d overwritten", n.Conflicts, n.Overwritten)
		}
	})
}

// TestOwnershipByPosition checks a log with changes before and after a step. They are judged by their positions and not by the
// current owner, even by a process that continues from a checkpoint before the step.
func TestOwnershipByPosition(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		tables := p.lowered()
		p.fillLowered()
		parts := table.Split(genesOf(1), 1)
		s := p.stream(applier.Config{Parts: parts}, tables)
		p.copy(s, copier.Config{}, tables)
		p.settle(s)
		s.stop()
		// The owner's writes, the step, and writes without a proxy after it. The stream has read none of them.
		for name := range lowered {
			p.on(p.source, "UPDATE "+name+" SET version = 3, state = 'owned' WHERE id IN ("+idOf(1, 1)+","+idOf(1, 2)+")")
		}
		here, err := changes.Current(t.Context(), p.dial(p.source))
		if err != nil {
			t.Fatal(err)
		}
		bound, err := here.Bound()
		if err != nil {
			t.Fatal(err)
		}
		rows := router.Whole(genesOf(1))
		var l owned.Ledger
		l.Settle(map[string]owned.History{"leg": {Target: rows, Steps: []owned.Step{{Rows: rows, To: owned.Target, At: owned.Bounds{bound, bound}}}}}, true)
		for name := range lowered {
			p.on(p.source, "UPDATE "+name+" SET version = 2, state = 'late' WHERE id = "+idOf(1, 1))
			p.on(p.source, "UPDATE "+name+" SET version = 3, state = 'carried' WHERE id = "+idOf(1, 2))
		}
		again := p.stream(applier.Config{Parts: parts, Copied: l.Copied, Judge: func(at changes.Position) (applier.Verdicts, error) {
			of, err := at.Transaction()
			return func(ctx context.Context, g gene.Gene, r orderid.Residue) (applier.Verdict, error) {
				owns, err := l.Owned(ctx, "leg", owned.Source, of, g, r)
				if owns {
					return applier.Apply, err
				}
				return applier.IfUnchanged, err
			}, err
		}}, tables)
		p.settle(again)
		versioned := int64(0)
		for name, of := range lowered {
			first := "late"
			if of.declared.Version != "" { // a stray with a lower version is refused
				first = "owned"
				versioned++
			}
			p.wantRows(p.target, "SELECT GROUP_CONCAT(state ORDER BY id) FROM "+name+" WHERE id IN ("+idOf(1, 1)+","+idOf(1, 2)+")", first+",carried")
		}
		if n := again.Progress(); n.Conflicts != versioned || n.Overwritten != 0 {
			t.Errorf("%d were refused and %d overwritten", n.Conflicts, n.Overwritten)
		}
	})
}

// TestRowsThatReferToThemselves: MySQL logs first that a row no longer refers to itself, then its deletion as the row was before. Both
// are applied and nothing is recorded, regardless of the owner of the row, with other changes between them, one by one, and in different batches.
func TestRowsThatReferToThemselves(t *testing.T) {
	eachKin(t, func(t *testing.T, p *pair) {
		for name, judge := range map[string]applier.Judge{"owner": nil, "stray": strays} {
			for _, batch := range []int{1000, 2} {
				for _, taken := range []bool{false, true} {
					p.refersToItself(name, judge, batch, taken)
				}
			}
		}
	})
}

// refersToItself deletes rows that refer to themselves. If taken is true, one of them has a unique value of a row at
// the target, so that changes are applied one by one.
func (p *pair) refersToItself(name string, judge applier.Judge, batch int, taken bool) {
	p.t.Helper()
	what := fmt.Sprintf("%s, %d rows at once, one by one %v", name, batch, taken)
	p.both("DROP TABLE IF EXISTS w", "CREATE TABLE w (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, p BIGINT, x INT, KEY (p), UNIQUE KEY (owner, x), FOREIGN KEY (p) REFERENCES w (id) ON DELETE SET NULL)")
	tables := p.read(map[string]catalog.Declaration{"w": byID})
	if err := table.Tie(p.t.Context(), p.dial(p.source), tables); err != nil {
		p.t.Fatal(err)
	}
	root, last := idOf(1, 1), idOf(1, 9)
	p.on(p.source, "INSERT INTO w VALUES ("+root+", 1, "+root+", 1), ("+last+", 1, "+last+", 9)")
	for n := range 7 {
		p.on(p.source, fmt.Sprintf("INSERT INTO w VALUES (%s, 1, %s, %d)", idOf(1, uint64(n+2)), root, n+2))
	}
	p.job = fmt.Sprintf("%s/%s/%s", p.database, p.t.Name(), what)
	config := applier.Config{Parts: all(1), Judge: judge, BatchRows: batch, Copied: func() bool { return true }}
	s := p.stream(config, tables)
	p.copy(s, copier.Config{}, tables)
	p.settle(s)
	s.stop()
	if batch > 2 {
		config.Stop, config.Saw = untilSeen(idOf(1, 50))
	}
	s = p.stream(config, tables)
	defer s.stop()
	p.on(p.source, "UPDATE w SET x = 60 WHERE id = "+idOf(1, 5))
	statements := []string{
		"BEGIN", "DELETE FROM w WHERE id = " + root, "REPLACE INTO w VALUES (" + last + ", 1, " + last + ", 9)", "DELETE FROM w WHERE id = " + last,
		"INSERT INTO w VALUES (" + idOf(1, 50) + ", 1, NULL, 50)", "COMMIT",
	}
	other := " AND x <> 77"
	if taken {
		p.on(p.target, "INSERT INTO w VALUES ("+idOf(1, 98)+", 1, NULL, 77)")
		statements = append([]string{"BEGIN", "INSERT INTO w VALUES (" + idOf(1, 99) + ", 1, NULL, 77)"}, statements[1:]...)
	}
	p.on(p.source, statements...)
	p.settle(s)
	if n := p.same(tables[0], "owner = 1"+other); n != 8 {
		p.t.Errorf("%s: %d rows are left", what, n)
	}
	for _, c := range p.conflicts(p.target) {
		if !taken || !strings.Contains(string(c.Incoming), "77") {
			p.t.Errorf("%s: %s: %s for %s", what, c.Reason, c.Incoming, c.Standing)
		}
	}
}

// untilSeen keeps workers from writing until the stream has brought a row with an ID, so that what is before it is one batch.
func untilSeen(id string) (stop func(applier.Point) error, saw func(*table.Table, table.Row)) {
	seen := make(chan struct{})
	var once sync.Once
	stop = func(at applier.Point) error {
		if at == applier.Begun {
			<-seen
		}
		return nil
	}
	return stop, func(_ *table.Table, r table.Row) {
		if string(r[0]) == id {
			once.Do(func() { close(seen) })
		}
	}
}
