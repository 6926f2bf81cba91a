package applier

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/scale"
	"locus/migrate/changes"
	"locus/migrate/owned"
	"locus/migrate/table"
	"locus/router"
)

// The model of this file has one row on two servers with their logs, and a stream in each direction. Clients of the owner
// write, writers bypass the proxies on both servers, steps in both directions may be undone, and the mover may restart.
// TestOwnership tries all orders of these actions. The streams run the code that ships: owned.Ledger and decide.

// value is a row of the model; 0 means no row. Versions decrease with every write, as if every client used
// REPLACE.
type value int

func (v value) row() table.Row {
	if v == 0 {
		return nil
	}
	return table.Row{[]byte("1"), []byte("7"), fmt.Append(nil, 1000-int(v))}
}

// entry is one transaction of a log.
type entry struct {
	before, after value
	echo          bool // written by a stream
	client        bool // written by a client through a proxy
	// owner reports that the server owned the row, and doubtful that a step was open, so that both answers are right.
	owner, doubtful bool
}

// taken is an entry that a stream has judged and not written yet.
type taken struct {
	number  int
	verdict Verdict
}

// way is a stream.
type way struct {
	read    int // entries of the log that were read
	written int // entries that a restart does not read again
	queue   []taken
}

// stage is the progress of an open step.
type stage int

const (
	closed    stage = iota
	fenced          // clients are paused
	bounded         // the bound of the old owner's log is set, and everything before it has been written
	waiting         // changes in the new owner's log wait, and its position is not known yet
	ready           // the new owner's bound is set
	committed       // clients write at the new owner; the mover does not know the outcome
	undone          // clients write at the old owner; the mover does not know the outcome
)

// budget is the number of actions of each kind that may still happen.
type budget struct{ writes, strays, steps, undos, restarts int }

// judging lists the rules that a test disables.
type judging struct {
	noHistory bool // judge by the owner of now
	noWaiting bool // don't wait for the outcome of a step
	versions  bool // refuse changes of the owner with lower versions as well
}

type pairModel struct {
	left  budget
	last  value
	rows  [2]value
	logs  [2][]entry
	ways  [2]way // by the side whose log is read
	owner owned.Side

	stage    stage
	fencedAt int    // the length of the old owner's log at the fence
	bounds   [2]int // bounds of the open step; -1 if not known
	recorded []recordedStep
	known    int // number of recorded steps that the mover knows
	strayed  int
	kept     bool // something was recorded

	trace []string
	wrong string
}

type recordedStep struct {
	to owned.Side
	at [2]int
}

func (m *pairModel) clone() *pairModel {
	c := *m
	for side := range c.logs {
		c.logs[side] = m.logs[side][:len(m.logs[side]):len(m.logs[side])]
		q := m.ways[side].queue
		c.ways[side].queue = q[:len(q):len(q)]
	}
	c.recorded = m.recorded[:len(m.recorded):len(m.recorded)]
	c.trace = m.trace[:len(m.trace):len(m.trace)]
	return &c
}

func (m *pairModel) key() string {
	b := make([]byte, 0, 200)
	for _, n := range []int{
		m.left.writes, m.left.strays, m.left.steps, m.left.undos, m.left.restarts, int(m.rows[0]), int(m.rows[1]), int(m.owner), int(m.stage),
		m.bounds[0], m.bounds[1], m.fencedAt, m.known, len(m.recorded), m.strayed, int(bit(m.kept)),
	} {
		b = append(b, byte(n))
	}
	for _, r := range m.recorded {
		b = append(b, byte(r.to), byte(r.at[0]), byte(r.at[1]))
	}
	for side := range m.logs {
		w := &m.ways[side]
		b = append(b, 255, byte(w.read), byte(w.written))
		for _, q := range w.queue {
			b = append(b, byte(q.number), byte(q.verdict))
		}
		b = append(b, 254)
		for _, e := range m.logs[side][min(w.written, w.read):] {
			b = append(b, byte(e.before), byte(e.after), bit(e.echo)|bit(e.client)<<1|bit(e.owner)<<2|bit(e.doubtful)<<3)
		}
		b = append(b, byte(len(m.logs[side])))
	}
	return string(b)
}

func bit(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// The GTIDs of a log are numbers from 1. boundAt(n) is after the nth.
func boundAt(n int) changes.Bound {
	text := "mariadb|"
	if n > 0 {
		text += fmt.Sprintf("0-1-%d", n)
	}
	b, err := changes.ParseBound(text)
	if err != nil {
		panic(err)
	}
	return b
}

func transaction(n int) changes.Transaction {
	p, err := changes.Decode(fmt.Sprintf("mariadb|0-1-%d|1@0-1-%d|0-1-%d", n, n+1, n))
	if err != nil {
		panic(err)
	}
	t, err := p.Transaction()
	if err != nil {
		panic(err)
	}
	return t
}

const modelGene = gene.Gene(7)

var modelRows = router.Whole(gene.NewSet(gene.Range{First: modelGene, Last: modelGene}))

// ledger returns the ledger with the mover's knowledge.
func (m *pairModel) ledger(j judging) *owned.Ledger {
	var h owned.History
	target := false
	for _, s := range m.recorded[:m.known] {
		target = s.to == owned.Target
		if !j.noHistory {
			h.Steps = append(h.Steps, owned.Step{Rows: modelRows, To: s.to, At: owned.Bounds{boundAt(s.at[0]), boundAt(s.at[1])}})
		}
	}
	if target {
		h.Target = modelRows
	}
	l := new(owned.Ledger)
	l.Settle(map[string]owned.History{"leg": h}, true)
	if m.stage < bounded || j.noWaiting {
		return l
	}
	open := l.Open(modelRows)
	for side, at := range m.bounds {
		switch {
		case at >= 0:
			open.Bound("leg", owned.Side(side), boundAt(at))
		case m.stage >= waiting:
			open.Close("leg", owned.Side(side))
		}
	}
	return l
}

var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// action is something that can happen next. It reports whether it can.
type action struct {
	name string
	do   func(*pairModel, judging, *table.Table) bool
}

func actions() []action {
	all := []action{
		{"client writes", func(m *pairModel, _ judging, _ *table.Table) bool { return m.client(false) }},
		{"client deletes", func(m *pairModel, _ judging, _ *table.Table) bool { return m.client(true) }},
		{"fence", func(m *pairModel, _ judging, _ *table.Table) bool { return m.fence() }},
		{"step goes on", func(m *pairModel, _ judging, _ *table.Table) bool { return m.stepOn() }},
		{"undo", func(m *pairModel, _ judging, _ *table.Table) bool { return m.undo() }},
		{"settle", func(m *pairModel, _ judging, _ *table.Table) bool { return m.settle() }},
		{"restart", func(m *pairModel, _ judging, _ *table.Table) bool { return m.restart() }},
	}
	for side, name := range []string{"source", "target"} {
		all = append(all,
			action{"stray at the " + name, func(m *pairModel, _ judging, _ *table.Table) bool { return m.stray(side, false) }},
			action{"stray deletes at the " + name, func(m *pairModel, _ judging, _ *table.Table) bool { return m.stray(side, true) }},
			action{"the stream reads the " + name, func(m *pairModel, j judging, _ *table.Table) bool { return m.take(side, j) }},
			action{"the stream from the " + name + " writes", func(m *pairModel, j judging, t *table.Table) bool { return m.apply(side, j, t) }},
		)
	}
	return all
}

func (m *pairModel) write(side int, gone, client bool) bool {
	e := entry{before: m.rows[side], client: client, owner: m.owner == owned.Side(side), doubtful: m.stage != closed}
	if !gone {
		m.last++
		e.after = m.last
	}
	if e.before == e.after {
		return false
	}
	m.rows[side] = e.after
	m.logs[side] = append(m.logs[side], e)
	return true
}

func (m *pairModel) client(gone bool) bool {
	if m.left.writes == 0 || m.stage >= fenced && m.stage < committed {
		return false
	}
	m.left.writes--
	return m.write(int(m.owner), gone, true)
}

func (m *pairModel) stray(side int, gone bool) bool {
	if m.left.strays == 0 {
		return false
	}
	m.left.strays--
	m.strayed++
	return m.write(side, gone, false)
}

func (m *pairModel) fence() bool {
	if m.stage != closed || m.left.steps == 0 {
		return false
	}
	m.left.steps--
	m.stage, m.bounds, m.fencedAt = fenced, [2]int{-1, -1}, len(m.logs[m.owner])
	return true
}

// stepOn executes the next line of a step.
func (m *pairModel) stepOn() bool {
	old := m.owner
	switch m.stage {
	case fenced: // everything that was written before the fence is applied, and the stream is between two transactions
		w := m.ways[old]
		if w.read < m.fencedAt || len(w.queue) > 0 {
			return false
		}
		m.bounds[old] = w.read
	case bounded:
	case waiting:
		m.bounds[old.Other()] = len(m.logs[old.Other()])
	case ready:
		m.recorded = append(m.recorded, recordedStep{old.Other(), m.bounds})
		m.owner = old.Other()
	default:
		return false
	}
	m.stage++
	return true
}

func (m *pairModel) undo() bool {
	if m.stage < fenced || m.stage > ready || m.left.undos == 0 {
		return false
	}
	m.left.undos--
	m.stage = undone
	return true
}

func (m *pairModel) settle() bool {
	if m.stage < committed {
		return false
	}
	m.stage, m.known = closed, len(m.recorded)
	return true
}

// restart starts the mover again with its recorded state. An open step is undone unless it was committed.
func (m *pairModel) restart() bool {
	if m.left.restarts == 0 {
		return false
	}
	m.left.restarts--
	for side := range m.ways {
		w := &m.ways[side]
		w.read, w.queue = w.written, nil
	}
	m.stage, m.known = closed, len(m.recorded)
	return true
}

// take reads the next entry of a log, unless its owner is not known yet.
func (m *pairModel) take(side int, j judging) bool {
	w := &m.ways[side]
	if w.read == len(m.logs[side]) {
		return false
	}
	e := m.logs[side][w.read]
	owns, err := m.ledger(j).Owned(ended, "leg", owned.Side(side), transaction(w.read), modelGene, 0)
	if err != nil {
		return false
	}
	switch {
	case e.client && !owns:
		m.wrong = fmt.Sprintf("the change %d of the owner is judged as a stray", w.read)
	case !e.doubtful && owns != e.owner:
		m.wrong = fmt.Sprintf("the change %d is the owner's: %v, and is judged %v", w.read, e.owner, owns)
	}
	verdict := IfUnchanged
	if owns {
		verdict = Apply
	}
	w.queue = append(w.queue, taken{w.read, verdict})
	w.read++
	return true
}

// skipEchoes reads the entries that a stream drops, since their order with other actions does not matter.
func (m *pairModel) skipEchoes() {
	for side := range m.ways {
		w := &m.ways[side]
		for w.read < len(m.logs[side]) && m.logs[side][w.read].echo {
			w.read++
		}
	}
}

// apply writes the change that was read.
func (m *pairModel) apply(side int, j judging, t *table.Table) bool {
	w := &m.ways[side]
	if len(w.queue) == 0 {
		return false
	}
	next := w.queue[0]
	w.queue = w.queue[1:]
	w.written = next.number + 1
	e, at := m.logs[side][next.number], 1-side
	changed := changes.Change{Table: t, Before: e.before.row(), After: e.after.row()}
	o := ops(changed)[0]
	o.verdict, o.copied = next.verdict, true
	if j.versions && next.verdict == Apply && m.rows[at] > 0 && e.after > m.rows[at] {
		return true // refused: the version is lower
	}
	has := map[lookup]standing{}
	if row := m.rows[at].row(); row != nil {
		version, _ := t.VersionOf(row)
		has[lookup{t, o.id}] = standing{row: row, version: version}
	}
	outcomes, kept := decide([]op{o}, has)
	m.kept = m.kept || len(kept.refused)+len(kept.overwritten) > 0
	was, final := m.rows[at], m.rows[at]
	if outcomes[0].written {
		final = e.after
	}
	switch {
	case final != was && was != e.before && m.owner == owned.Side(at):
		m.wrong = fmt.Sprintf("the owner's row %d is replaced by %d, whose writer saw %d", was, final, e.before)
	case was != e.before && was != e.after && len(kept.refused)+len(kept.overwritten) == 0:
		m.wrong = fmt.Sprintf("row %d or %d is lost and not recorded", was, e.after)
	}
	if final != was {
		m.rows[at] = final
		m.logs[at] = append(m.logs[at], entry{before: was, after: final, echo: true})
	}
	return true
}

// end reports rows that differ after both streams have written everything. With a version column they may
// differ: a stray write with a lower version is refused and recorded, and stays on its server until it is
// repaired.
func (m *pairModel) end(t *table.Table) string {
	quiet := m.stage == closed
	for side, w := range m.ways {
		quiet = quiet && w.read == len(m.logs[side]) && len(w.queue) == 0
	}
	if quiet && t.Version < 0 && !(m.strayed > 1 && m.kept) && m.rows[0] != m.rows[1] {
		return fmt.Sprintf("the rows end as %v", m.rows)
	}
	return ""
}

func explorePair(m *pairModel, j judging, t *table.Table, all []action, seen map[string]bool) string {
	key := m.key()
	if seen[key] {
		return ""
	}
	seen[key] = true
	wrong := m.wrong
	if wrong == "" {
		wrong = m.end(t)
	}
	if wrong != "" {
		return fmt.Sprintf("%s, after %s", wrong, strings.Join(m.trace, ", "))
	}
	for _, a := range all {
		next := m.clone()
		if !a.do(next, j, t) {
			continue
		}
		next.skipEchoes()
		next.trace = append(next.trace, a.name)
		if wrong := explorePair(next, j, t, all, seen); wrong != "" {
			return wrong
		}
	}
	return ""
}

func ownershipOf(t *testing.T, version string, j judging, of budget) (states int, wrong string) {
	m := &pairModel{left: of, last: 1, rows: [2]value{1, 1}}
	seen := map[string]bool{}
	wrong = explorePair(m, j, tableOf(t, version), actions(), seen)
	return len(seen), wrong
}

// In every order of clients, stray writes, streams, steps and restarts, no write of an owner is lost or
// attributed to another, and both servers end with the same rows.
func TestOwnership(t *testing.T) {
	budgets := []budget{
		{writes: 2, strays: 1, steps: 1},
		{writes: 1, strays: 1, steps: 1, restarts: 1},
		{writes: 1, strays: 1, steps: 1, undos: 1},
		{writes: 1, strays: 2, steps: 1},
		{writes: 2, strays: 1, steps: 2},
	}
	for _, of := range budgets[:scale.Quick(3, len(budgets))] {
		for _, version := range []string{"", "version"} {
			states, wrong := ownershipOf(t, version, judging{}, of)
			if wrong != "" {
				t.Errorf("%+v: %s", of, wrong)
			}
			t.Logf("%+v: %d states", of, states)
		}
	}
}

// Each part of the rule is needed.
func TestOwnershipNeedsEachPart(t *testing.T) {
	for name, j := range map[string]judging{
		"the positions of the steps":      {noHistory: true},
		"waiting for a step's outcome":    {noWaiting: true},
		"no versions for the owner's row": {versions: true},
	} {
		_, wrong := ownershipOf(t, "", j, budget{writes: 2, strays: 1, steps: 1})
		if wrong == "" {
			t.Errorf("without %s nothing goes wrong", name)
		}
		t.Logf("without %s: %s", name, wrong)
	}
}

// A row's version decreases, so that a rule of versions refuses every later write.
func TestVersionsOfTheModel(t *testing.T) {
	if !bytes.Equal(value(2).row()[2], []byte("998")) {
		t.Error(value(2).row())
	}
}
