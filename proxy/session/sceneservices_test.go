package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/proxy/session"
	"locus/proxy/trace"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/stmt"
)

// services contains the other parts of a proxy that a session uses.
type services struct {
	stand    *stand
	numbers  map[catalog.TableName]uint64
	declared map[catalog.TableName]catalog.Declaration // by statements
	renaming []catalog.Rename                          // in progress
	renamed  map[catalog.TableName]catalog.TableName   // the new names of tables
	calls    []string                                  // the calls since the last time
	sent     map[router.ShardName][]string             // all statements so far
	traced   []*trace.Statement

	redefine, unnumbered, undeclared error // the errors of calls
}

func newServices(s *stand) *services {
	return &services{stand: s, numbers: map[catalog.TableName]uint64{}, declared: map[catalog.TableName]catalog.Declaration{}, sent: map[router.ShardName][]string{}}
}

func (s *services) say(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

// said returns the calls since the last call of said.
func (s *services) said() []string {
	said := s.calls
	s.calls = nil
	return said
}

// Next implements stamp.Numbers.
func (s *services) Next(_ context.Context, t *catalog.Table, n int) (first uint64, err error) {
	if s.unnumbered != nil {
		return 0, s.unnumbered
	}
	first = s.numbers[t.TableName] + 1
	s.numbers[t.TableName] += uint64(n)
	return first, nil
}

// Raise implements stamp.Numbers.
func (s *services) Raise(_ context.Context, t *catalog.Table, above uint64) error {
	s.say("numbers of %s are above %d", t.TableName, above)
	s.numbers[t.TableName] = max(s.numbers[t.TableName], above)
	return nil
}

// Renumber implements ddl.Services.
func (s *services) Renumber(_ context.Context, t *catalog.Table) error {
	s.say("numbers of %s are looked at", t.TableName)
	return s.unnumbered
}

// generators generates 101, 102 …
type generators struct{ *services }

func (g generators) Literals(ctx context.Context, c *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	return g.Texts(ctx, c, name, n, values, nil)
}

func (g generators) Texts(_ context.Context, _ *cluster.Cluster, name string, n int, _ map[string]string, _ []gene.Gene) (list []string, err error) {
	if g.unnumbered != nil {
		return nil, g.unnumbered
	}
	g.say("%d of %s", n, name)
	of := catalog.TableName{Name: name}
	for range n {
		g.numbers[of]++
		list = append(list, fmt.Sprint(100+g.numbers[of]))
	}
	return list, nil
}

// Call implements session.Procedures. The procedure status takes no argument, and move takes a shard's name.
func (s *services) Call(_ context.Context, procedure string, args []stmt.Value, by string) (a session.Answer, err error) {
	s.say("%s calls %s%v", by, procedure, args)
	switch {
	case procedure == "status" && len(args) == 0:
		return session.Answer{Columns: []string{"state", "for"}, Row: []string{"well", by}}, nil
	case procedure == "divide":
		return session.Answer{Columns: []string{"job"}, Row: []string{"1"}, Warnings: []string{"will be refused: UPDATE", "will be refused: DELETE"}}, nil
	case procedure == "status":
		return a, &session.BadArguments{Given: len(args), Takes: "status()"}
	case procedure == "move" && len(args) == 1 && string(args[0].Text) != "s0":
		return a, &session.BadArguments{Takes: "move(shard)", Argument: "there is no such shard"}
	case procedure == "move":
		return a, errors.New("a move is under way: nothing was changed")
	}
	return a, session.ErrNoProcedure
}

// Declare implements ddl.Declarations.
func (s *services) Declare(_ context.Context, name catalog.TableName, d catalog.Declaration, by string) (bool, error) {
	if s.undeclared != nil {
		return false, s.undeclared
	}
	s.say("%s declares %s: %s", by, name, d.Words())
	s.declared[name] = d
	return true, nil
}

// Withdraw implements ddl.Declarations.
func (s *services) Withdraw(_ context.Context, name catalog.TableName, _ catalog.Declaration, by string) error {
	s.say("%s takes the declaration of %s back", by, name)
	delete(s.declared, name)
	return nil
}

// Redeclare implements ddl.Declarations.
func (s *services) Redeclare(_ context.Context, name catalog.TableName, _, to catalog.Declaration, by string) error {
	s.say("%s declares %s in another way: %s", by, name, to.Words())
	s.declared[name] = to
	return nil
}

// Redefined reads the tables again. A table that a statement has declared exists after each shard was sent its creation.
func (s *services) Redefined(context.Context, catalog.Change) error {
	s.say("all proxies read the tables")
	if s.redefine != nil {
		return s.redefine
	}
	tables, broken := s.shop()
	for name, d := range s.declared {
		t, err := s.read(name, d)
		if err != nil {
			broken[name] = &catalog.Misfit{Kind: d.Kind, Declaration: d, Err: err}
			continue
		}
		tables = append(tables, t)
	}
	s.stand.recatalog(tables, broken)
	return nil
}

// shop returns the tables of the shop under their current names.
func (s *services) shop() (tables []*catalog.Table, broken map[catalog.TableName]error) {
	broken = map[catalog.TableName]error{}
	for _, t := range shopTables(s.stand.t) {
		if name, renamed := s.renamed[t.TableName]; renamed {
			again, err := catalog.Resolve(name, t.Declaration, t.Columns, gene.W16)
			if err != nil {
				s.stand.t.Fatal(err)
			}
			t = again
		}
		served := true
		for _, r := range s.renaming {
			if r.From != t.TableName {
				continue
			}
			served = false
			for _, name := range []catalog.TableName{r.From, r.To} {
				broken[name] = &catalog.Misfit{Kind: t.Kind, Declaration: t.Declaration, Err: &catalog.RenamingError{Name: name, Renames: s.renaming}}
			}
		}
		if served {
			tables = append(tables, t)
		}
	}
	return tables, broken
}

// Settled is Redefined after a wait for running statements.
func (s *services) Settled(ctx context.Context, change catalog.Change) error {
	s.say("nothing is under way that began before")
	return s.Redefined(ctx, change)
}

// renames renames declared tables.
type renames struct{ *services }

// Begin implements ddl.Renames.
func (r renames) Begin(_ context.Context, list []catalog.Rename, by string) (resumed, changed bool, err error) {
	if r.undeclared != nil {
		return false, false, r.undeclared
	}
	resumed = slices.Equal(r.renaming, list)
	r.renaming = list
	r.say("%s begins: %s", by, catalog.RenameStatement(list))
	return resumed, !resumed, nil
}

// End implements ddl.Renames.
func (r renames) End(_ context.Context, list []catalog.Rename, by string) error {
	r.say("%s ends: %s", by, catalog.RenameStatement(list))
	if r.undeclared != nil {
		return r.undeclared
	}
	r.renaming, r.renamed = nil, map[catalog.TableName]catalog.TableName{}
	for _, one := range list {
		r.renamed[one.From] = one.To
	}
	return nil
}

// Undo implements ddl.Renames.
func (r renames) Undo(_ context.Context, list []catalog.Rename, by string) error {
	r.say("%s takes back: %s", by, catalog.RenameStatement(list))
	r.renaming = nil
	return nil
}

// read returns a table as it is on the shards.
func (s *services) read(name catalog.TableName, d catalog.Declaration) (*catalog.Table, error) {
	for _, shard := range s.stand.names {
		s.sent[shard] = append(s.sent[shard], s.stand.shards[shard].Sent()...)
		made := func(text string) bool {
			return strings.HasPrefix(text, "CREATE TABLE ") || strings.HasPrefix(text, "ALTER TABLE ")
		}
		if !slices.ContainsFunc(s.sent[shard], made) {
			return nil, &catalog.MissingTableError{Shards: string(shard)}
		}
	}
	has := []catalog.Column{column("user_id", "bigint"), column("page", "varchar"), {Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true}}
	return catalog.Resolve(name, d, has, gene.W16)
}

// recatalog puts other tables in force.
func (s *stand) recatalog(tables []*catalog.Table, broken map[catalog.TableName]error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := *s.now
	next.Catalog, s.now = shopCatalog(s.names, tables, broken), &next
}

// Statement implements trace.Sink.
func (s *services) Statement(t *trace.Statement) { s.traced = append(s.traced, t) }

// Segment implements trace.Sink.
func (s *services) Segment(trace.Segment) {}

// traces returns the traces since the last call of traces.
func (s *services) traces() (lines []string) {
	for _, t := range s.traced {
		line := fmt.Sprintf("traced: %s %s of %v on %v, %d rows", t.Operation, t.Route, t.Tables, t.Shards, t.Rows)
		if t.Code != 0 {
			line += fmt.Sprintf(", error %d", t.Code)
		}
		if t.Cut {
			line += ", cut off"
		}
		lines = append(lines, line)
	}
	s.traced = nil
	return lines
}

// declaredGenerators contains the generators that the cluster declares.
var declaredGenerators = map[string]cluster.Generator{"serials": {Kind: cluster.SegmentGenerator}}
