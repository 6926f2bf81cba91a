package preflight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

// Config says what is to be moved.
type Config struct {
	Source, Target link.Server
	// Replicas may become the primary of the source's shard, or of the target's, while the job runs.
	Replicas []Replica
	Tables   map[catalog.TableName]catalog.Declaration
	Width    gene.Width
	Genes    gene.Set
	// Resumed tells that the job has begun: the target has rows of the genes.
	Resumed bool
	// Import tells that the tables are the source's alone so far, and are made at the
	// target if they aren't there.
	Import bool
	// BySequence tells that the rows of the genes are divided between both servers for a while.
	BySequence bool
	// Outside tells that the source is no shard: there is nobody to hold what clients write there, but a
	// lock on the tables.
	Outside bool
	// Everywhere is what the target must have as the first shard has it; nil: nobody asks.
	Everywhere *Everywhere
	// Retention is how long the servers must keep their logs; 0 is a day.
	Retention time.Duration
	// LongTransaction is how old a transaction may be; 0 is a minute.
	LongTransaction time.Duration
}

// Replica is one of the source, or of the target.
type Replica struct {
	link.Server
	Of string // source or target
}

// Problem is one thing that stands in the way.
type Problem struct {
	Check  string // its name in the list
	What   string
	Remedy string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Check, p.What, p.Remedy) }

// Report is what was found.
type Report struct {
	Problems []Problem
	// Tables are those that can be moved, as the source has them.
	Tables []*table.Table
	// Gone is how many declared tables neither server has. They have no rows to move.
	Gone int
}

// check is one thing to look at.
type check struct {
	name string
	look func(*inspection) error
}

// checks are made in this order; each says all that it finds.
var checks = []check{
	{"variables", (*inspection).variables},
	{"versions", (*inspection).versions},
	{"log", (*inspection).logs},
	{"log", (*inspection).serverIDs},
	{"privileges", (*inspection).privileges},
	{"settings", (*inspection).settings},
	{"settings", (*inspection).readOnly},
	{"clocks", (*inspection).clocks},
	{"tables", (*inspection).readTables},
	{"kinds", (*inspection).kinds},
	{"foreign keys", (*inspection).foreignKeys},
	{"triggers", (*inspection).triggers},
	{"rows in the way", (*inspection).rowsInTheWay},
	{"unique keys", (*inspection).uniqueKeys},
	{"unique keys", (*inspection).duplicates},
	{"sequences", (*inspection).sequences},
	{"programs", (*inspection).programs},
	{"values", (*inspection).values},
	{"long transactions", (*inspection).longTransactions},
	{"everywhere", (*inspection).everywhere},
}

// schema are those of the checks that can fail anew while rows are moved.
var schema = []check{
	{"tables", (*inspection).readTables},
	{"kinds", (*inspection).kinds},
	{"foreign keys", (*inspection).foreignKeys},
	{"triggers", (*inspection).triggers},
	{"sequences", (*inspection).sequences},
}

// alone are those of one server, whether or not something is to be moved.
var alone = []check{
	{"variables", (*inspection).variables},
	{"log", (*inspection).logs},
	{"privileges", (*inspection).privileges},
	{"read only", (*inspection).readOnly},
	{"long transactions", (*inspection).longTransactions},
}

// side is one of the two servers.
type side struct {
	*link.Conn
	role      string
	replica   bool
	account   string // as GRANT names it
	variables map[string]string
	tables    map[catalog.TableName]*table.Table
}

// inspection is one run of the checks.
type inspection struct {
	ctx            context.Context
	config         Config
	source, target *side
	replicas       []*side // those that are reached
	check          string
	who            string // who needs the tables
	needs          []Need // beside what all of them do
	report         Report
}

// Look runs all checks. An error means that a server could not be asked.
func Look(ctx context.Context, config Config) (Report, error) { return look(ctx, config, checks) }

// LookAtSchema runs the checks of the schema again. The stream reports altered tables of the source when rows come, but nothing reports
// those of the target.
func LookAtSchema(ctx context.Context, config Config) (Report, error) {
	config.Replicas = nil
	return look(ctx, config, schema)
}

// Need is a privilege on the tables' schemas, and what takes it beside moves.
type Need struct{ Privilege, For string }

// LookAtServer runs those of a server by itself: whether moves from it or to it could
// be made, and whether its account has what else is needed.
func LookAtServer(ctx context.Context, c *link.Conn, tables map[catalog.TableName]catalog.Declaration, needs ...Need) ([]Problem, error) {
	i := &inspection{ctx: ctx, config: Config{Tables: tables}.withDefaults(), who: "statements and moves", needs: needs}
	i.source = &side{Conn: c, role: "server"}
	err := i.run(alone)
	return i.report.Problems, err
}

func (c Config) withDefaults() Config {
	c.Retention = cmp.Or(c.Retention, 24*time.Hour)
	c.LongTransaction = cmp.Or(c.LongTransaction, time.Minute)
	return c
}

func look(ctx context.Context, config Config, checks []check) (Report, error) {
	i := &inspection{ctx: ctx, config: config.withDefaults(), who: "moves"}
	for _, s := range []struct {
		role   string
		server link.Server
		side   **side
	}{{"source", config.Source, &i.source}, {"target", config.Target, &i.target}} {
		c, err := link.Dial(ctx, s.server)
		if err != nil {
			return Report{}, fmt.Errorf("the %s: %w", s.role, err)
		}
		defer c.Close()
		*s.side = &side{Conn: c, role: s.role, tables: map[catalog.TableName]*table.Table{}}
	}
	for _, r := range config.Replicas {
		c, err := link.Dial(ctx, r.Server)
		if err != nil {
			continue // it can't become the primary as it is
		}
		defer c.Close()
		i.replicas = append(i.replicas, &side{Conn: c, role: fmt.Sprintf("%s's replica %s", r.Of, r.Addr), replica: true})
	}
	if err := i.run(checks); err != nil {
		return Report{}, err
	}
	return i.report, nil
}

func (i *inspection) run(checks []check) error {
	for _, c := range checks {
		i.check = c.name
		if err := c.look(i); err != nil {
			return fmt.Errorf("check %s: %w", c.name, err)
		}
	}
	return nil
}

// variables are those of all servers, which other checks look at.
func (i *inspection) variables() error {
	for _, s := range i.all() {
		if err := s.readVariables(i.ctx); err != nil {
			return fmt.Errorf("the %s: %w", s.role, err)
		}
	}
	return nil
}

func (s *side) readVariables(ctx context.Context) error {
	rows, err := s.Query(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return err
	}
	s.variables = map[string]string{}
	for _, r := range rows {
		s.variables[string(r[0])] = string(r[1])
	}
	if rows, err = s.Query(ctx, "SELECT "+ownAccount); err == nil {
		s.account = string(rows[0][0])
	}
	return err
}

// sides are both servers, or the one that is looked at.
func (i *inspection) sides() []*side {
	if i.target == nil {
		return []*side{i.source}
	}
	return []*side{i.source, i.target}
}

// all are the sides with their replicas.
func (i *inspection) all() []*side { return append(i.sides(), i.replicas...) }

func (i *inspection) problem(remedy, format string, args ...any) {
	i.report.Problems = append(i.report.Problems, Problem{Check: i.check, What: fmt.Sprintf(format, args...), Remedy: remedy})
}

// names are the tables in their order.
func (i *inspection) names() []catalog.TableName {
	return slices.SortedFunc(maps.Keys(i.config.Tables), catalog.TableName.Compare)
}

// which is the condition of information_schema that names the tables.
func (i *inspection) which(schema, name string) string {
	var either []string
	for _, n := range i.names() {
		either = append(either, fmt.Sprintf("(%s = %s AND %s = %s)", schema, link.Text(n.Schema), name, link.Text(n.Name)))
	}
	if either == nil {
		return "FALSE"
	}
	return "(" + strings.Join(either, " OR ") + ")"
}
