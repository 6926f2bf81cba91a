package moves

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/repair"
	"locus/router"
	"locus/router/catalog"
)

// halves is a pair of shards, the first of which has the lower half of the genes; a job moves one of these genes.
type halves struct {
	*pair
	routes   *router.Map
	declared map[catalog.TableName]catalog.Declaration
}

const movingOwner = 23

func newHalves(p *pair) *halves {
	p.t.Helper()
	p.both("CREATE TABLE placed (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, version INT, v VARCHAR(20), made VARCHAR(30) AS (CONCAT(v, '!')))",
		"CREATE TABLE numbered (n INT PRIMARY KEY, owner BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, v VARCHAR(20))")
	versioned := byID
	versioned.Version = "version"
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err == nil {
		other := router.ShardName("s2")
		from := m.Shard(m.Lookup(geneOf(movingOwner)))
		m, err = m.Step([]router.Move{{Job: "split-1", Genes: genesOf(movingOwner), From: from, To: other}})
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return &halves{p, m, map[catalog.TableName]catalog.Declaration{
		p.name("placed"): versioned, p.name("numbered"): {Kind: catalog.Sharded, Owner: "owner", Gene: "gene"},
	}}
}

// run moves rows to their owners, and returns its sorted messages, with an owner's number in place of each key.
func (h *halves) run(ctx context.Context, r repair.Misplaced) (told []string, err error) {
	r.Shards, r.Tables, r.By = []router.ShardName{"s0", "s1"}, h.declared, "ann"
	r.Server = func(_ context.Context, name router.ShardName) (link.Server, error) {
		if name == "s0" {
			return at(h.source), nil
		}
		return at(h.target), nil
	}
	if r.Map == nil {
		r.Map = func(context.Context) (*router.Map, error) { return h.routes, nil }
	}
	r.Found = func(s repair.Stray) {
		line := fmt.Sprintf("%s %s: %s", strings.TrimPrefix(s.Table, h.database+"."), s.On, s.Deed)
		if s.Why != "" {
			line += ", " + s.Why
		}
		told = append(told, line)
	}
	err = r.Run(ctx)
	slices.Sort(told)
	return told, err
}

// ownersOf gives n owners of a half.
func ownersOf(lower bool, n int) (list []int64) {
	for o := int64(100); len(list) < n; o++ {
		if (geneOf(o) < 0x8000) == lower {
			list = append(list, o)
		}
	}
	return list
}

func placed(owner int64, version string, v string) string {
	return fmt.Sprintf("INSERT INTO placed (id, owner, version, v) VALUES (%s, %d, %s, '%s')", idOf(owner, 1), owner, version, v)
}

func numbered(n int, owner int64, v string) string {
	return fmt.Sprintf("INSERT INTO numbered VALUES (%d, %d, %d, '%s')", n, owner, geneOf(owner), v)
}

// Misplaced rows of every kind are moved to their owners, or stay with a reason. A dry run reports the same and
// changes nothing.
func TestMisplacedRows(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		h := newHalves(p)
		low, high := ownersOf(true, 8), ownersOf(false, 2)
		p.on(p.source, placed(low[0], "1", "same"), placed(low[2], "2", "owner"), placed(low[3], "1", "owner"), placed(low[4], "1", "owner"), placed(low[5], "NULL", "owner"),
			numbered(1, low[0], "mine"))
		p.on(p.target, placed(low[0], "1", "same"), placed(low[1], "1", "only here"), placed(low[2], "1", "older"), placed(low[3], "2", "newer"), placed(low[4], "1", "another"),
			placed(low[5], "2", "another"), placed(high[0], "1", "at home"), placed(movingOwner, "1", "moves"),
			numbered(1, low[1], "its number is taken"), numbered(2, low[1], "only here"))
		p.on(p.source, placed(high[1], "1", "only here"), placed(movingOwner, "1", "moves"))
		p.on(p.target, fmt.Sprintf("INSERT INTO placed (id, owner) VALUES (%s, %d)", idOf(low[6], 1), low[7])) // of two genes
		both := func() string {
			var all []string
			for _, s := range []string{"source", "target"} {
				server := p.source
				if s == "target" {
					server = p.target
				}
				var text string
				if err := server.DB(t, p.database).QueryRow("SELECT CONCAT((SELECT GROUP_CONCAT(owner, '=', IFNULL(v, '-') ORDER BY owner, id) FROM placed), ' ', (SELECT IFNULL(GROUP_CONCAT(n, '=', v ORDER BY n), '') FROM numbered))").Scan(&text); err != nil {
					t.Fatal(err)
				}
				all = append(all, text)
			}
			return strings.Join(all, "\n")
		}
		before := both()
		dry, err := h.run(t.Context(), repair.Misplaced{Take: repair.TakeNewer, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if now := both(); now != before {
			t.Errorf("%s: a dry run changes\n%s\nto\n%s", p.engine, before, now)
		}
		moves := "its gene is being moved, or has moved: repeat the command once no job moves it"
		other := "s1"
		if geneOf(movingOwner) >= 0x8000 {
			other = "s0"
		}
		want := []string{
			"numbered s1: move", "numbered s1: move",
			"placed s0: move", "placed s1: delete", "placed s1: delete",
			"placed s1: leave, the owner has another row, and a version is NULL: use --take owner or misplaced",
			"placed s1: leave, the owner has another row, of the same version 1: use --take owner or misplaced",
			"placed s1: move", "placed s1: replace", "placed " + other + ": leave, " + moves,
		}
		slices.Sort(want)
		if !slices.Equal(dry, want) {
			t.Errorf("%s: a dry run says\n%s\nwant\n%s", p.engine, strings.Join(dry, "\n"), strings.Join(want, "\n"))
		}
		told, err := h.run(t.Context(), repair.Misplaced{Take: repair.TakeNewer})
		if err != nil {
			t.Fatal(err)
		}
		// A row is not overwritten because it has the number of another owner's row.
		if i := slices.IndexFunc(told, func(s string) bool {
			return strings.HasPrefix(s, "numbered s1: leave, ") && strings.Contains(s, "uplicate entry")
		}); i < 0 || len(told) != len(want) {
			t.Errorf("%s: told\n%s", p.engine, strings.Join(told, "\n"))
		}
		told, err = h.run(t.Context(), repair.Misplaced{Take: repair.TakeMisplaced})
		if err != nil || len(told) != 4 {
			t.Errorf("%s: %v: of those that are left\n%s", p.engine, err, strings.Join(told, "\n"))
		}
		source := fmt.Sprintf("%d=moves,", movingOwner)
		target := source
		if geneOf(movingOwner) < 0x8000 {
			target = source
		}
		list := map[int64]string{low[0]: "same", low[1]: "only here", low[2]: "owner", low[3]: "newer", low[4]: "another", low[5]: "another"}
		for _, o := range low[:6] {
			source += fmt.Sprintf("%d=%s,", o, list[o])
		}
		at := map[int64]string{high[0]: "at home", high[1]: "only here", low[7]: "-"}
		for _, o := range slices.Sorted(maps.Keys(at)) {
			target += fmt.Sprintf("%d=%s,", o, at[o])
		}
		if got, want := both(), strings.TrimSuffix(source, ",")+" 1=mine,2=only here\n"+strings.TrimSuffix(target, ",")+" 1=its number is taken"; got != want {
			t.Errorf("%s: after all\n%s\nwant\n%s", p.engine, got, want)
		}
		p.wantRows(p.target, "SELECT CONCAT(COUNT(*), ' ', SUM(became IS NULL)) FROM locus.move_repair WHERE table_name = '"+p.name("placed").String()+"'", "7 6")
	})
}

// If the process ends between the two transactions of a row, the row exists twice, but is never lost; the next run
// deletes the misplaced one. Rows of a gene that begins to move stay.
func TestMisplacedRowsUnderFaults(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		h := newHalves(p)
		owner := ownersOf(true, 1)[0]
		count := func() string {
			var n string
			for _, s := range []string{p.count(t, "source"), p.count(t, "target")} {
				n += s
			}
			return n
		}
		p.on(p.target, placed(owner, "1", "only here"))
		for i, c := range []struct{ point, want string }{{repair.Written, "01"}, {repair.Committed, "11"}} {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := h.run(ctx, repair.Misplaced{Stop: func(point string) {
				if point == c.point {
					cancel()
				}
			}})
			cancel()
			if got := count(); !errors.Is(err, context.Canceled) || got != c.want {
				t.Errorf("%s: %d: ended at %q: %v; the shards have %s rows, want %s", p.engine, i, c.point, err, got, c.want)
			}
		}
		moved, err := h.routes.Step([]router.Move{{Job: "split-2", Genes: genesOf(owner), From: "s0", To: "s2"}})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		told, err := h.run(t.Context(), repair.Misplaced{Map: func(context.Context) (*router.Map, error) {
			if asked++; asked > 5 { // of two tables on two shards, and of the row before it is decided
				return moved, nil
			}
			return h.routes, nil
		}})
		if got := count(); err != nil || got != "11" || len(told) != 1 || !strings.Contains(told[0], "being moved") {
			t.Errorf("%s: of a gene that begins to move: %v, %v; the shards have %s rows", p.engine, told, err, got)
		}
		if told, err := h.run(t.Context(), repair.Misplaced{}); err != nil || len(told) != 1 || told[0] != "placed s1: delete" || count() != "10" {
			t.Errorf("%s: the next run: %v, %v; the shards have %s rows", p.engine, told, err, count())
		}
	})
}

func (p *pair) count(t *testing.T, side string) (n string) {
	t.Helper()
	server := p.source
	if side == "target" {
		server = p.target
	}
	if err := server.DB(t, p.database).QueryRow("SELECT COUNT(*) FROM placed").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
