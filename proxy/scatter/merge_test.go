package scatter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"

	"locus/proxy/wire"
	"locus/router/plan"
)

func drawLimit(t *rapid.T) plan.Window {
	if !rapid.Bool().Draw(t, "limited") {
		return plan.Window{}
	}
	return plan.Window{Offset: rapid.Uint64Range(0, 20).Draw(t, "offset"), Count: rapid.Uint64Range(0, 30).Draw(t, "count"), Set: true}
}

func of(l plan.Window, rows [][]value) [][]value {
	if !l.Set {
		return rows
	}
	from := min(l.Offset, uint64(len(rows)))
	return rows[from:min(from+l.Count, uint64(len(rows)))]
}

// forShard returns the rows that the shards are asked for.
func forShard(l plan.Window, rows [][]value) [][]value {
	return of(plan.Window{Count: l.Offset + l.Count, Set: l.Set}, rows)
}

// spread distributes the rows to up to four shards.
func spread(t *rapid.T, rows [][]value) [][][]value {
	parts := make([][][]value, rapid.IntRange(1, 4).Draw(t, "shards"))
	for _, row := range rows {
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "shard")
		parts[i] = append(parts[i], row)
	}
	return parts
}

func start(t *rapid.T, tab table, parts [][][]value, f Format) []*fakeShard {
	var shards []*fakeShard
	for i, rows := range parts {
		chunks := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 7), rapid.IntRange(1, 5000)), 1, 5).Draw(t, "chunks")
		answer := result(tab.definitions(), f, tab.encode(rows, f), wire.EOF{Warnings: uint16(i + 1), Status: uint16(i)})
		shards = append(shards, newShard(fmt.Sprintf("s%d", i), answer, chunks, false))
	}
	return shards
}

// check runs a merge and compares what the client reads with the rows wanted.
func check(t *rapid.T, tab table, parts [][][]value, m *plan.Merge, f Format, l plan.Window, want [][]value) {
	capabilities := rapid.SampledFrom([]uint32{mysql.CLIENT_PROTOCOL_41, mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_DEPRECATE_EOF}).Draw(t, "capabilities")
	shards := start(t, tab, parts, f)
	got, o, err := run(shards, m, f, l, capabilities)
	for _, s := range shards {
		s.close()
	}
	if err != nil || got.cut != nil {
		t.Fatalf("error %v; the client: %v", err, got.cut)
	}
	visible := len(tab.columns) - m.Hidden
	var wanted [][]string
	for _, row := range tab.encode(want, f) {
		wanted = append(wanted, shown(row[:visible]))
	}
	if !slices.EqualFunc(got.rows, wanted, slices.Equal) {
		t.Fatalf("got rows %q\nwant %q", got.rows, wanted)
	}
	if len(got.columns) != visible {
		t.Fatalf("%d columns, want %d", len(got.columns), visible)
	}
	n := len(parts)
	if sum := n * (n + 1) / 2; int(got.end.Warnings) != sum || o.Warnings != sum || got.end.Status != testStatus {
		t.Fatalf("end %+v, outcome %+v", got.end, o)
	}
	for i := range parts {
		if !o.Clean[i] || int(o.Status[i]) != i {
			t.Fatalf("outcome %+v", o)
		}
	}
}

func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab, l := drawTable(t), drawLimit(t)
		f := rapid.SampledFrom([]Format{Text, Binary}).Draw(t, "format")
		parts := spread(t, tab.rows)
		var want [][]value
		for i := range parts {
			parts[i] = forShard(l, parts[i])
			want = append(want, parts[i]...)
		}
		check(t, tab, parts, &plan.Merge{}, f, l, of(l, want))
	})
}

func TestOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab, l := drawTable(t), drawLimit(t)
		f := rapid.SampledFrom([]Format{Text, Binary}).Draw(t, "format")
		m := &plan.Merge{Kind: plan.Ordered, Hidden: rapid.IntRange(0, len(tab.columns)-1).Draw(t, "hidden")}
		order := drawKeys(t, tab, m)
		parts := spread(t, tab.rows)
		var want [][]value
		for i := range parts {
			slices.SortStableFunc(parts[i], order)
			parts[i] = forShard(l, parts[i])
			want = append(want, parts[i]...)
		}
		slices.SortStableFunc(want, order)
		check(t, tab, parts, m, f, l, of(l, want))
	})
}

// drawKeys sets the sort keys of m, with columns named in any of the possible ways, and returns the order.
func drawKeys(t *rapid.T, tab table, m *plan.Merge) func(a, b []value) int {
	visible := len(tab.columns) - m.Hidden
	var at []int
	for range rapid.IntRange(1, 3).Draw(t, "keys") {
		c := rapid.IntRange(0, len(tab.columns)-1).Draw(t, "key")
		k := plan.SortKey{Column: c, Desc: rapid.Bool().Draw(t, "desc")}
		switch {
		case c >= visible:
			k.Hidden, k.Column = true, c-visible
		case rapid.Bool().Draw(t, "from the end"):
			k.Column = c - visible
		}
		at = append(at, c)
		m.Keys = append(m.Keys, k)
	}
	return func(a, b []value) int {
		for i, k := range m.Keys {
			c := tab.columns[at[i]].compare(a[at[i]], b[at[i]])
			if c != 0 && k.Desc {
				return -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
}
