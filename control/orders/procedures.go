package orders

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/jobs"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/session"
	"locus/router"
	"locus/router/stmt"
)

// Procedures are those of the schema locus, for one cluster. Safe for concurrent use.
type Procedures struct {
	kv    *etcd.KV
	store *jobs.Store
	logIn LogIn
	now   func() time.Time
}

// LogIn is how shards are reached, for what is asked of them before a table is declared.
type LogIn struct {
	Secrets func(name string) (string, error)
	Connect time.Duration // bounds a login
}

// NewProcedures is the procedures of the cluster whose keys kv has.
func NewProcedures(kv *etcd.KV, store *jobs.Store, logIn LogIn, now func() time.Time) *Procedures {
	return &Procedures{kv, store, logIn, now}
}

var _ session.Procedures = (*Procedures)(nil)

// procedure is one of them: do carries it out, begins says which move it begins, or declares
// changes what is declared of a table.
type procedure struct {
	takes  string // its arguments
	least  int    // of them that must be given
	do     func(context.Context, *call) (*job.Job, error)
	begins func(*call) Beginning

	declares func(context.Context, *call) (shown, error)
	// switches changes the roles of a shard's servers.
	switches func(context.Context, *call) (shown, error)
}

// shown is the row of an answer, and what is said beside it.
type shown struct{ columns, row, warnings []string }

func (p procedure) most() int { return strings.Count(p.takes, ",") + 1 }

// procedures are all of them, by their names: the commands', with _ for -.
var procedures = map[string]procedure{
	"split":   {takes: "from_shard, to_shard, genes [, why, by]", least: 3, begins: split},
	"merge":   {takes: "from_shard, into_shard [, why]", least: 2, begins: merge},
	"import":  {takes: "table, words [, why]", least: 2, begins: imports},
	"cutover": {takes: "job, percent [, step_percent, every_seconds, on_breach]", least: 2, do: cutover},
	"next_step": {takes: "job, percent", least: 2, do: func(ctx context.Context, c *call) (*job.Job, error) {
		return c.tell(ctx, job.NextStep(c.percent(1, 100)))
	}},
	"rollback": {takes: "job [, percent, step_percent]", least: 1, do: func(ctx context.Context, c *call) (*job.Job, error) {
		return c.tell(ctx, job.Back(c.percent(1, 0), c.percent(2, 100)))
	}},
	"pause":    {takes: "job", least: 1, do: just("pause", phase.Pause)},
	"resume":   {takes: "job", least: 1, do: just("resume", phase.Resume)},
	"finish":   {takes: "job", least: 1, do: just("finish", phase.Finish)},
	"abort":    {takes: "job", least: 1, do: just("abort", phase.Abort)},
	"repair":   {takes: "job, take [, rows]", least: 2, do: repair},
	"throttle": {takes: "job, percent", least: 2, do: throttle},
	"mirror":   {takes: "job, percent", least: 2, do: mirror},

	"switchover": {takes: "shard, server", least: 2, switches: switchOver},

	"table_add":  {takes: "table, words", least: 2, declares: tableAdd},
	"table_drop": {takes: "table", least: 1, declares: tableDrop},
}

// ofJob shows a job.
func ofJob(j *job.Job) shown {
	percent := strconv.FormatFloat(j.State.Percent(), 'f', 2, 64)
	return shown{
		columns: []string{"job", "phase", "percent", "told"},
		row:     []string{j.ID, string(j.State.Shown()), percent, j.Journal[len(j.Journal)-1].What},
	}
}

// Call implements session.Procedures.
func (p *Procedures) Call(ctx context.Context, name string, args []stmt.Value, by string) (session.Answer, error) {
	by += " (SQL)"
	answer, err := with(p, name, args, by, func(called procedure, c *call) (shown, error) {
		switch {
		case called.declares != nil:
			return called.declares(ctx, c)
		case called.switches != nil:
			return called.switches(ctx, c)
		}
		j, err := c.carryOut(ctx, called)
		if err != nil || c.bad != "" {
			return shown{}, err
		}
		answer := ofJob(j)
		if called.begins != nil && j.BySequence {
			answer.warnings = c.foretold(ctx)
		}
		return answer, nil
	})
	return session.Answer{Columns: answer.columns, Row: answer.row, Warnings: answer.warnings}, err
}

// Order is Call for who has the arguments as texts, empty ones being left out; by stands in
// the journal as it is. The errors are those of Call.
func (p *Procedures) Order(ctx context.Context, name string, args []string, by string) (*job.Job, error) {
	return with(p, name, texts(args), by, func(called procedure, c *call) (*job.Job, error) {
		if called.declares != nil || called.switches != nil {
			return nil, session.ErrNoProcedure // of jobs
		}
		return c.carryOut(ctx, called)
	})
}

func texts(args []string) []stmt.Value {
	list := make([]stmt.Value, len(args))
	for i, text := range args {
		if text == "" {
			list[i] = stmt.Value{Kind: stmt.Null}
			continue
		}
		list[i] = stmt.Value{Kind: stmt.String, Text: []byte(text)}
	}
	return list
}

func (c *call) carryOut(ctx context.Context, called procedure) (*job.Job, error) {
	if called.begins != nil {
		return c.begin(ctx, called.begins)
	}
	return called.do(ctx, c)
}

// with has the arguments of a procedure read by what is done with it.
func with[T any](p *Procedures, name string, args []stmt.Value, by string, do func(procedure, *call) (T, error)) (answer T, err error) {
	called, there := procedures[name]
	if !there {
		return answer, session.ErrNoProcedure
	}
	takes := "locus." + name + "(" + called.takes + ")"
	if len(args) < called.least || len(args) > called.most() {
		return answer, &session.BadArguments{Given: len(args), Takes: takes}
	}
	c := &call{Procedures: p, args: args, by: by}
	for i, a := range args[:called.least] {
		if a.Kind == stmt.Null {
			c.wrong(i, "NULL, which only an argument may be that can be left out")
		}
	}
	if c.bad != "" {
		return answer, &session.BadArguments{Given: len(args), Takes: takes, Argument: c.bad}
	}
	answer, err = do(called, c)
	if c.bad != "" {
		return answer, &session.BadArguments{Given: len(args), Takes: takes, Argument: c.bad}
	}
	return answer, err
}

// call is one CALL. What is wrong with an argument is said in bad, and nothing is
// ordered then.
type call struct {
	*Procedures
	args []stmt.Value
	by   string
	bad  string
}

func (c *call) wrong(i int, format string, args ...any) {
	if c.bad == "" {
		c.bad = fmt.Sprintf("argument %d: ", i+1) + fmt.Sprintf(format, args...)
	}
}

// text is an argument; empty: it is NULL, or not given.
func (c *call) text(i int) string {
	if i >= len(c.args) {
		return ""
	}
	switch v := c.args[i]; v.Kind {
	case stmt.Null:
		return ""
	case stmt.String, stmt.Bytes, stmt.Temporal:
		return string(v.Text)
	default:
		return v.String()
	}
}

// number is one from least to most; ifNone: it is NULL, or not given.
func (c *call) number(i int, least, most, ifNone float64) float64 {
	if i >= len(c.args) || c.args[i].Kind == stmt.Null {
		return ifNone
	}
	text := c.text(i)
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil || !(n >= least && n <= most) { // what is no number neither
		c.wrong(i, "%q is no number from %v to %v", text, least, most)
	}
	return n
}

func (c *call) percent(i int, ifNone float64) float64 { return c.number(i, 0, 100, ifNone) }

// tell gives the order to the job that the first argument names.
func (c *call) tell(ctx context.Context, o job.Order) (*job.Job, error) {
	if c.text(0) == "" {
		c.wrong(0, "name a job: SELECT id, phase FROM locus.jobs shows them")
	}
	if c.bad != "" {
		return nil, nil
	}
	return c.store.Tell(ctx, c.text(0), o, c.by, c.now(), nil)
}

func just(name string, k phase.Kind) func(context.Context, *call) (*job.Job, error) {
	return func(ctx context.Context, c *call) (*job.Job, error) { return c.tell(ctx, job.Just(name, k)) }
}

// longestPause is between two steps.
const longestPause = 7 * 24 * time.Hour

// cutover rolls by steps if a time between them is given, and else goes at once.
func cutover(ctx context.Context, c *call) (*job.Job, error) {
	every := time.Duration(c.number(3, 0, longestPause.Seconds(), 0) * float64(time.Second))
	step := 100.0
	if every > 0 {
		step = 5
	}
	onBreach := job.Breach(c.text(4))
	switch onBreach {
	case "":
		onBreach = job.PauseThen
	case job.PauseThen, job.StepBack, job.BackToNil:
	default:
		c.wrong(4, "%q: pause, step-back or roll-back", onBreach)
	}
	return c.tell(ctx, job.CutOver(c.percent(1, 100), c.percent(2, step), every, onBreach))
}

func throttle(ctx context.Context, c *call) (*job.Job, error) {
	return c.tell(ctx, job.Throttle(int(c.number(1, 0, job.MostRest, 0))))
}

// mirror takes whole percents: an eighth of a percent would be no sample.
func mirror(ctx context.Context, c *call) (*job.Job, error) {
	percent := c.percent(1, 0)
	if percent != math.Trunc(percent) {
		c.wrong(1, "%v is no whole number from 0 to 100", percent)
	}
	return c.tell(ctx, job.Mirror(int(percent)))
}

// repair makes rows equal that a comparison found different: those of a selection, or all that are listed.
func repair(ctx context.Context, c *call) (*job.Job, error) {
	take := job.Take(strings.ToLower(c.text(1)))
	if !take.Valid() {
		c.wrong(1, "%q: source, target or newer", string(take))
	}
	if c.bad != "" || c.text(0) == "" {
		return c.tell(ctx, job.Order{})
	}
	list, err := c.store.Differences(ctx, c.text(0))
	if err != nil {
		return nil, err
	}
	rows, err := list.Chosen(c.text(2))
	if err != nil {
		c.wrong(2, "%v", err)
		return nil, nil
	}
	o, err := job.MakeEqual(take, rows, c.by)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", c.text(0), err)
	}
	return c.tell(ctx, o)
}

// split is a move of 'half' of a shard's genes, or of ranges of them; by gene, or by sequence.
func split(c *call) Beginning {
	genes := Ranges(c.text(2))
	switch strings.ToLower(c.text(2)) {
	case "half":
		genes = UpperHalf
	case "":
		c.wrong(2, "'half', or ranges of genes like '0x2000-0x3fff,0x5000'")
	}
	b := c.beginning(job.Split, genes, c.text(3))
	switch by := strings.ToLower(c.text(4)); by {
	case "", ByGene:
	case BySequence:
		b.BySequence = true
	default:
		c.wrong(4, "%q: %s or %s", by, ByGene, BySequence)
	}
	return b
}

func merge(c *call) Beginning { return c.beginning(job.Merge, All, c.text(2)) }

// imports is an import of a table; behind a semicolon in its words may stand others with theirs.
func imports(c *call) Beginning {
	tables, err := ImportedTables(c.text(0) + " " + c.text(1))
	if err != nil {
		c.wrong(1, "%v", err)
	}
	return Beginning{Kind: job.Importing, Tables: tables, Why: c.text(2), By: c.by, At: c.now()}
}

func (c *call) beginning(kind job.Kind, genes Choice, why string) Beginning {
	return Beginning{
		Kind: kind, From: router.ShardName(c.text(0)), To: router.ShardName(c.text(1)), Genes: genes, Why: why, By: c.by, At: c.now(),
	}
}

// begin plans a move, asks both shards what stands in its way, and writes its record.
// Where this process has no secrets to ask them, whoever runs the job does so.
func (c *call) begin(ctx context.Context, begins func(*call) Beginning) (*job.Job, error) {
	j, err := c.checked(ctx, begins)
	if j == nil || err != nil && !errors.Is(err, ErrNoSecrets) {
		return nil, err
	}
	return j, c.store.Create(ctx, j)
}

// checked is the record that would be written; the error is Plan's, without a record, or
// Check's.
func (c *call) checked(ctx context.Context, begins func(*call) Beginning) (*job.Job, error) {
	b := begins(c)
	if c.bad != "" {
		return nil, nil
	}
	declared, err := declared.Current(ctx, c.kv)
	if err != nil {
		return nil, err
	}
	j, err := b.Plan(ctx, declared, c.store)
	if err != nil {
		return nil, err
	}
	return j, Check(ctx, j, declared, c.store)
}
