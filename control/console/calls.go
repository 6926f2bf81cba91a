package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"locus/control/orders"
	"locus/migrate"
	"locus/proxy/session"
)

// callPatience is the time limit of an order, since both shards are checked before a move begins.
const callPatience = 30 * time.Second

// mostArguments exceeds the number of arguments of every procedure.
const mostArguments = 16

// called is the answer to an order.
type called struct {
	Schema  int     `json:"schema"`
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Percent float64 `json:"percent"`
	Told    string  `json:"told"` // the line in the job's journal
}

// call handles POST /v1/calls/{procedure}: CALL locus.… on behalf of the logged-in user.
func (c *Console) call(w http.ResponseWriter, r *http.Request) {
	ordered(w, r, func(ctx context.Context, procedure string, args []string) (any, error) {
		j, err := c.options.Orders.Order(ctx, procedure, args, byWhom(r))
		if err != nil {
			return nil, err
		}
		return called{schema, j.ID, string(j.State.Shown()), j.State.Percent(), j.Journal[len(j.Journal)-1].What}, nil
	})
}

// ordered calls order with the arguments in the body and answers with its result.
func ordered(w http.ResponseWriter, r *http.Request, order func(ctx context.Context, procedure string, args []string) (any, error)) {
	if err := jsonBody(r); err != nil {
		w.Header().Set("Accept-Post", jsonType)
		refuseJSON(w, http.StatusUnsupportedMediaType, err)
		return
	}
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

// previewed describes the move that an order would begin.
type previewed struct {
	Schema int    `json:"schema"`
	Job    string `json:"job"`
	From   string `json:"from"`
	To     string `json:"to"`
	Genes  int    `json:"genes"`
	Ranges string `json:"gene_ranges"`
	// Share is the percentage of the source's genes.
	Share    float64   `json:"share_percent"`
	Load     float64   `json:"statements_per_second"` // on these genes, as counted by all proxies
	Problems []problem `json:"problems"`              // obstacles to the move
	Unasked  string    `json:"unasked,omitempty"`     // why the obstacles are unknown
}

type problem struct {
	Check  string `json:"check"`
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// preview handles POST /v1/previews/{procedure}: the move that a split or merge would begin.
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

// arguments reads {"arguments": ["split-1", "40"]}.
func arguments(w http.ResponseWriter, r *http.Request) ([]string, error) {
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

// refuseCall answers why an order was not accepted, or that this is unknown.
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
