package moves

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/copier"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Runner{M: m}) }

// patience bounds every wait of these tests, also on a busy machine. No test asserts on time.
const patience = 5 * time.Minute

// pair is two servers with the same empty database, and a job between them.
type pair struct {
	t              testing.TB
	engine         servers.Engine
	source, target *servers.Server
	database       string
	job            string
	made           map[*family]bool // the families whose tables are in the database
}

// eachPair runs a test between two servers of each engine.
func eachPair(t *testing.T, test func(*testing.T, *pair)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) { test(t, newPair(t, engine)) })
}

// newPair returns servers that all tests with the same further options share.
func newPair(t testing.TB, engine servers.Engine, args ...string) *pair {
	both := servers.Shared(t, engine, 2, args...)
	p := &pair{t: t, engine: engine, source: both[0], target: both[1], made: map[*family]bool{}}
	p.database = servers.Database(t, both...)
	p.job = p.database + "/" + t.Name()
	return p
}

func at(s *servers.Server) link.Server {
	return link.Server{Addr: s.Addr(), User: s.User, Password: s.Password}
}

func (p *pair) flavor() link.Flavor {
	if p.engine == servers.MariaDB {
		return link.MariaDB
	}
	return link.MySQL
}

func (p *pair) name(table string) catalog.TableName {
	return catalog.TableName{Schema: p.database, Name: table}
}

// both runs statements on both servers; @ is replaced by the database.
func (p *pair) both(statements ...string) {
	p.t.Helper()
	p.on(p.source, statements...)
	p.on(p.target, statements...)
}

func (p *pair) on(s *servers.Server, statements ...string) {
	p.t.Helper()
	db := s.DB(p.t, p.database)
	defer db.Close()
	c, err := db.Conn(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	for _, statement := range statements {
		if _, err := c.ExecContext(p.t.Context(), strings.ReplaceAll(statement, "@db", p.database)); err != nil {
			p.t.Fatalf("%s: %.300s: %v", s.Engine(), statement, err)
		}
	}
}

// dial connects as the mover does.
func (p *pair) dial(s *servers.Server) *link.Conn {
	p.t.Helper()
	c, err := link.Dial(p.t.Context(), at(s))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

var byID = catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}}

// read reads declared tables at the source.
func (p *pair) read(declared map[string]catalog.Declaration) []*table.Table {
	p.t.Helper()
	c := p.dial(p.source)
	var tables []*table.Table
	for name, d := range declared {
		t, err := table.Read(p.t.Context(), c, p.name(name), d, gene.W16)
		if err != nil {
			p.t.Fatal(err)
		}
		tables = append(tables, t)
	}
	return tables
}

// all is all genes, in parts.
func all(parts int) table.Parts { return table.Split(gene.NewSet(gene.All(gene.W16)), parts) }

// idOf is an ID of the owner's gene.
func idOf(owner int64, sequence uint64) string {
	layout, err := orderid.ByName("int64")
	if err != nil {
		panic(err)
	}
	id, err := layout.Compose(gene.OfInt(owner, gene.W16), 0, orderid.Seq(sequence))
	if err != nil {
		panic(err)
	}
	return string(layout.AppendSQL(nil, id))
}

// stream is a feed and an applier that run.
type stream struct {
	*applier.Applier
	parts  table.Parts
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // once ended is closed
}

// stream starts the job's stream from source to target, at the position where it
// was, or at the source's end.
func (p *pair) stream(config applier.Config, tables []*table.Table) *stream {
	p.t.Helper()
	return p.streamBetween(config, tables, p.source, p.target)
}

func (p *pair) streamBetween(config applier.Config, tables []*table.Table, source, target *servers.Server) *stream {
	p.t.Helper()
	if config.Job == "" {
		config.Job = p.job
	}
	if config.Tables = tables; config.Target.Addr == "" {
		config.Target = at(target)
	}
	a, err := applier.Open(p.t.Context(), config)
	if err != nil {
		p.t.Fatal(err)
	}
	from, err := a.From()
	if errors.Is(err, applier.ErrNotBegun) {
		if from, err = changes.Current(p.t.Context(), p.dial(source)); err == nil {
			err = a.Begin(p.t.Context(), from)
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	feed, err := changes.Open(at(source), p.flavor(), tables, from)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	s := &stream{Applier: a, parts: config.Parts, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = a.Run(ctx, feed)
		feed.Close()
	}()
	p.t.Cleanup(s.stop)
	return s
}

func (s *stream) stop() {
	s.cancel()
	<-s.ended
}

// settle waits until everything in the source's log is applied.
func (p *pair) settle(s *stream) {
	p.t.Helper()
	p.settleFrom(s, p.source)
}

func (p *pair) settleFrom(s *stream, source *servers.Server) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	here, err := changes.Current(ctx, p.dial(source))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := s.WaitApplied(ctx, here); err != nil {
		p.t.Fatalf("wait until %s is applied: %v", here, err)
	}
}

// copy copies the tables.
func (p *pair) copy(s *stream, config copier.Config, tables []*table.Table) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	config.Job, config.Source, config.Target, config.Tables, config.Parts = p.job, at(p.source), at(p.target), tables, s.parts
	if err := copier.New(config, s).Run(ctx); err != nil {
		p.t.Fatal(err)
	}
}

// rows reads a table as text that shows every byte.
func (p *pair) rows(s *servers.Server, t *table.Table, where string) map[string]table.Row {
	p.t.Helper()
	c := p.dial(s)
	defer c.Close()
	rows := map[string]table.Row{}
	query := "SELECT " + t.ReadList() + " FROM " + t.SQL()
	if where != "" {
		query += " WHERE " + where
	}
	err := c.Each(p.t.Context(), query, func(values [][]byte) error {
		r, err := t.Canonical(values)
		if err == nil {
			rows[string(t.KeyOf(r).Encode())] = r
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

// same compares a table on both servers, byte by byte.
func (p *pair) same(t *table.Table, where string) int {
	p.t.Helper()
	source, target := p.rows(p.source, t, where), p.rows(p.target, t, where)
	for k, want := range source {
		got, ok := target[k]
		if !ok {
			p.t.Errorf("%s: the target has no row %q", t.Name, t.KeyOf(want))
			continue
		}
		for i := range want {
			if (want[i] == nil) != (got[i] == nil) || string(want[i]) != string(got[i]) {
				p.t.Errorf("%s: row %q, column %s (%s): source %.100q, target %.100q",
					t.Name, t.KeyOf(want), t.Columns[i].Name, t.Columns[i].FullType, want[i], got[i])
			}
		}
	}
	for k, r := range target {
		if _, ok := source[k]; !ok {
			p.t.Errorf("%s: the target has a row %q that the source has not", t.Name, t.KeyOf(r))
		}
	}
	return len(source)
}

// conflicts reads the refused rows.
func (p *pair) conflicts(s *servers.Server) []checkpoint.Conflict {
	p.t.Helper()
	c, err := checkpoint.Conflicts(p.t.Context(), p.dial(s), p.job, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// passes reports whether an application repeats a statement after an error, or these writers provoke the error.
func passes(err error) bool {
	var refused *mysql.MySQLError
	return errors.As(err, &refused) && (refused.Number == 1213 || refused.Number == 1205 || refused.Number == 1062)
}

// writers starts writers that run until the returned function is called.
func (p *pair) writers(n int, write func(db *sql.DB, writer, turn int) error) (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var writing sync.WaitGroup
	for w := range n {
		db := p.source.DB(p.t, p.database)
		writing.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				if err := write(db, w, turn); err != nil && !passes(err) {
					p.t.Error(fmt.Errorf("writer %d: %w", w, err))
					return
				}
			}
		})
	}
	return func() {
		cancel()
		writing.Wait()
	}
}
