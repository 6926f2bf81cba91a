package console

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"locus/control/fleet"
	"locus/proxy/meter"
)

// digestAnswer contains the cost of the statements of one digest at all proxies.
type digestAnswer struct {
	Schema    int             `json:"schema"`
	At        time.Time       `json:"at"`
	Proxies   int             `json:"proxies"`
	Silent    []string        `json:"silent,omitempty"`
	Statement statementAnswer `json:"statement"`
	// ByShard has (none) for statements that the proxies answer themselves, and (several) for those on several shards.
	ByShard []partAnswer `json:"by_shard"`
	ByUser  []partAnswer `json:"by_user"`
	ByCode  []codeAnswer `json:"by_error"`
	// Recorded is true if the proxies record the past of this digest: the lists below.
	Recorded bool      `json:"recorded"`
	Span     string    `json:"span"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Step     float64   `json:"step_seconds"`
	// The lists have the length of At. Null means that there was no such statement.
	Times     []int64         `json:"times"` // milliseconds since 1970
	PerSecond []*float64      `json:"statements_per_second"`
	Errors    []*float64      `json:"errors_per_second"`
	P50Ms     []*float64      `json:"p50_ms"`
	P99Ms     []*float64      `json:"p99_ms"`
	Shards    []digestByShard `json:"shards"`
}

type digestByShard struct {
	Shard     string     `json:"shard"`
	PerSecond []*float64 `json:"statements_per_second"`
	AverageMs []*float64 `json:"average_ms"`
	// P50Ms and P99Ms are the higher ones if several proxies sent such statements to the shard.
	P50Ms []*float64 `json:"p50_ms"`
	P99Ms []*float64 `json:"p99_ms"`
}

type partAnswer struct {
	Name      string  `json:"name"`
	Count     uint64  `json:"count"`
	Errors    uint64  `json:"errors"`
	AverageMs float64 `json:"average_ms"`
}

type codeAnswer struct {
	Code  string `json:"code"`
	Count uint64 `json:"count"`
}

// digestSpan is a span of a digest's past.
type digestSpan struct {
	name       string
	step, long time.Duration
	points     func(fleet.DigestCost) []meter.Point
}

var digestSpans = []digestSpan{
	{"1h", time.Minute, time.Hour, func(d fleet.DigestCost) []meter.Point { return d.Minutes }},
	{"24h", 15 * time.Minute, 24 * time.Hour, func(d fleet.DigestCost) []meter.Point { return d.Quarters }},
}

// digests caches the figures of the digests that pages show. It asks for one digest at a time, because the proxies answer only the
// latest question.
type digests struct {
	find func(ctx context.Context, database, hash string) (fleet.DigestCost, error)

	asking sync.Mutex
	mu     sync.Mutex // guards the fields below
	shown  map[[2]string]*lately[fleet.DigestCost]
}

// mostShown bounds the digests in the cache.
const mostShown = 64

func (d *digests) get(ctx context.Context, database, hash string) (fleet.DigestCost, error) {
	return d.of([2]string{database, hash}).get(ctx)
}

func (d *digests) of(key [2]string) *lately[fleet.DigestCost] {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.shown[key]; found != nil {
		return found
	}
	if d.shown == nil || len(d.shown) >= mostShown {
		d.shown = map[[2]string]*lately[fleet.DigestCost]{}
	}
	found := &lately[fleet.DigestCost]{every: statementsEvery, patience: 2 * statementsPatience, find: func(ctx context.Context) (fleet.DigestCost, error) {
		d.asking.Lock()
		defer d.asking.Unlock()
		return d.find(ctx, key[0], key[1])
	}}
	d.shown[key] = found
	return found
}

func (c *Console) getStatement(w http.ResponseWriter, r *http.Request) {
	span := r.FormValue("span")
	i := slices.IndexFunc(digestSpans, func(s digestSpan) bool { return s.name == span || span == "" })
	if i < 0 {
		refuseJSON(w, http.StatusBadRequest, fmt.Errorf("span %q: use 1h or 24h", span))
		return
	}
	hash := r.PathValue("digest")
	cost, err := c.digests.get(r.Context(), r.FormValue("database"), hash)
	switch {
	case err != nil:
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("ask the proxies for the statement's figures: %w", err))
	case cost.Count == 0:
		refuseJSON(w, http.StatusNotFound, fmt.Errorf("no proxy has figures of statement %s in database %q: it has not run since they started, or they keep other statements", hash, r.FormValue("database")))
	default:
		writeJSON(w, newDigestAnswer(cost, digestSpans[i], time.Now()))
	}
}

func newDigestAnswer(cost fleet.DigestCost, s digestSpan, now time.Time) digestAnswer {
	a := digestAnswer{
		Schema: schema, At: now.UTC(), Proxies: cost.Proxies, Silent: cost.Silent, Statement: newStatement(cost.Figures),
		ByShard: partAnswers(cost.Shards), ByUser: partAnswers(cost.Users), ByCode: []codeAnswer{},
		Recorded: cost.Recorded, Span: s.name, From: now.Add(-s.long).UTC(), To: now.UTC(), Step: s.step.Seconds(), Times: []int64{}, Shards: []digestByShard{},
	}
	for _, code := range cost.Codes {
		a.ByCode = append(a.ByCode, codeAnswer{code.Name, code.Failed})
	}
	points := s.points(cost)
	for _, shard := range cost.Shards {
		a.Shards = append(a.Shards, digestByShard{Shard: shard.Name})
	}
	for at := now.Add(-s.long).Truncate(s.step).Add(s.step); !at.Add(s.step).After(now); at = at.Add(s.step) {
		a.Times = append(a.Times, at.Add(s.step/2).UnixMilli())
		i := slices.IndexFunc(points, func(p meter.Point) bool { return p.At.Equal(at) })
		if i < 0 {
			a.add(meter.Point{}, s.step.Seconds())
			continue
		}
		a.add(points[i], s.step.Seconds())
	}
	return a
}

// add adds a point. A period without a statement has a rate of 0, and no latency.
func (a *digestAnswer) add(p meter.Point, seconds float64) {
	over := func(n uint64) *float64 { rate := float64(n) / seconds; return &rate }
	quantile := func(q float64) *float64 {
		if p.Count == 0 {
			return nil
		}
		ms := meter.Quantile(p.Times, q).Seconds() * 1000
		return &ms
	}
	a.PerSecond, a.Errors = append(a.PerSecond, over(p.Count)), append(a.Errors, over(p.Failed))
	a.P50Ms, a.P99Ms = append(a.P50Ms, quantile(0.5)), append(a.P99Ms, quantile(0.99))
	for i := range a.Shards {
		s := &a.Shards[i]
		part := meter.Part{}
		if at := slices.IndexFunc(p.Shards, func(q meter.Part) bool { return q.Name == s.Shard }); at >= 0 {
			part = p.Shards[at]
		}
		var average *float64
		if part.Count > 0 {
			ms := part.TotalMs / float64(part.Count)
			average = &ms
		}
		s.PerSecond, s.AverageMs = append(s.PerSecond, over(part.Count)), append(s.AverageMs, average)
		s.P50Ms, s.P99Ms = append(s.P50Ms, knownMs(part.P50Ms)), append(s.P99Ms, knownMs(part.P99Ms))
	}
}

// knownMs returns a percentile, or nil if it is not known.
func knownMs(ms float32) *float64 {
	if ms == 0 {
		return nil
	}
	p := math.Round(1000*float64(ms)) / 1000
	return &p
}

func partAnswers(parts []meter.Part) []partAnswer {
	list := []partAnswer{}
	for _, p := range parts {
		list = append(list, partAnswer{p.Name, p.Count, p.Failed, p.TotalMs / float64(max(1, p.Count))})
	}
	return list
}
