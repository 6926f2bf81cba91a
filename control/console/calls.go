package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"locus/control/finding"
	"locus/control/newshard"
	"locus/control/ops"
	"locus/migrate"
	"locus/migrate/job"
)

// Operations carries out what admins request. It is [ops.Ops].
type Operations interface {
	PlanStart(ctx context.Context, s ops.Start, by string) (*ops.Plan, error)
	Start(ctx context.Context, p *ops.Plan) error
	Send(ctx context.Context, c ops.Command, by string, agree ops.Agree) (*job.Job, error)
	AddTable(ctx context.Context, r ops.TableWords, by string) (ops.Table, error)
	DropTable(ctx context.Context, r ops.DropTable, by string) (ops.Table, error)
	Acknowledge(ctx context.Context, r ops.Acknowledge, by string) (finding.Acknowledgement, error)
	Withdraw(ctx context.Context, r ops.Withdraw, by string) (finding.Acknowledgement, error)
	Switchover(ctx context.Context, r ops.Switchover, by string, log *slog.Logger) (time.Duration, error)
	TakePrimary(ctx context.Context, r ops.TakePrimary, by string, log *slog.Logger) error
	WithoutReplicas(ctx context.Context, r ops.WithoutReplicas, by string, log *slog.Logger) (primary string, err error)
	Drain(ctx context.Context, r ops.Drain, by string) (*ops.Leaving, error)
	Evict(ctx context.Context, r ops.Evict, by string) (*ops.Leaving, error)
	Declare(ctx context.Context, r ops.Declare, by string) (*ops.Change, ops.Effect, error)
	FillShard(ctx context.Context, r ops.FillShard, by string) (*ops.Fill, []newshard.Filled, error)
	Rebalance(ctx context.Context, r ops.Rebalance, by string) ([]*job.Job, error)
	KillSession(ctx context.Context, r ops.KillSession, by string) (proxy string, err error)
}

// callPatience is the time limit of a request, since both shards are checked before a move begins.
const callPatience = 30 * time.Second

// slowPatience is the time limit of a request that reads or copies rows of all shards.
const slowPatience = 10 * time.Minute

// called is the answer to a request that concerns a job.
type called struct {
	Schema   int      `json:"schema"`
	Job      string   `json:"job"`
	Phase    string   `json:"phase"`
	Percent  float64  `json:"percent"`
	Told     string   `json:"told"` // the line in the job's journal
	Warnings []string `json:"warnings,omitempty"`
}

func newCalled(j *job.Job, warnings []string) called {
	return called{schema, j.ID, string(j.State.Shown()), j.State.Percent(), j.Journal[len(j.Journal)-1].What, warnings}
}

// tableCalled is the answer to a request that concerns a declaration.
type tableCalled struct {
	Schema int    `json:"schema"`
	Table  string `json:"table"`
	Kind   string `json:"kind"`
	Words  string `json:"words"`
}

func newTableCalled(t ops.Table) tableCalled {
	return tableCalled{schema, t.Name, string(t.Declaration.Kind), t.Declaration.Words()}
}

// switchedOver is the answer to a switchover.
type switchedOver struct {
	Schema  int    `json:"schema"`
	Shard   string `json:"shard"`
	Primary string `json:"primary"`
	HeldMs  int64  `json:"held_ms"`
}

// draining is the answer to a request to drain or evict a process.
type draining struct {
	Schema  int    `json:"schema"`
	Process string `json:"process"`
	Left    int    `json:"proxies_left"`
}

// acknowledged is the answer to a request that concerns an acknowledgement.
type acknowledged struct {
	Schema int `json:"schema"`
	finding.Acknowledgement
}

// request is one kind of request. A body has the fields of its type.
type request struct {
	of  reflect.Type
	run func(c *Console, ctx context.Context, read func(any) error, by string) (any, error)
	// preview plans a job and writes nothing. It is nil if the request starts none.
	preview func(c *Console, ctx context.Context, read func(any) error, by string) (any, error)
	// patience is the time limit; 0: callPatience.
	patience time.Duration
}

// within returns the request with another time limit.
func (r request) within(patience time.Duration) request {
	r.patience = patience
	return r
}

// requests contains all of them, by the names of the procedures.
var requests = map[string]request{
	"split": starting[ops.Split](), "merge": starting[ops.Merge](), "import": starting[ops.Import](),

	"cutover": sending[ops.CutOver](), "next_step": sending[ops.NextStep](), "rollback": sending[ops.RollBack](),
	"pause": sending[ops.Pause](), "resume": sending[ops.Resume](), "finish": sending[ops.Finish](), "abort": sending[ops.Abort](),
	"verify": sending[ops.Verify](), "repair": sending[ops.Repair](), "throttle": sending[ops.Throttle](), "mirror": sending[ops.Mirror](),

	"switchover": calling(func(c *Console, ctx context.Context, r ops.Switchover, by string) (any, error) {
		held, err := c.options.Operations.Switchover(ctx, r, by, slog.Default())
		return switchedOver{schema, string(r.Shard), r.To, held.Milliseconds()}, err
	}),
	"promote": calling(func(c *Console, ctx context.Context, r ops.TakePrimary, by string) (any, error) {
		err := c.options.Operations.TakePrimary(ctx, r, by, slog.Default())
		return switchedOver{schema, string(r.Shard), r.Server, 0}, err
	}),
	"without_replicas": calling(func(c *Console, ctx context.Context, r ops.WithoutReplicas, by string) (any, error) {
		primary, err := c.options.Operations.WithoutReplicas(ctx, r, by, slog.Default())
		return switchedOver{schema, string(r.Shard), primary, 0}, err
	}),
	"drain": calling(func(c *Console, ctx context.Context, r ops.Drain, by string) (any, error) {
		return leaving(c.options.Operations.Drain(ctx, r, by))
	}),
	"evict": calling(func(c *Console, ctx context.Context, r ops.Evict, by string) (any, error) {
		return leaving(c.options.Operations.Evict(ctx, r, by))
	}),
	"shard_remove": declaring[ops.RemoveShard]().within(slowPatience), "routes_rollback": declaring[ops.RestoreRoutes]().within(slowPatience),
	"shard_fill": calling(func(c *Console, ctx context.Context, r ops.FillShard, by string) (any, error) {
		_, filled, err := c.options.Operations.FillShard(ctx, r, by)
		a := filledShard{Schema: schema, Shard: string(r.Shard)}
		for _, f := range filled {
			a.Written, a.Deleted = a.Written+f.Written, a.Deleted+f.Deleted
		}
		return a, err
	}).within(slowPatience),
	"rebalance": calling(func(c *Console, ctx context.Context, r ops.Rebalance, by string) (any, error) {
		jobs, err := c.options.Operations.Rebalance(ctx, r, by)
		a := rebalanced{Schema: schema, Jobs: []called{}}
		for _, j := range jobs {
			a.Jobs = append(a.Jobs, newCalled(j, nil))
		}
		return a, err
	}).within(slowPatience),
	"kill_session": killing(false), "kill_statement": killing(true),
	"acknowledge": calling(func(c *Console, ctx context.Context, r ops.Acknowledge, by string) (any, error) {
		a, err := c.options.Operations.Acknowledge(ctx, r, by)
		return acknowledged{schema, a}, err
	}),
	"withdraw": calling(func(c *Console, ctx context.Context, r ops.Withdraw, by string) (any, error) {
		a, err := c.options.Operations.Withdraw(ctx, r, by)
		return acknowledged{schema, a}, err
	}),
	"explain": calling(func(c *Console, ctx context.Context, r explainRequest, _ string) (any, error) {
		return c.explain(ctx, r)
	}),
	"table_add": calling(func(c *Console, ctx context.Context, r ops.TableWords, by string) (any, error) {
		t, err := c.options.Operations.AddTable(ctx, r, by)
		return newTableCalled(t), err
	}),
	"table_drop": calling(func(c *Console, ctx context.Context, r ops.DropTable, by string) (any, error) {
		t, err := c.options.Operations.DropTable(ctx, r, by)
		return newTableCalled(t), err
	}),
}

func leaving(l *ops.Leaving, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return draining{schema, l.Process.ID, l.Proxies}, nil
}

// changed is the answer to a change of what is declared.
type changed struct {
	Schema     int      `json:"schema"`
	Changes    int      `json:"changes"` // documents that were changed
	MapVersion int64    `json:"map_version"`
	Warnings   []string `json:"warnings,omitempty"`
}

func declaring[T ops.Declare]() request {
	return calling(func(c *Console, ctx context.Context, r T, by string) (any, error) {
		change, _, err := c.options.Operations.Declare(ctx, r, by)
		if err != nil {
			return nil, err
		}
		return changed{schema, len(change.Differences), change.Next.Routes.Version(), change.Warnings}, nil
	})
}

// filledShard is the answer to a request to fill a shard.
type filledShard struct {
	Schema  int    `json:"schema"`
	Shard   string `json:"shard"`
	Written int    `json:"rows_written"`
	Deleted int    `json:"rows_deleted"`
}

// rebalanced is the answer to a rebalance: the jobs that have started.
type rebalanced struct {
	Schema int      `json:"schema"`
	Jobs   []called `json:"jobs"`
}

// killed is the answer to the end of a session or statement.
type killed struct {
	Schema  int    `json:"schema"`
	Proxy   string `json:"proxy"`
	Session int64  `json:"session"`
}

// killRequest names a session.
type killRequest struct {
	Proxy   string `json:"proxy"`
	Session int64  `json:"session"`
}

func killing(statement bool) request {
	return calling(func(c *Console, ctx context.Context, r killRequest, by string) (any, error) {
		proxy, err := c.options.Operations.KillSession(ctx, ops.KillSession{Proxy: r.Proxy, Session: r.Session, Statement: statement}, by)
		return killed{schema, proxy, r.Session}, err
	})
}

func calling[T any](do func(*Console, context.Context, T, string) (any, error)) request {
	return request{of: reflect.TypeFor[T](), run: func(c *Console, ctx context.Context, read func(any) error, by string) (any, error) {
		var r T
		if err := read(&r); err != nil {
			return nil, err
		}
		return do(c, ctx, r, by)
	}}
}

func sending[T ops.Command]() request {
	return calling(func(c *Console, ctx context.Context, r T, by string) (any, error) {
		j, err := c.options.Operations.Send(ctx, r, by, nil)
		if err != nil {
			return nil, err
		}
		return newCalled(j, nil), nil
	})
}

func starting[T ops.Start]() request {
	r := calling(func(c *Console, ctx context.Context, r T, by string) (any, error) {
		p, err := c.options.Operations.PlanStart(ctx, r, by)
		if err != nil {
			return nil, err
		}
		return newCalled(p.Job, p.Warnings), c.options.Operations.Start(ctx, p)
	})
	r.preview = calling(func(c *Console, ctx context.Context, r T, by string) (any, error) {
		p, err := c.options.Operations.PlanStart(ctx, r, by)
		if err != nil {
			return nil, err
		}
		return c.previewed(ctx, p), nil
	}).run
	return r
}

// call handles POST /v1/calls/{procedure}: a request of the logged-in user.
func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("procedure")
	called := requests[name]
	c.answer(w, r, name, called, called.run)
}

// preview handles POST /v1/previews/{procedure}: the job that a request would start.
func (c *Console) preview(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("procedure")
	called := requests[name]
	c.answer(w, r, name, called, called.preview)
}

// answer reads the body and answers with the result of run.
func (c *Console) answer(w http.ResponseWriter, r *http.Request, name string, called request, run func(*Console, context.Context, func(any) error, string) (any, error)) {
	if err := jsonBody(r); err != nil {
		w.Header().Set("Accept-Post", jsonType)
		refuseJSON(w, http.StatusUnsupportedMediaType, err)
		return
	}
	if run == nil {
		refuseJSON(w, http.StatusNotFound, fmt.Errorf("%s: no such request", name))
		return
	}
	patience := cmp.Or(called.patience, callPatience)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	// The server's own limit for the answer counts from the request. Without support for this, as in tests, there is none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + sendWithin))
	read := func(into any) error {
		if err := decode(http.MaxBytesReader(w, r.Body, 64<<10), into); err != nil {
			return &ops.Invalid{Problem: fmt.Sprintf("the body is not a JSON object for %s: %v; its fields are %s", name, err, strings.Join(fieldNames(called.of), ", "))}
		}
		return nil
	}
	answer, err := run(c, ctx, read, byWhom(r))
	if err != nil {
		refuseJSON(w, refusalStatus(err), err)
		return
	}
	writeJSON(w, answer)
}

func byWhom(r *http.Request) string { return who(r).user + " (dashboard)" }

// previewed describes the job that a request would start.
type previewed struct {
	Schema int    `json:"schema"`
	Job    string `json:"job"`
	From   string `json:"from"`
	To     string `json:"to"`
	Genes  int    `json:"genes"`
	Ranges string `json:"gene_ranges"`
	// Share is the percentage of the source's genes.
	Share    float64   `json:"share_percent"`
	Load     float64   `json:"statements_per_second"` // of statements on these genes, as counted by all proxies
	Problems []problem `json:"problems"`              // obstacles to the move
	Unasked  string    `json:"unasked,omitempty"`     // why the obstacles are unknown
	Warnings []string  `json:"warnings,omitempty"`
}

type problem struct {
	Check  string `json:"check"`
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

func (c *Console) previewed(ctx context.Context, p *ops.Plan) previewed {
	j := p.Job
	a := previewed{
		Schema: schema, Job: j.ID, From: string(j.From), To: j.Target(), Genes: j.Genes.Len(), Ranges: short(j.Genes.String()),
		Problems: []problem{}, Warnings: p.Warnings,
	}
	if owned := c.options.Proxy.Map().GenesOf(j.From).Len(); owned > 0 {
		a.Share = 100 * float64(a.Genes) / float64(owned)
	}
	if loads, err := c.genes.load.get(ctx); err == nil {
		a.Load = loads.Of(j.Genes)
	}
	for _, found := range p.Problems {
		a.Problems = append(a.Problems, problem{found.Check, found.What, found.Remedy})
	}
	if p.Unchecked != nil {
		a.Unasked = p.Unchecked.Error()
	}
	return a
}

const jsonType = "application/json"

// jsonBody returns an error unless the request declares a body of JSON, which no form of another site can send. JSON is
// always UTF-8, so that is the only charset.
func jsonBody(r *http.Request) error {
	given := r.Header.Values("Content-Type")
	if len(given) == 1 {
		kind, parameters, err := mime.ParseMediaType(given[0])
		charset := parameters["charset"]
		if err == nil && kind == jsonType && (charset == "" || strings.EqualFold(charset, "utf-8")) {
			return nil
		}
	}
	return fmt.Errorf("content type %q is not accepted: send the header Content-Type: %s, whose charset is utf-8", strings.Join(given, ", "), jsonType)
}

// decode reads one JSON object. It returns an error for unknown fields, and if anything follows the object.
func decode(body io.Reader, into any) error {
	in := json.NewDecoder(body)
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

// fieldNames returns the names of a request's fields, including the fields of embedded structs.
func fieldNames(of reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// refusalStatus returns the status for a request that was refused, or whose effect is unknown.
func refusalStatus(err error) int {
	switch {
	case errors.As(err, new(*ops.Invalid)):
		return http.StatusBadRequest
	case errors.Is(err, migrate.ErrNoJob):
		return http.StatusNotFound
	case errors.Is(err, migrate.ErrUnknown), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	}
	return http.StatusConflict
}
