package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"locus/control/orders"
	"locus/migrate"
	"locus/proxy/session"
)

// callPatience bounds an order: both shards are asked before a move begins.
const callPatience = 30 * time.Second

// mostArguments are more than any procedure takes.
const mostArguments = 16

// called is what an order is answered.
type called struct {
	Schema  int     `json:"schema"`
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Percent float64 `json:"percent"`
	Told    string  `json:"told"` // the line in its journal
}

// call is POST /v1/calls/{procedure}: CALL locus.… of who has logged in.
func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	ordered(w, r, func(ctx context.Context, procedure string, args []string) (any, error) {
		j, err := c.options.Orders.Order(ctx, procedure, args, byWhom(r))
		if err != nil {
			return nil, err
		}
		return called{schema, j.ID, string(j.State.Shown()), j.State.Percent(), j.Journal[len(j.Journal)-1].What}, nil
	})
}

// ordered answers with what a procedure gives, told the arguments in the body.
func ordered(w http.ResponseWriter, r *http.Request, order func(ctx context.Context, procedure string, args []string) (any, error)) {
	args, err := arguments(w, r)
	if err != nil {
		refuseJSON(w, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), callPatience)
	defer cancel()
	procedure := r.PathValue("procedure")
	answer, err := order(ctx, procedure, args)
	if err != nil {
		refuseCall(w, procedure, err)
		return
	}
	writeJSON(w, answer)
}

func byWhom(r *http.Request) string { return who(r).user + " (dashboard)" }

// previewed is what a move would be.
type previewed struct {
	Schema int    `json:"schema"`
	Job    string `json:"job"`
	From   string `json:"from"`
	To     string `json:"to"`
	Genes  int    `json:"genes"`
	Ranges string `json:"gene_ranges"`
	// Share is how much of the source's genes that is, in percent.
	Share    float64   `json:"share_percent"`
	Load     float64   `json:"statements_per_second"` // on these genes, as all proxies have counted
	Problems []problem `json:"problems"`              // that stand in its way
	Unasked  string    `json:"unasked,omitempty"`     // why nothing is known of them
}

type problem struct {
	Check  string `json:"check"`
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// preview is POST /v1/previews/{procedure}: what a split or a merge would begin.
func (c *Console) preview(w http.ResponseWriter, r *http.Request) {
	ordered(w, r, func(ctx context.Context, procedure string, args []string) (any, error) {
		p, err := c.options.Orders.Preview(ctx, procedure, args, byWhom(r))
		if err != nil {
			return nil, err
		}
		return c.previewed(ctx, p), nil
	})
}

func (c *Console) previewed(ctx context.Context, p orders.Preview) previewed {
	j := p.Job
	a := previewed{
		Schema: schema, Job: j.ID, From: string(j.From), To: j.Target(), Genes: j.Genes.Len(), Ranges: short(j.Genes.String()), Problems: []problem{},
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
	if p.Unasked != nil {
		a.Unasked = p.Unasked.Error()
	}
	return a
}

// arguments reads {"arguments": ["split-1", "40"]}. Only JSON is taken: no form of another
// site can send it.
func arguments(w http.ResponseWriter, r *http.Request) ([]string, error) {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return nil, fmt.Errorf("content type %q: send application/json", kind)
	}
	var body struct {
		Arguments []string `json:"arguments"`
	}
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	in.DisallowUnknownFields()
	if err := in.Decode(&body); err != nil {
		return nil, fmt.Errorf(`the body: %w; it is {"arguments": ["split-1", "40"]}`, err)
	}
	if len(body.Arguments) > mostArguments {
		return nil, fmt.Errorf("%d arguments are more than any procedure takes", len(body.Arguments))
	}
	return body.Arguments, nil
}

// refuseCall says why an order was not taken, or that it is not known whether it was.
func refuseCall(w http.ResponseWriter, name string, err error) {
	switch {
	case errors.Is(err, session.ErrNoProcedure):
		refuseJSON(w, http.StatusNotFound, fmt.Errorf("%s: %w", name, err))
	case errors.As(err, new(*session.BadArguments)):
		refuseJSON(w, http.StatusBadRequest, err)
	case errors.Is(err, migrate.ErrNoJob):
		refuseJSON(w, http.StatusNotFound, err)
	case errors.Is(err, migrate.ErrUnknown), errors.Is(err, context.DeadlineExceeded):
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("%w: look whether it is in the journal", err))
	default:
		refuseJSON(w, http.StatusConflict, err)
	}
}
