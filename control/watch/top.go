package watch

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/proxy/meter"
)

// Costs is the total cost of the statements of all proxies.
type Costs struct {
	meter.Report
	Proxies int
	Silent  []string
}

// Counted queries the proxies.
type Counted func(context.Context) (Costs, error)

// Order is the sort order of statements.
type Order string

// Sort orders.
const (
	ByLoad   Order = "load"
	ByRate   Order = "rate"
	ByP99    Order = "p99"
	ByErrors Order = "errors"
	ByRows   Order = "rows"
	ByTotal  Order = "total"
)

// Orders lists all sort orders.
var Orders = []Order{ByLoad, ByRate, ByP99, ByErrors, ByRows, ByTotal}

// Statement is a digest's figures between two queries. The totals are since its figures began.
type Statement struct {
	Digest    string  `json:"digest"`
	Text      string  `json:"statement"`
	Database  string  `json:"database,omitempty"`
	Kind      string  `json:"kind,omitempty"`
	PerSecond float64 `json:"per_second"`
	Load      float64 `json:"under_way"` // average number running at once
	Errors    float64 `json:"errors_per_second"`
	Rows      float64 `json:"rows_per_second"`
	P50Ms     float64 `json:"p50_ms"`
	P99Ms     float64 `json:"p99_ms"`
	Several   float64 `json:"on_several_shards"` // share of them
	Count     uint64  `json:"count"`
	TotalMs   float64 `json:"total_ms"`
	LastError uint32  `json:"last_error,omitempty"`
}

// Top is the activity of statements between two queries.
type Top struct {
	At         time.Time   `json:"at"`
	Proxies    int         `json:"proxies"`
	Silent     []string    `json:"silent,omitempty"`
	PerSecond  float64     `json:"statements_per_second"`
	Load       float64     `json:"under_way"`
	Errors     float64     `json:"errors_per_second"`
	P50Ms      float64     `json:"p50_ms"`
	P99Ms      float64     `json:"p99_ms"`
	Statements []Statement `json:"statements"`

	by Order // order of the statements
}

// Between computes the activity between two queries.
func Between(before, now Costs, by Order) Top {
	t := Top{At: now.At, Proxies: now.Proxies, Silent: now.Silent, Statements: []Statement{}, by: by}
	seconds := now.At.Sub(before.At).Seconds()
	earlier := map[[2]string]meter.Figures{}
	for _, f := range before.Digests {
		earlier[[2]string{f.Database, f.Hash}] = f
	}
	var times []meter.Times
	for _, f := range now.Digests {
		s, since := statement(f, earlier[[2]string{f.Database, f.Hash}], seconds)
		times = meter.AddTimes(times, since)
		t.add(s)
		t.Statements = append(t.Statements, s)
	}
	others, since := statement(now.Others, before.Others, seconds)
	times = meter.AddTimes(times, since)
	t.add(others)
	t.P50Ms, t.P99Ms = quantiles(times)
	t.sort(by)
	return t
}

func (t *Top) add(s Statement) {
	t.PerSecond += s.PerSecond
	t.Load += s.Load
	t.Errors += s.Errors
}

// statement computes a digest's figures since earlier ones. If these are zero, or the digest began again, it uses the
// digest's own rates.
func statement(f, before meter.Figures, seconds float64) (Statement, []meter.Times) {
	s := Statement{
		Digest: f.Hash, Text: f.Text, Database: f.Database, Kind: f.Kind, PerSecond: f.PerSecond, Load: f.Load,
		Count: f.Count, TotalMs: f.TotalMs, LastError: f.LastCode,
	}
	since, later := meter.SinceTimes(f.Times, before.Times)
	if !later || before.Count == 0 || seconds <= 0 {
		if f.Count > 0 {
			s.Several = float64(f.Several) / float64(f.Count)
		}
		s.P50Ms, s.P99Ms = quantiles(f.Times)
		return s, nil
	}
	n := f.Count - before.Count
	s.PerSecond = float64(n) / seconds
	s.Load = max(0, f.TotalMs-before.TotalMs) / 1000 / seconds
	s.Errors = float64(f.Failed-min(f.Failed, before.Failed)) / seconds
	s.Rows = float64(f.Rows-min(f.Rows, before.Rows)) / seconds
	if n > 0 {
		s.Several = float64(f.Several-min(f.Several, before.Several)) / float64(n)
	}
	s.P50Ms, s.P99Ms = quantiles(since)
	return s, since
}

func quantiles(times []meter.Times) (p50, p99 float64) {
	return meter.Quantile(times, 0.5).Seconds() * 1000, meter.Quantile(times, 0.99).Seconds() * 1000
}

func (t *Top) sort(by Order) {
	value := map[Order]func(Statement) float64{
		ByLoad: func(s Statement) float64 { return s.Load }, ByRate: func(s Statement) float64 { return s.PerSecond },
		ByP99: func(s Statement) float64 { return s.P99Ms }, ByErrors: func(s Statement) float64 { return s.Errors },
		ByRows: func(s Statement) float64 { return s.Rows }, ByTotal: func(s Statement) float64 { return s.TotalMs },
	}[by]
	slices.SortFunc(t.Statements, func(a, b Statement) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(b.TotalMs, a.TotalMs), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Database, b.Database))
	})
}

// figure is a column of numbers.
type figure struct {
	head string
	by   Order // the sort order that uses this column; empty: none does
	of   func(Statement) string
}

// figures are the columns, in the order in which they are drawn.
var figures = []figure{
	{"/S", ByRate, func(s Statement) string { return Rate(s.PerSecond) }},
	{"UNDER WAY", ByLoad, func(s Statement) string { return Rate(s.Load) }},
	{"P50 MS", "", func(s Statement) string { return Rate(s.P50Ms) }},
	{"P99 MS", ByP99, func(s Statement) string { return Rate(s.P99Ms) }},
	{"ERRORS/S", ByErrors, func(s Statement) string { return Rate(s.Errors) }},
	{"ROWS/S", ByRows, func(s Statement) string { return Rate(s.Rows) }},
	{"SEVERAL", "", func(s Statement) string {
		if s.Several > 0 {
			return Percent(100 * s.Several)
		}
		return ""
	}},
	{"TOTAL", ByTotal, func(s Statement) string { return Rounded(time.Duration(s.TotalMs * float64(time.Millisecond))) }},
}

// needed are the columns in the order in which a narrow terminal gets them, after the one that the statements are sorted by.
var needed = []string{"/S", "P99 MS", "UNDER WAY", "ERRORS/S", "P50 MS", "ROWS/S", "TOTAL", "SEVERAL"}

const gap = 2 // columns between two cells

// column is a figure of all statements that are shown.
type column struct {
	head  string
	cells []string
	width int
}

func columnsOf(shown []Statement) []column {
	columns := make([]column, len(figures))
	for i, f := range figures {
		c := column{head: f.head, width: len(f.head)}
		for _, s := range shown {
			cell := f.of(s)
			c.cells, c.width = append(c.cells, cell), max(c.width, len(cell))
		}
		columns[i] = c
	}
	return columns
}

// fitting returns the columns for which a terminal has room. The statement keeps half of the width.
func fitting(columns []column, by Order, width int) []column {
	room := width / 2
	kept := map[string]bool{}
	keep := func(head string) {
		c := columns[slices.IndexFunc(columns, func(c column) bool { return c.head == head })]
		if !kept[head] && c.width+gap <= room {
			kept[head] = true
			room -= c.width + gap
		}
	}
	for _, f := range figures {
		if f.by != "" && f.by == by {
			keep(f.head)
		}
	}
	for _, head := range needed {
		keep(head)
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return !kept[c.head] })
}

// Draw returns the first most statements, or all if most is 0. On a terminal the statement comes first, and as many figures follow as fit.
// Without a width the whole statement follows all figures.
func (t Top) Draw(c Canvas, most int) string {
	d := drawing{Canvas: c}
	d.line("%s", t.headline(d))
	if len(t.Silent) > 0 {
		d.line("%s", d.in(yellow, "not reported by "+strings.Join(t.Silent, ", ")))
	}
	d.line("")
	if len(t.Statements) == 0 {
		d.line("no statement was seen yet")
		return d.String()
	}
	shown := t.Statements
	if most > 0 {
		shown = shown[:min(most, len(shown))]
	}
	columns := columnsOf(shown)
	if c.Width > 0 {
		d.statementsFirst(shown, fitting(columns, t.by, c.Width))
		return d.String()
	}
	d.line("%s", d.in(faint, strings.TrimPrefix(cells(columns, -1), "  ")+"  STATEMENT"))
	for i, s := range shown {
		d.line("%s  %s", d.in(colourOf(s), strings.TrimPrefix(cells(columns, i), "  ")), s.line())
	}
	return d.String()
}

// statementsFirst draws the statements, cut to their column, before the columns.
func (d *drawing) statementsFirst(shown []Statement, columns []column) {
	left := d.Width
	for _, c := range columns {
		left -= c.width + gap
	}
	width := len("STATEMENT")
	for _, s := range shown {
		width = max(width, len([]rune(s.line())))
	}
	width = min(width, left)
	d.line("%s", d.in(faint, cell("STATEMENT", width)+cells(columns, -1)))
	for i, s := range shown {
		d.line("%s%s", cell(s.line(), width), d.in(colourOf(s), cells(columns, i)))
	}
}

// cell returns a text at a column's width: padded, or cut with an ellipsis.
func cell(text string, width int) string {
	runes := []rune(text)
	if len(runes) > width {
		return string(runes[:max(0, width-1)]) + "…"
	}
	return text + strings.Repeat(" ", width-len(runes))
}

// cells returns a line of figures, each after a gap; at -1 their heads.
func cells(columns []column, at int) string {
	var b strings.Builder
	for _, c := range columns {
		text := c.head
		if at >= 0 {
			text = c.cells[at]
		}
		fmt.Fprintf(&b, "%*s", gap+c.width, text)
	}
	return b.String()
}

func colourOf(s Statement) int {
	if s.Errors > 0 {
		return red
	}
	return plain
}

// line is the statement on one line, with its database.
func (s Statement) line() string {
	text := strings.Join(strings.Fields(s.Text), " ")
	if s.Database != "" {
		text = s.Database + ": " + text
	}
	return text
}

func (t Top) headline(d drawing) string {
	proxies := strconv.Itoa(t.Proxies) + " proxies"
	if t.Proxies == 1 {
		proxies = "1 proxy"
	}
	errors := fmt.Sprintf("%s errors/s", Rate(t.Errors))
	if t.Errors > 0 {
		errors = d.in(red, errors)
	}
	return fmt.Sprintf("%s  %s  %s  %s  p50 %s ms  p99 %s ms  %s under way", t.At.UTC().Format("15:04:05"), proxies,
		d.bold(Rate(t.PerSecond)+" statements/s"), errors, Rate(t.P50Ms), Rate(t.P99Ms), Rate(t.Load))
}

// Rate formats a number with a readable number of digits.
func Rate(f float64) string {
	switch {
	case f >= 1000:
		return Count(int64(f + 0.5))
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	case f == 0:
		return "0"
	}
	return fmt.Sprintf("%.2f", f)
}

// TopOnce queries twice, at the given interval.
func TopOnce(ctx context.Context, ask Counted, apart time.Duration, by Order) (Top, error) {
	before, err := ask(ctx)
	if err != nil {
		return Top{}, err
	}
	select {
	case <-time.After(apart):
	case <-ctx.Done():
		return Top{}, context.Cause(ctx)
	}
	now, err := ask(ctx)
	if err != nil {
		return Top{}, err
	}
	return Between(before, now, by), nil
}

// WriteTop writes the result of TopOnce for a terminal of a width; 0 is no terminal.
func WriteTop(w io.Writer, t Top, width, most int) error {
	_, err := io.WriteString(w, t.Draw(Canvas{Width: width}, most))
	return err
}
