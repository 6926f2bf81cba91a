package scatter

import (
	"errors"
	"fmt"
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/reply"
	"locus/router/plan"
)

// merger merges several answers into one.
type merger struct {
	answers []answer
	plan    *plan.Merge
	format  Format
	window  window
	offset  uint64 // the initial value of window.skip
	out     output
	first   byte // number of the first packet to the client

	// sequence contains the number of the answer that each row is taken from. Nil: the plan determines the order.
	sequence []int
	// send sends an answer's query before the answer is read. Nil: all queries were sent.
	send func(i int) error
	// head is called with the visible columns' definitions, and emit with the current row of an answer within the LIMIT.
	head func(definitions [][]byte)
	emit func(*answer) error

	budget  int      // number of bytes per answer that may be read beyond the needed ones
	columns []column // columns of every answer
	types   []byte   // types of columns
	visible int      // number of columns that the client gets; hidden ones follow

	sortKeys   []sortKey           // for Ordered
	queue      []int               // for Ordered: a heap of the answers that have a row
	zeroIsNull func(typ byte) bool // for Ordered
	rawTexts   bool                // see [Options]
}

// window is the remaining part of a LIMIT.
type window struct{ skip, left uint64 }

func newWindow(l plan.Window) window {
	if !l.Set {
		return window{left: 1<<64 - 1}
	}
	return window{l.Offset, l.Count}
}

func (w *window) over() bool { return w.left == 0 }

// admit counts a row and reports whether it is within the window.
func (w *window) admit() bool {
	if w.skip > 0 {
		w.skip--
		return false
	}
	w.left--
	return true
}

func newMerger(sources []source, m *plan.Merge, format Format, limit plan.Window, as Options) *merger {
	g := &merger{answers: make([]answer, len(sources)), plan: m, format: format, window: newWindow(limit)}
	g.offset = g.window.skip
	g.zeroIsNull, g.rawTexts = as.ZeroIsNull, as.RawTexts
	if g.zeroIsNull == nil {
		g.zeroIsNull = func(byte) bool { return false }
	}
	g.budget = drainBudget
	if as.Whole {
		g.budget = math.MaxInt
	}
	for i, s := range sources {
		g.answers[i] = answer{from: s, stream: s.Stream(), index: i, tell: as.Ended}
	}
	return g
}

func merge(sources []source, m *plan.Merge, format Format, limit plan.Window, to *reply.Client, as Options) (Outcome, error) {
	g := newMerger(sources, m, format, limit, as)
	g.out, g.first = newOutput(to, as), to.Seq
	g.head, g.emit = g.out.head, g.forward
	defer g.out.release()
	err := g.run(limit)
	if err == nil {
		err = g.out.finish(g.warnings())
	}
	return g.settle(err)
}

func hold(sources []source, sequence []int, format Format, to *reply.Client, as Options) (*Held, Outcome, error) {
	g := newMerger(sources, &plan.Merge{}, format, plan.Window{}, as)
	g.sequence, g.first = sequence, to.Seq
	g.out = newOutput(to, as)
	g.out.held = true
	g.head, g.emit = g.out.head, g.forward
	o, err := g.settle(g.run(plan.Window{}))
	if err != nil {
		g.out.release()
		return nil, o, err
	}
	return &Held{out: g.out, warnings: o.Warnings}, o, nil
}

func count(sources []source, m *plan.Merge, limit plan.Window, as Options, send func(i int) error) (taken []uint64, o Outcome, err error) {
	g := newMerger(sources, m, Text, limit, as)
	taken = make([]uint64, len(sources))
	g.send, g.head = send, func([][]byte) {}
	g.emit = func(a *answer) error {
		taken[a.index]++
		return nil
	}
	o, err = g.settle(g.run(limit))
	return taken, o, err
}

// run reads the answers. It does everything except for the end of the client's answer and the handling of its own error.
func (g *merger) run(limit plan.Window) error {
	if err := g.begin(); err != nil {
		return err
	}
	if err := g.agree(); err != nil {
		return err
	}
	if err := g.rows(limit); err != nil {
		return err
	}
	for i := range g.answers {
		if err := g.answers[i].drain(g.budget); isShards(err) {
			return err
		}
	}
	return nil
}

func (g *merger) rows(limit plan.Window) error {
	if g.sequence != nil {
		return g.inSequence()
	}
	switch g.plan.Kind {
	case plan.Concat:
		return g.concat()
	case plan.Ordered:
		return g.ordered()
	case plan.Aggregated:
		return g.aggregated(limit)
	}
	return refuse("rows of several shards can't be merged in way %d", g.plan.Kind)
}

// begin reads every answer whose query was sent up to its first row, even after an error. So errors can be sent before any row, and
// the other connections remain usable.
func (g *merger) begin() error {
	var first error
	for i := range g.answers {
		if g.send != nil {
			if first == nil {
				first = g.send(i)
			}
			if first != nil {
				g.answers[i].lost = true // there is no answer
				continue
			}
		}
		if err := g.beginOne(i); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// beginOne begins one answer. It copies the definitions of the first answer to the client.
func (g *merger) beginOne(i int) error {
	a := &g.answers[i]
	var definitions [][]byte
	err := a.head(func(payload []byte) {
		if i == 0 {
			definitions = append(definitions, append([]byte(nil), payload...))
		}
	})
	if err != nil {
		return err
	}
	if i == 0 {
		g.define(definitions)
	}
	return a.next()
}

func (g *merger) define(definitions [][]byte) {
	g.columns = g.answers[0].columns
	g.visible = max(0, len(g.columns)-g.plan.Hidden)
	for _, c := range g.columns {
		g.types = append(g.types, c.typ)
	}
	g.head(definitions[:g.visible])
}

// agree checks that all answers have the same columns.
func (g *merger) agree() error {
	if g.visible == 0 {
		return refuse("the shards' answers have no column beside the %d that were added", g.plan.Hidden)
	}
	for i := range g.answers[1:] {
		other := &g.answers[i+1]
		first, here := g.answers[0].from.Shard(), other.from.Shard()
		if len(other.columns) != len(g.columns) {
			return unlike("shard %s answers with %d columns and shard %s with %d: make the table alike on every shard",
				first, len(g.columns), here, len(other.columns))
		}
		for n, c := range other.columns {
			if c.typ != g.columns[n].typ || c.unsigned() != g.columns[n].unsigned() {
				return unlike("column %d of the answer is of another type on shard %s than on shard %s: make the table alike on every shard",
					n+1, here, first)
			}
		}
	}
	return nil
}

// concat sends the rows of the shards, one shard after another.
func (g *merger) concat() error {
	for i := range g.answers {
		for a := &g.answers[i]; !a.ended; {
			if g.window.over() {
				return nil
			}
			if err := g.pass(a); err != nil {
				return err
			}
			if err := a.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// inSequence takes the rows in the order of the sequence, until all answers have ended.
func (g *merger) inSequence() error {
	for n, i := range g.sequence {
		a := &g.answers[i]
		if a.ended {
			return fmt.Errorf("shard %s has returned too few rows, so that row %d of the statement is missing: nothing was changed", a.from.Shard(), n+1)
		}
		if err := g.emit(a); err != nil {
			return err
		}
		if err := a.next(); err != nil {
			return err
		}
	}
	for i := range g.answers {
		if a := &g.answers[i]; !a.ended {
			return fmt.Errorf("shard %s has returned more rows than it was sent: nothing was changed", a.from.Shard())
		}
	}
	return nil
}

// pass sends the current row of an answer unless the LIMIT excludes it.
func (g *merger) pass(a *answer) error {
	if !g.window.admit() {
		return nil
	}
	if g.plan.Hidden > 0 {
		if err := a.split(g.format, g.types, g.visible); err != nil {
			return err
		}
	}
	return g.emit(a)
}

// forward sends the client the current row of an answer without its hidden values.
func (g *merger) forward(a *answer) error {
	switch {
	case g.plan.Hidden == 0:
		return g.out.row(a.row)
	case g.format == Text:
		return g.out.row(a.row[:a.end])
	}
	return g.out.binaryRow(a.values[:g.visible], g.types)
}

// settle determines the outcome. A shard's error that comes after rows were sent is sent behind them.
func (g *merger) settle(err error) (Outcome, error) {
	_, gone := errors.AsType[*ClientError](err)
	if err != nil && !gone {
		for i := range g.answers {
			_ = g.answers[i].drain(g.budget) // the first error counts
		}
	}
	var o Outcome
	if e, ok := errors.AsType[*mysql.MyError](err); ok && g.out.sent {
		o.Err = e
		err = g.out.finishWith(e)
	}
	o.Sent, o.Warnings, o.NextSeq, o.Rows = g.out.sent, g.warnings(), g.out.seq, g.out.rows
	o.Found = o.Rows + g.skipped()
	if !o.Sent {
		o.NextSeq = g.first
	}
	for i := range g.answers {
		a := &g.answers[i]
		o.Clean = append(o.Clean, a.ended && !a.lost)
		o.Status = append(o.Status, a.status)
	}
	return o, err
}

func (g *merger) skipped() uint64 { return g.offset - g.window.skip }

func (g *merger) warnings() int {
	n := 0
	for i := range g.answers {
		n += int(g.answers[i].warnings)
	}
	return n
}

// isShards distinguishes a server's own error from a lost connection. A lost connection doesn't matter once all rows
// have arrived.
func isShards(err error) bool {
	_, ok := errors.AsType[*mysql.MyError](err)
	return ok
}

// unlike refuses answers that may agree once the shards' actual tables are known.
func unlike(format string, args ...any) error {
	return &plan.Refusal{Code: plan.ScatterShape, Message: fmt.Sprintf(format, args...), ColumnsDiffer: true}
}

func refuse(format string, args ...any) error {
	return &plan.Refusal{Code: plan.ScatterShape, Message: fmt.Sprintf(format, args...)}
}
