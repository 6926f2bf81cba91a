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

// Config describes the move to check.
type Config struct {
	Source, Target link.Server
	// Replicas lists the servers that may become the primary of the source's or the target's shard while the
	// job runs.
	Replicas []Replica
	Tables   map[catalog.TableName]catalog.Declaration
	Width    gene.Width
	Genes    gene.Set
	// Resumed: the job has begun, so the target has rows of the genes.
	Resumed bool
	// Import: only the source has the tables so far, and the job creates missing ones at the target.
	Import bool
	// BySequence: the rows of the genes are divided between both servers for a while.
	BySequence bool
	// Outside: the source is no shard. Its clients don't use the proxies, so only a lock on the tables can
	// pause their statements.
	Outside bool
	// Everywhere describes the global tables and views that the target must have; nil skips the check.
	Everywhere *Everywhere
	// Retention is the time for which the servers must keep their logs; 0 means a day.
	Retention time.Duration
	// LongTransaction is the greatest age of a transaction; 0 means a minute.
	LongTransaction time.Duration
}

// Replica is a replica of the source or of the target.
type Replica struct {
	link.Server
	Of string // source or target
}

// Problem is one obstacle to the move.
type Problem struct {
	Check  string // the check's name in the list
	What   string
	Remedy string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.Check, p.What, p.Remedy) }

// Report is the result of the checks.
type Report struct {
	Problems []Problem
	// Tables lists the tables that can be moved, with the source's definitions.
	Tables []*table.Table
	// Gone is the number of declared tables that neither server has. They have no rows to move.
	Gone int
}

// check is one named check.
type check struct {
	name string
	look func(*inspection) error
}

// checks run in this order. Each reports all problems that it finds.
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

// schema lists the checks that may start to fail while rows are moved.
var schema = []check{
	{"tables", (*inspection).readTables},
	{"kinds", (*inspection).kinds},
	{"foreign keys", (*inspection).foreignKeys},
	{"triggers", (*inspection).triggers},
	{"sequences", (*inspection).sequences},
}

// alone lists the checks of a single server, without a move.
var alone = []check{
	{"variables", (*inspection).variables},
	{"log", (*inspection).logs},
	{"privileges", (*inspection).privileges},
	{"read only", (*inspection).readOnly},
	{"long transactions", (*inspection).longTransactions},
}

// side is one of the two servers, or a replica of one.
type side struct {
	*link.Conn
	role      string
	replica   bool
	account   string // in the form that GRANT uses
	variables map[string]string
	tables    map[catalog.TableName]*table.Table
}

// inspection is one run of the checks.
type inspection struct {
	ctx            context.Context
	config         Config
	source, target *side
	replicas       []*side // the reachable ones
	check          string
	who            string // the job or check that needs the tables, for messages
	needs          []Need // privileges needed in addition to the usual ones
	report         Report
}

// Look runs all checks. An error means that a query failed.
func Look(ctx context.Context, config Config) (Report, error) { return look(ctx, config, checks) }

// LookAtSchema runs the checks of the schema again. The stream detects altered tables of the source when it
// reads their rows. Only this check detects altered tables of the target.
func LookAtSchema(ctx context.Context, config Config) (Report, error) {
	config.Replicas = nil
	return look(ctx, config, schema)
}

// Need is a privilege on the tables' schemas, and the feature other than moves that needs it.
type Need struct{ Privilege, For string }

// LookAtServer runs the checks of a single server: whether moves from it or to it are possible, and whether its
// account has the additional privileges.
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
			continue // an unreachable replica can't become the primary
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

// variables reads the variables of all servers for the other checks.
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
	if rows, err = s.Query(ctx, "SELECT "+ownAccount); err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("it has answered SELECT %s with %d rows", ownAccount, len(rows))
	}
	s.account = string(rows[0][0])
	return nil
}

// sides returns both servers, or the single one.
func (i *inspection) sides() []*side {
	if i.target == nil {
		return []*side{i.source}
	}
	return []*side{i.source, i.target}
}

// all returns the sides and their replicas.
func (i *inspection) all() []*side { return append(i.sides(), i.replicas...) }

func (i *inspection) problem(remedy, format string, args ...any) {
	i.report.Problems = append(i.report.Problems, Problem{Check: i.check, What: fmt.Sprintf(format, args...), Remedy: remedy})
}

// names returns the names of the tables, sorted.
func (i *inspection) names() []catalog.TableName {
	return slices.SortedFunc(maps.Keys(i.config.Tables), catalog.TableName.Compare)
}

// which returns a condition for information_schema that selects the tables.
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
