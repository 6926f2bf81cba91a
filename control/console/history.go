package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"locus/control/events"
	"locus/control/series"
	"locus/control/watch"
)

// historyAnswer is the figures of a span. Lists have the length of At. A null means that nothing is known of that time.
type historyAnswer struct {
	Schema int    `json:"schema"`
	Span   string `json:"span"`
	Proxy  string `json:"proxy,omitempty"`
	// From is the start of the span, Step the interval between points in seconds.
	From   time.Time     `json:"from"`
	To     time.Time     `json:"to"`
	Step   float64       `json:"step_seconds"`
	At     []int64       `json:"at"` // milliseconds since 1970
	Series []seriesLine  `json:"series"`
	Moves  []moveLine    `json:"moves"`
	Marks  []historyMark `json:"marks"`
	// Trouble is why events of the timeline are missing in Marks.
	Trouble string `json:"trouble,omitempty"`
}

// moveLine is the figures of a move.
type moveLine struct {
	ID           string     `json:"id"`
	AtTarget     []*float32 `json:"percent"`
	Rows         []*float32 `json:"rows_per_second"`
	LagMs        []*int32   `json:"lag_ms"`
	BeforeP99Ms  []*float32 `json:"before_p99_ms"`
	SinceP99Ms   []*float32 `json:"since_p99_ms"`
	BeforeFailed []*float32 `json:"before_failed_percent"`
	SinceFailed  []*float32 `json:"since_failed_percent"`
}

// seriesLine is the figures of a shard, or without a name of all shards together.
type seriesLine struct {
	Shard     string     `json:"shard,omitempty"`
	PerSecond []*float32 `json:"statements_per_second"`
	Errors    []*float32 `json:"errors_per_second"`
	P50Ms     []*float32 `json:"p50_ms"`
	P99Ms     []*float32 `json:"p99_ms"`
	InUse     []*int32   `json:"connections_in_use"`
	Limit     []*int32   `json:"connections_limit"`
	Waiting   []*int32   `json:"waiting"`
	LagMs     []*int32   `json:"lag_ms"`
}

// historyMark is an entry of a move's journal, or another event of the timeline.
type historyMark struct {
	At      int64  `json:"at"`
	Move    string `json:"move"` // empty for other events
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	What    string `json:"what"`
	Failed  bool   `json:"failed,omitempty"`
}

// mostMarks bounds the marks. The latest are kept.
const mostMarks = 60

var errNoSpan = errors.New("span: use 15m, 1h or 24h")

func (c *Console) getHistory(w http.ResponseWriter, r *http.Request) {
	span := r.FormValue("span")
	i := slices.IndexFunc(series.Spans, func(s series.Span) bool { return s.Name == span || span == "" })
	if i < 0 {
		refuseJSON(w, http.StatusBadRequest, errNoSpan)
		return
	}
	a := c.history(i, r.FormValue("proxy"), c.looks.see(r.Context()).moves, time.Now())
	page, err := c.timeline.get(r.Context())
	if err != nil {
		a.Trouble = fmt.Sprintf("the timeline can't be read: %v", err)
	}
	a.Marks = withEvents(a.Marks, page.Events, a.From, a.To)
	writeJSON(w, a)
}

// markedEvents are the kinds of events that charts show. Events of jobs are in the journals of the jobs.
var markedEvents = slices.DeleteFunc(events.Kinds(), func(k events.Kind) bool { return k == events.Job })

// newTimeline returns the events of the longest span.
func newTimeline(c Cluster) *lately[events.Page] {
	longest := series.Spans[len(series.Spans)-1]
	return &lately[events.Page]{every: answersEvery, patience: answersPatience, find: func(ctx context.Context) (events.Page, error) {
		return c.Timeline(ctx, events.Query{Kinds: markedEvents, Since: time.Now().Add(-longest.Step * time.Duration(longest.Keep)), Limit: mostMarks})
	}}
}

// withEvents adds the events of a span. The latest marks are kept.
func withEvents(list []historyMark, found []events.Event, from, to time.Time) []historyMark {
	for _, e := range found {
		if !e.At.Before(from) && !e.At.After(to) {
			list = append(list, historyMark{At: e.At.UnixMilli(), Kind: string(e.Kind), Subject: e.Subject, What: short(e.What), Failed: e.Failed})
		}
	}
	slices.SortStableFunc(list, func(a, b historyMark) int { return cmp.Compare(a.At, b.At) })
	return list[max(0, len(list)-mostMarks):]
}

func (c *Console) history(span int, proxy string, moves []watch.Seen, now time.Time) historyAnswer {
	s := series.Spans[span]
	from := now.Add(-s.Step * time.Duration(s.Keep))
	a := historyAnswer{
		Schema: schema, Span: s.Name, Proxy: proxy, From: from.UTC(), To: now.UTC(), Step: s.Step.Seconds(), At: []int64{}, Series: []seriesLine{}, Moves: []moveLine{}, Marks: marks(moves, from, now),
	}
	at, all := c.looks.kept.Of(span, proxy)
	for _, t := range at {
		a.At = append(a.At, t.UnixMilli())
	}
	for _, line := range all {
		a.Series = append(a.Series, columnsOf(line))
	}
	lines := c.looks.kept.Moves(span)
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		a.Moves = append(a.Moves, columnsOfMove(id, lines[id]))
	}
	return a
}

func columnsOfMove(id string, points []*series.Move) moveLine {
	l := moveLine{ID: id}
	for _, p := range points {
		if p == nil {
			l.add(nil, nil, nil, nil, nil, nil, nil)
			continue
		}
		l.add(&p.AtTarget, &p.Rows, &p.LagMs, counted(&p.BeforeP99Ms), counted(&p.SinceP99Ms), &p.BeforeFailed, &p.SinceFailed)
	}
	return l
}

// counted returns nil for a time without statements.
func counted(p99 *float32) *float32 {
	if *p99 == 0 {
		return nil
	}
	return p99
}

func (l *moveLine) add(at, rows *float32, lag *int32, before, since, beforeFailed, sinceFailed *float32) {
	l.AtTarget, l.Rows, l.LagMs = append(l.AtTarget, at), append(l.Rows, rows), append(l.LagMs, lag)
	l.BeforeP99Ms, l.SinceP99Ms = append(l.BeforeP99Ms, before), append(l.SinceP99Ms, since)
	l.BeforeFailed, l.SinceFailed = append(l.BeforeFailed, beforeFailed), append(l.SinceFailed, sinceFailed)
}

func columnsOf(line series.Line) seriesLine {
	s := seriesLine{Shard: line.Shard}
	for _, p := range line.Points {
		if p == nil {
			s.add(nil, nil, nil, nil, nil, nil, nil, nil)
			continue
		}
		s.add(&p.PerSecond, &p.Errors, &p.P50Ms, &p.P99Ms, &p.InUse, &p.Limit, &p.Waiting, &p.LagMs)
	}
	return s
}

func (s *seriesLine) add(rate, errs, p50, p99 *float32, inUse, limit, waiting, lag *int32) {
	s.PerSecond, s.Errors, s.P50Ms, s.P99Ms = append(s.PerSecond, rate), append(s.Errors, errs), append(s.P50Ms, p50), append(s.P99Ms, p99)
	s.InUse, s.Limit, s.Waiting, s.LagMs = append(s.InUse, inUse), append(s.Limit, limit), append(s.Waiting, waiting), append(s.LagMs, lag)
}

// marks returns the latest entries of all moves' journals within a span.
func marks(moves []watch.Seen, from, to time.Time) []historyMark {
	list := []historyMark{}
	for _, m := range moves {
		for _, e := range m.Job.Journal {
			if e.At.After(from) && !e.At.After(to) {
				list = append(list, historyMark{At: e.At.UnixMilli(), Move: m.Job.ID, Kind: string(events.Job), Subject: m.Job.ID, What: short(e.What)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b historyMark) int { return int(a.At - b.At) })
	return list[max(0, len(list)-mostMarks):]
}
