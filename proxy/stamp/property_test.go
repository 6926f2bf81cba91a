package stamp

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/stmt"
)

// inserted is an INSERT as a client may write it: the text of every cell, and
// the same with some of the cells as placeholders.
type inserted struct {
	columns  []string
	cells    [][]string // literal
	prepared [][]string
	bound    []stmt.Value
	blanks   []string
	tail     string
}

var (
	owners = []int64{0, 1, 42, -1, 10001, 7, 8}
	notes  = []string{
		`'a'`, `'a), (b'`, `'it''s'`, `'back\'slash'`, `"double, ("`, `now()`, `concat('a', (1))`, `NULL`, `-1.5`, `x'41'`, `DEFAULT`,
		`/* c, ( */ 'a'`, `1 + ( 2 * 3 )`, `'买家-7'`,
	}
)

func drawInsert(t *rapid.T, f *fixture) inserted {
	in := inserted{columns: []string{"user_id", "note"}}
	for _, c := range []string{"id", "no", "ver"} {
		if rapid.Bool().Draw(t, c) {
			in.columns = append(in.columns, c)
		}
	}
	in.columns = rapid.Permutation(in.columns).Draw(t, "columns")
	in.blanks = rapid.SliceOfN(rapid.SampledFrom([]string{"", " ", "\n\t", "  "}), 3, 3).Draw(t, "blanks")
	in.tail = rapid.SampledFrom([]string{"", ";", " on duplicate key update note = 'x'", " ON DUPLICATE KEY UPDATE note = concat(note, 'y') ;"}).Draw(t, "tail")
	for n := range rapid.IntRange(1, 8).Draw(t, "rows") {
		in.addRow(t, f, n)
	}
	return in
}

func (in *inserted) addRow(t *rapid.T, f *fixture, n int) {
	owner := rapid.SampledFrom(owners).Draw(t, "owner")
	id, _ := layout.Compose(gene.OfInt(owner, gene.W16), 1, orderid.Seq(uint64(1000+n)))
	given := rapid.Bool().Draw(t, "given")
	var cells, prepared []string
	for _, c := range in.columns {
		cell, value := "", stmt.Value{}
		switch c {
		case "user_id":
			cell, value = strconv.FormatInt(owner, 10), stmt.IntValue(owner)
		case "note":
			cell = rapid.SampledFrom(notes).Draw(t, "note")
		case "id":
			cell, value = drawAsked(t)
			if given {
				cell, value = id.String(), stmt.IntValue(int64(id.Lo))
			}
		case "no":
			cell, value = drawAsked(t)
			if given && slices.Contains(in.columns, "id") && rapid.Bool().Draw(t, "number") {
				number, _ := f.ring.Encode(layout, id)
				cell, value = number.String(), stmt.IntValue(int64(number.Lo))
			}
		case "ver":
			cell, value = drawAsked(t)
			if rapid.Bool().Draw(t, "version") {
				cell, value = "7", stmt.IntValue(7)
			}
		}
		cells = append(cells, cell)
		if value.Kind != stmt.Unknown && value.Kind != stmt.Default && rapid.Bool().Draw(t, "placeholder") {
			in.bound = append(in.bound, value)
			cell = "?"
		}
		prepared = append(prepared, cell)
	}
	in.cells, in.prepared = append(in.cells, cells), append(in.prepared, prepared)
}

var layout, _ = orderid.ByName("int64")

func drawAsked(t *rapid.T) (string, stmt.Value) {
	switch rapid.IntRange(0, 2).Draw(t, "asked") {
	case 0:
		return "NULL", stmt.Value{Kind: stmt.Null}
	case 1:
		return "0", stmt.IntValue(0)
	}
	return "default", stmt.Value{Kind: stmt.Default}
}

func (in *inserted) sql(rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "insert into orders%s(%s)%svalues", in.blanks[0], strings.Join(in.columns, ","+in.blanks[1]), in.blanks[2])
	for i, row := range rows {
		if i > 0 {
			b.WriteString(in.blanks[1] + ",")
		}
		b.WriteString(in.blanks[0] + "(" + in.blanks[2] + strings.Join(row, ","+in.blanks[1]) + in.blanks[1] + ")")
	}
	return b.String() + in.tail
}

// reread is a stamped row, read back from the text.
type reread struct {
	shard  int
	values map[string]stmt.Value
	texts  map[string]string
}

// readBack lexes and plans the stamped texts again, and returns the rows in the order of the shards.
func readBack(t *rapid.T, f *fixture, r *Result, prepared bool, bound []stmt.Value) (rows []reread) {
	for _, shard := range r.Shards {
		var given []stmt.Value
		for _, p := range shard.Params {
			if p.Bound >= 0 {
				given = append(given, bound[p.Bound])
			} else {
				given = append(given, p.Value)
			}
		}
		s, err := f.plan(string(shard.Text), given)
		if err != nil {
			t.Fatalf("%s: %v", shard.Text, err)
		}
		in := s.plan.Insert
		if len(in.Added) > 0 || in.Rows(&s.args) != shard.Rows || (prepared && s.lexed.Params != len(shard.Params)) {
			t.Fatalf("%s: %d rows, want %d; missing %v; %d parameters of %d", shard.Text, in.Rows(&s.args), shard.Rows, in.Added, len(shard.Params), s.lexed.Params)
		}
		for i := range shard.Rows {
			row := reread{shard.Shard, map[string]stmt.Value{}, map[string]string{}}
			for at, c := range in.Columns {
				name := in.Table.Columns[c].Name
				v := in.Value(&s.values, i, at)
				v.Text = bytes.Clone(v.Text)
				cell := s.lexed.Cells[int(s.lexed.Rows[i].First)+at]
				row.values[name], row.texts[name] = v, strings.TrimSpace(string(s.lexed.Text[cell.Start:cell.End]))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func TestStampedTextsReadBack(t *testing.T) {
	f := newFixture(t)
	var s Stamper
	rapid.Check(t, func(t *rapid.T) {
		in := drawInsert(t, f)
		text, err := f.run(&s, in.sql(in.cells), nil, &counter{})
		if err != nil {
			if in.refusable() {
				return
			}
			t.Fatalf("%s: %v", in.sql(in.cells), err)
		}
		literal := readBack(t, f, text, false, nil)
		first, hasID := text.FirstID, text.HasID
		in.check(t, f, literal, first, hasID)

		if len(in.bound) == 0 {
			return
		}
		prepared, err := f.run(&s, in.sql(in.prepared), in.bound, &counter{})
		if err != nil {
			t.Fatalf("%s: %v", in.sql(in.prepared), err)
		}
		if prepared.FirstID != first || prepared.HasID != hasID {
			t.Fatal("the prepared form has another first ID")
		}
		for i, row := range readBack(t, f, prepared, true, in.bound) {
			if row.shard != literal[i].shard {
				t.Fatalf("row %d: another shard", i)
			}
			for name, v := range row.values {
				if want := literal[i].values[name]; v.Kind != want.Kind || v.String() != want.String() {
					t.Fatalf("row %d, %s: %v prepared, %v as text", i, name, v, want)
				}
			}
		}
	})
}

// refusable reports whether a row has an order number without its ID, which is refused.
func (in *inserted) refusable() bool {
	no := slices.Index(in.columns, "no")
	id := slices.Index(in.columns, "id")
	return no >= 0 && id >= 0 && slices.ContainsFunc(in.cells, func(row []string) bool { return len(row[no]) > 7 && len(row[id]) <= 7 })
}

// check holds the rows that were read back to those that the client wrote.
func (in *inserted) check(t *rapid.T, f *fixture, rows []reread, first orderid.ID, hasID bool) {
	order := in.byShard(f)
	if len(order) != len(rows) {
		t.Fatalf("%d rows, want %d", len(rows), len(order))
	}
	next := map[gene.Gene]uint64{}
	seen := map[int]orderid.ID{}
	for at, i := range order {
		row := rows[at]
		g := in.gene(i)
		if row.shard != f.m.Lookup(g) {
			t.Fatalf("row %d is on shard %d", i, row.shard)
		}
		in.checkGiven(t, i, row)
		id, err := layout.FromInt(row.values["id"].Int)
		if err != nil || layout.Gene(id) != g {
			t.Fatalf("row %d: ID %v (%v), gene %v", i, row.values["id"], err, g)
		}
		if seq := layout.Sequence(id).Lo; seq < 1000 {
			next[g]++
			if seq != next[g] {
				t.Fatalf("row %d: sequence %d, want %d", i, seq, next[g])
			}
			seen[i] = id
		}
		number, err := layout.FromInt(row.values["no"].Int)
		if err == nil {
			number, err = f.ring.Decode(layout, number)
		}
		if err != nil || number != id {
			t.Fatalf("row %d: order number %v (%v) of %v", i, row.values["no"], err, id)
		}
		if v := row.values["ver"]; v.Int != 1 && v.Int != 7 {
			t.Fatalf("row %d: version %v", i, v)
		}
	}
	for i := range in.cells {
		if id, ok := seen[i]; ok {
			if !hasID || id != first {
				t.Fatalf("first ID %v, want %v", first, id)
			}
			return
		}
	}
	if hasID {
		t.Fatal("a first ID where none was generated")
	}
}

// checkGiven compares the cells that the client filled with the values that it wrote.
func (in *inserted) checkGiven(t *rapid.T, i int, row reread) {
	for c, name := range in.columns {
		cell := in.cells[i][c]
		asked := name != "note" && name != "user_id" && (strings.EqualFold(cell, "null") || cell == "0" || cell == "default")
		if !asked && row.texts[name] != cell {
			t.Fatalf("row %d: %s is %q, was %q", i, name, row.texts[name], cell)
		}
	}
}

func (in *inserted) gene(i int) gene.Gene {
	owner, _ := strconv.ParseInt(in.cells[i][slices.Index(in.columns, "user_id")], 10, 64)
	return gene.OfInt(owner, gene.W16)
}

// byShard returns the numbers of the rows in the order in which the shards get them.
func (in *inserted) byShard(f *fixture) (order []int) {
	for shard := range f.m.Shards() {
		for i := range in.cells {
			if f.m.Lookup(in.gene(i)) == shard {
				order = append(order, i)
			}
		}
	}
	return order
}
