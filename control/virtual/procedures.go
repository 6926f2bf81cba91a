package virtual

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"locus/control/finding"
	"locus/control/ops"
	"locus/migrate/job"
	"locus/proxy/session"
	"locus/router"
	"locus/router/stmt"
)

// Procedures implements the procedures of the schema locus for one cluster. They read their arguments, call
// package ops, and return the result as a row. It is safe for concurrent use.
type Procedures struct{ ops *ops.Ops }

// NewProcedures returns the procedures that call operations.
func NewProcedures(o *ops.Ops) *Procedures { return &Procedures{o} }

var _ session.Procedures = (*Procedures)(nil)

// procedure is one of the procedures.
type procedure struct {
	takes string // its arguments
	least int    // the number of arguments that must be given
	// read converts the arguments into a request, and returns the function that runs it.
	read func(*call) run
	// slow: the request reads or copies rows of all shards, and has copyPatience instead of callPatience.
	slow bool
}

// Time limits of a call, as over HTTP.
const (
	callPatience = 30 * time.Second
	copyPatience = 10 * time.Minute
)

func (p procedure) patience() time.Duration {
	if p.slow {
		return copyPatience
	}
	return callPatience
}

// run runs a request.
type run func(context.Context, *ops.Ops) (session.Answer, error)

// procedures contains all of them, by the names of the commands, with _ for -.
var procedures = map[string]procedure{
	"split":  {takes: "from_shard, to_shard, genes [, why, by]", least: 3, read: starts(split)},
	"merge":  {takes: "from_shard, into_shard [, why]", least: 2, read: starts(merge)},
	"import": {takes: "table, words [, why]", least: 2, read: starts(imports)},

	"cutover":   {takes: "job, percent [, step_percent, every_seconds, on_breach]", least: 2, read: sends(cutOver)},
	"next_step": {takes: "job, percent", least: 2, read: sends(func(c *call) ops.Command { return ops.NextStep{OfJob: c.job(), Percent: c.number(1)} })},
	"rollback": {takes: "job [, percent, step_percent]", least: 1, read: sends(func(c *call) ops.Command {
		return ops.RollBack{OfJob: c.job(), Percent: c.number(1), StepPercent: c.number(2)}
	})},
	"pause":    {takes: "job", least: 1, read: sends(func(c *call) ops.Command { return ops.Pause{OfJob: c.job()} })},
	"resume":   {takes: "job", least: 1, read: sends(func(c *call) ops.Command { return ops.Resume{OfJob: c.job()} })},
	"finish":   {takes: "job", least: 1, read: sends(func(c *call) ops.Command { return ops.Finish{OfJob: c.job()} })},
	"abort":    {takes: "job", least: 1, read: sends(func(c *call) ops.Command { return ops.Abort{OfJob: c.job()} })},
	"verify":   {takes: "job", least: 1, read: sends(func(c *call) ops.Command { return ops.Verify{OfJob: c.job()} })},
	"repair":   {takes: "job, take [, rows]", least: 2, read: sends(repair)},
	"throttle": {takes: "job, percent", least: 2, read: sends(func(c *call) ops.Command { return ops.Throttle{OfJob: c.job(), Percent: c.number(1)} })},
	"mirror":   {takes: "job, percent", least: 2, read: sends(func(c *call) ops.Command { return ops.Mirror{OfJob: c.job(), Percent: c.number(1)} })},

	"rebalance": {takes: "[by, tolerance_percent, why, onto]", least: 0, read: rebalance, slow: true},

	"switchover":       {takes: "shard, server", least: 2, read: switchover},
	"promote":          {takes: "shard, server [, give_up]", least: 2, read: promote},
	"without_replicas": {takes: "shard", least: 1, read: withoutReplicas},
	"drain":            {takes: "process [, last]", least: 1, read: drain},
	"evict":            {takes: "process [, last]", least: 1, read: evict},
	"shard_fill":       {takes: "shard [, wait_seconds]", least: 1, read: shardFill, slow: true},
	"shard_remove": {takes: "shard [, why]", least: 1, slow: true, read: declares(func(c *call) ops.Declare {
		return ops.RemoveShard{Shard: c.shard(0), Reason: ops.Reason{Why: c.text(1)}}
	})},
	"routes_rollback": {takes: "version [, why, force_move_without_data]", least: 1, slow: true, read: declares(func(c *call) ops.Declare {
		return ops.RestoreRoutes{Version: c.whole(0), Force: c.is(2), Reason: ops.Reason{Why: c.text(1)}}
	})},

	"kill_session":   {takes: "proxy, session", least: 2, read: kill(false)},
	"kill_statement": {takes: "proxy, session", least: 2, read: kill(true)},
	"acknowledge":    {takes: "finding, why [, days]", least: 2, read: acknowledge},
	"withdraw":       {takes: "finding", least: 1, read: withdraw},

	"table_add":  {takes: "table, words", least: 2, read: tableAdd},
	"table_drop": {takes: "table", least: 1, read: tableDrop},
}

func (p procedure) most() int { return strings.Count(p.takes, ",") + 1 }

// Call implements session.Procedures.
func (p *Procedures) Call(ctx context.Context, name string, args []stmt.Value, by string) (session.Answer, error) {
	called, there := procedures[name]
	if !there {
		return session.Answer{}, session.ErrNoProcedure
	}
	bad := &session.BadArguments{Given: len(args), Takes: "locus." + name + "(" + called.takes + ")"}
	if len(args) < called.least || len(args) > called.most() {
		return session.Answer{}, bad
	}
	c := &call{args: args, by: by + " (SQL)"}
	for i, a := range args[:called.least] {
		if a.Kind == stmt.Null {
			c.wrong(i, "NULL, which is allowed only for an argument that can be left out")
		}
	}
	do := called.read(c)
	if bad.Argument = c.bad; bad.Argument != "" {
		return session.Answer{}, bad
	}
	ctx, cancel := context.WithTimeout(ctx, called.patience())
	defer cancel()
	answer, err := do(ctx, p.ops)
	if invalid, is := errors.AsType[*ops.Invalid](err); is {
		bad.Argument = invalid.Error()
		return session.Answer{}, bad
	}
	return answer, err
}

// call is one CALL.
type call struct {
	args []stmt.Value
	by   string
	bad  string // the error of an argument; if set, nothing is run
}

func (c *call) wrong(i int, format string, args ...any) {
	if c.bad == "" {
		c.bad = fmt.Sprintf("argument %d: ", i+1) + fmt.Sprintf(format, args...)
	}
}

// text returns an argument. It is empty if the argument is NULL, or not given.
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

// number returns a numeric argument. It is nil if the argument is NULL, or not given.
func (c *call) number(i int) *float64 {
	if i >= len(c.args) || c.args[i].Kind == stmt.Null {
		return nil
	}
	return new(c.parse(i, c.text(i)))
}

// parse reads a number, or a percentage.
func (c *call) parse(i int, text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil {
		c.wrong(i, "%q is not a number", text)
	}
	return n
}

// whole returns an argument that is a whole number.
func (c *call) whole(i int) int64 {
	n, err := strconv.ParseInt(c.text(i), 10, 64)
	if err != nil {
		c.wrong(i, "%q is not a whole number", c.text(i))
	}
	return n
}

// is returns an argument that is true or false. It is false if the argument is NULL, or not given.
func (c *call) is(i int) bool {
	switch strings.ToLower(c.text(i)) {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	}
	c.wrong(i, "%q is neither TRUE nor FALSE", c.text(i))
	return false
}

func (c *call) job() ops.OfJob { return ops.OfJob{Job: c.text(0)} }

func (c *call) shard(i int) router.ShardName { return router.ShardName(c.text(i)) }

// shards returns an argument with the names of shards, which commas separate. It is empty if the argument is NULL, or not given.
func (c *call) shards(i int) (list []router.ShardName) {
	if c.text(i) == "" {
		return nil
	}
	for name := range strings.SplitSeq(c.text(i), ",") {
		list = append(list, router.ShardName(strings.TrimSpace(name)))
	}
	return list
}

// mostWarnings bounds the warnings of a CALL. Servers keep the same number.
const mostWarnings = 64

// starts runs a request that starts a job.
func starts(read func(*call) ops.Start) func(*call) run {
	return func(c *call) run {
		s := read(c)
		return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
			p, err := o.PlanStart(ctx, s, c.by)
			if err != nil {
				return session.Answer{}, err
			}
			if err := o.Start(ctx, p); err != nil {
				return session.Answer{}, err
			}
			answer := ofJob(p.Job)
			answer.Warnings = p.Warnings[:min(len(p.Warnings), mostWarnings)]
			return answer, nil
		}
	}
}

// sends runs a command for a job.
func sends(read func(*call) ops.Command) func(*call) run {
	return func(c *call) run {
		command := read(c)
		return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
			j, err := o.Send(ctx, command, c.by, nil)
			if err != nil {
				return session.Answer{}, err
			}
			return ofJob(j), nil
		}
	}
}

func ofJob(j *job.Job) session.Answer {
	percent := strconv.FormatFloat(j.State.Percent(), 'f', 2, 64)
	return session.Answer{
		Columns: []string{"job", "phase", "percent", "told"},
		Row:     []string{j.ID, string(j.State.Shown()), percent, j.Journal[len(j.Journal)-1].What},
	}
}

// usualHottest is the share of the load that the hottest genes have if the argument names none.
const usualHottest = 50.0

// split reads genes as 'half', as ranges, or as 'hottest 20%'.
func split(c *call) ops.Start {
	r := ops.Split{From: c.shard(0), To: c.shard(1), Genes: c.text(2), By: strings.ToLower(c.text(4)), Starting: ops.Starting{Why: c.text(3)}}
	if share, is := strings.CutPrefix(strings.ToLower(r.Genes), "hottest"); is {
		r.Genes, r.HottestPercent = "", new(usualHottest)
		if share = strings.TrimSpace(share); share != "" {
			r.HottestPercent = new(c.parse(2, share))
		}
	}
	return r
}

func merge(c *call) ops.Start {
	return ops.Merge{From: c.shard(0), Into: c.shard(1), Starting: ops.Starting{Why: c.text(2)}}
}

// imports reads a table with its words. After a semicolon in the words another table may follow with its own.
func imports(c *call) ops.Start {
	return ops.Import{Tables: ops.SplitTables(c.text(0) + " " + c.text(1)), Starting: ops.Starting{Why: c.text(2)}}
}

func cutOver(c *call) ops.Command {
	r := ops.CutOver{OfJob: c.job(), Percent: c.number(1), StepPercent: c.number(2), OnBreach: job.Breach(c.text(4))}
	if every := c.number(3); every != nil {
		r.EverySeconds = *every
	}
	return r
}

func repair(c *call) ops.Command {
	return ops.Repair{OfJob: c.job(), Take: job.Take(c.text(1)), Rows: c.text(2)}
}

// switchover runs in this process. The answer contains the time for which the statements of the shard were
// paused.
func switchover(c *call) run {
	r := ops.Switchover{Shard: c.shard(0), To: c.text(1)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		paused, err := o.Switchover(ctx, r, c.by, slog.Default())
		return session.Answer{
			Columns: []string{"shard", "primary", "held_ms"}, Row: []string{string(r.Shard), r.To, strconv.FormatInt(paused.Milliseconds(), 10)},
		}, err
	}
}

func promote(c *call) run {
	r := ops.TakePrimary{Shard: c.shard(0), Server: c.text(1), GiveUp: c.is(2)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		err := o.TakePrimary(ctx, r, c.by, slog.Default())
		return ofPrimary(r.Shard, r.Server), err
	}
}

func withoutReplicas(c *call) run {
	r := ops.WithoutReplicas{Shard: c.shard(0)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		primary, err := o.WithoutReplicas(ctx, r, c.by, slog.Default())
		return ofPrimary(r.Shard, primary), err
	}
}

func ofPrimary(shard router.ShardName, primary string) session.Answer {
	return session.Answer{Columns: []string{"shard", "primary"}, Row: []string{string(shard), primary}}
}

func drain(c *call) run {
	r := ops.Drain{Process: c.text(0), Last: c.is(1)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) { return ofLeaving(o.Drain(ctx, r, c.by)) }
}

func evict(c *call) run {
	r := ops.Evict{Process: c.text(0), Last: c.is(1)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) { return ofLeaving(o.Evict(ctx, r, c.by)) }
}

func ofLeaving(l *ops.Leaving, err error) (session.Answer, error) {
	if err != nil {
		return session.Answer{}, err
	}
	return session.Answer{Columns: []string{"process", "proxies_left"}, Row: []string{l.Process.ID, strconv.Itoa(l.Proxies)}}, nil
}

func shardFill(c *call) run {
	r := ops.FillShard{Shard: c.shard(0)}
	if wait := c.number(1); wait != nil {
		r.WaitSeconds = *wait
	}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		_, filled, err := o.FillShard(ctx, r, c.by)
		var written, deleted int
		for _, f := range filled {
			written, deleted = written+f.Written, deleted+f.Deleted
		}
		return session.Answer{
			Columns: []string{"shard", "rows_written", "rows_deleted"}, Row: []string{string(r.Shard), strconv.Itoa(written), strconv.Itoa(deleted)},
		}, err
	}
}

// declares returns a procedure's function that runs a request that changes the declarations.
func declares(read func(*call) ops.Declare) func(*call) run {
	return func(c *call) run {
		r := read(c)
		return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
			change, _, err := o.Declare(ctx, r, c.by)
			if err != nil {
				return session.Answer{}, err
			}
			return session.Answer{
				Columns: []string{"changes", "map_version"}, Row: []string{strconv.Itoa(len(change.Differences)), strconv.FormatInt(change.Next.Routes.Version(), 10)},
				Warnings: change.Warnings[:min(len(change.Warnings), mostWarnings)],
			}, nil
		}
	}
}

func rebalance(c *call) run {
	r := ops.Rebalance{By: strings.ToLower(c.text(0)), TolerancePercent: c.number(1), Onto: c.shards(3), Starting: ops.Starting{Why: c.text(2)}}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		started, err := o.Rebalance(ctx, r, c.by)
		var ids []string
		for _, j := range started {
			ids = append(ids, j.ID)
		}
		return session.Answer{Columns: []string{"jobs"}, Row: []string{strings.Join(ids, ", ")}}, err
	}
}

// kill ends a session at a proxy, or only its statement.
func kill(statement bool) func(*call) run {
	return func(c *call) run {
		r := ops.KillSession{Proxy: c.text(0), Session: int64(c.parse(1, c.text(1))), Statement: statement}
		return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
			proxy, err := o.KillSession(ctx, r, c.by)
			return session.Answer{Columns: []string{"proxy", "session"}, Row: []string{proxy, strconv.FormatInt(r.Session, 10)}}, err
		}
	}
}

func acknowledge(c *call) run {
	r := ops.Acknowledge{Finding: c.text(0), Why: c.text(1)}
	if days := c.number(2); days != nil {
		r.Days = *days
	}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		a, err := o.Acknowledge(ctx, r, c.by)
		return ofFinding(a), err
	}
}

func withdraw(c *call) run {
	r := ops.Withdraw{Finding: c.text(0)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		a, err := o.Withdraw(ctx, r, c.by)
		return ofFinding(a), err
	}
}

func ofFinding(a finding.Acknowledgement) session.Answer {
	return session.Answer{Columns: []string{"finding", "severity", "place", "what"}, Row: []string{a.ID, a.Severity.String(), a.Where, a.What}}
}

func tableAdd(c *call) run {
	r := ops.TableWords{Table: c.text(0), Words: c.text(1)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		t, err := o.AddTable(ctx, r, c.by)
		return ofTable(t), err
	}
}

func tableDrop(c *call) run {
	r := ops.DropTable{Table: c.text(0)}
	return func(ctx context.Context, o *ops.Ops) (session.Answer, error) {
		t, err := o.DropTable(ctx, r, c.by)
		return ofTable(t), err
	}
}

func ofTable(t ops.Table) session.Answer {
	return session.Answer{
		Columns: []string{"table_name", "kind", "words"}, Row: []string{t.Name, string(t.Declaration.Kind), t.Declaration.Words()},
	}
}
