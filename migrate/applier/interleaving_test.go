package applier

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/scale"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

// fakeServer answers information_schema for the table (id, owner, version).
type fakeServer struct{}

func (fakeServer) Version() link.Version { return link.Version{Flavor: link.MariaDB, Number: 101106} }

func (fakeServer) Query(_ context.Context, sql string) ([][][]byte, error) {
	row := func(values ...string) [][]byte {
		var r [][]byte
		for _, v := range values {
			if v == "NULL" {
				r = append(r, nil)
			} else {
				r = append(r, []byte(v))
			}
		}
		return r
	}
	column := func(name, typ string) [][]byte {
		return row(name, typ, typ, "NO", "NULL", "NULL", "", "", "", "", "NULL")
	}
	switch {
	case strings.Contains(sql, "information_schema.COLUMNS"):
		return [][][]byte{column("id", "bigint"), column("owner", "bigint"), column("version", "bigint")}, nil
	case strings.Contains(sql, "information_schema.STATISTICS"):
		return [][][]byte{row("PRIMARY", "id", "NULL", "1")}, nil
	}
	return [][][]byte{row("3", "100")}, nil
}

func tableOf(t testing.TB, version string) *table.Table {
	t.Helper()
	tab, err := table.Read(t.Context(), fakeServer{}, catalog.TableName{Schema: "shop", Name: "orders"}, catalog.Declaration{
		Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}, Version: version,
	}, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// rules are the conditions for writing a chunk's rows. A test disables one of them.
type rules struct {
	shown   func(shown, opened int) bool
	reached func(stream, mark int) bool
	deleted func(o *Opening, rows []table.Row) []table.Row
	present func(t *table.Table, rows []table.Row, has map[string]struct{}) []table.Row
}

var allRules = rules{
	shown:   func(shown, opened int) bool { return shown >= opened },
	reached: func(stream, mark int) bool { return stream >= mark },
	deleted: (*Opening).surviving,
	present: missing,
}

// model is one state: a source with three rows, its log, the stream, a worker, and a copier that reads all rows
// as one chunk.
type model struct {
	table  *table.Table
	rules  rules
	script []write // of the application
	log    []changes.Change
	source map[string]table.Row // as logged
	shows  map[string]table.Row // the rows that queries at the source return
	target map[string]table.Row

	written, shown, taken, applied int // positions in the script, in the log, in the log, and in the worker's queue
	queue                          []work

	copier  int // its next step
	opening *Opening
	opened  int // the length of the log that was read at the opening
	rows    []table.Row
	mark    int
	landed  bool
	trace   []string
}

// write is a statement of the application: key n gets a new version, or goes.
type write struct {
	key    int
	delete bool
}

// work is one transaction for the worker.
type work struct {
	op    *op
	chunk []table.Row
}

func key(n int) string { return fmt.Sprint(n) }

func (m *model) clone() *model {
	c := *m
	c.source, c.shows, c.target = maps.Clone(m.source), maps.Clone(m.shows), maps.Clone(m.target)
	c.log, c.queue, c.trace = m.log[:len(m.log):len(m.log)], m.queue[:len(m.queue):len(m.queue)], m.trace[:len(m.trace):len(m.trace)]
	if m.opening != nil {
		o := *m.opening
		o.deleted = maps.Clone(o.deleted)
		c.opening = &o
	}
	return &c
}

// steps lists the possible actions. Each changes the model, or returns false.
var steps = []struct {
	name string
	do   func(*model) bool
}{
	{"write", (*model).stepWrite},
	{"show", (*model).stepShow},
	{"take", (*model).stepTake},
	{"apply", (*model).stepApply},
	{"copy", (*model).stepCopy},
}

func (m *model) stepWrite() bool {
	if m.written == len(m.script) {
		return false
	}
	w := m.script[m.written]
	if m.locked(w.key) {
		return false
	}
	m.written++
	before := m.source[key(w.key)]
	change := changes.Change{Table: m.table, Before: before}
	switch {
	case w.delete && before == nil:
		return true
	case w.delete:
		delete(m.source, key(w.key))
	default:
		change.After = table.Row{[]byte(key(w.key)), []byte("7"), []byte(fmt.Sprint(m.written + 100))}
		m.source[key(w.key)] = change.After
	}
	m.log = append(m.log, change)
	return true
}

// locked reports whether a logged change of a key is not shown yet. Its transaction holds the row's lock.
func (m *model) locked(n int) bool {
	for _, c := range m.log[m.shown:] {
		if keyOf(c) == key(n) {
			return true
		}
	}
	return false
}

func keyOf(c changes.Change) string {
	if c.After != nil {
		return string(c.After[0])
	}
	return string(c.Before[0])
}

// stepShow commits the next change of the log.
func (m *model) stepShow() bool {
	if m.shown == len(m.log) {
		return false
	}
	if c := m.log[m.shown]; c.After == nil {
		delete(m.shows, keyOf(c))
	} else {
		m.shows[keyOf(c)] = c.After
	}
	m.shown++
	return true
}

// stepTake is a step of the dispatcher: it puts one change into the worker's queue.
func (m *model) stepTake() bool {
	if m.taken == len(m.log) {
		return false
	}
	for _, o := range ops(m.log[m.taken]) {
		if o.after == nil && m.opening != nil {
			m.opening.sawDelete(m.table, 0, o.id)
		}
		m.queue = append(m.queue, work{op: &o})
	}
	m.taken++
	return true
}

func (m *model) stepApply() bool {
	if len(m.queue) == 0 {
		return false
	}
	w := m.queue[0]
	m.queue = m.queue[1:]
	if w.op != nil {
		outcomes, _ := decide([]op{*w.op}, nil)
		for _, o := range outcomes {
			delete(m.target, string(o.key[0]))
			if o.final != nil {
				m.target[string(o.key[0])] = o.final
			}
		}
		m.applied++
		return true
	}
	has := map[string]struct{}{}
	for _, r := range m.target {
		has[string(m.table.KeyOf(r).Encode())] = struct{}{}
	}
	for _, r := range m.rules.present(m.table, w.chunk, has) {
		m.target[string(r[0])] = r
	}
	m.landed = true
	return true
}

// stepCopy is a step of the copier. It opens the chunk, reads it once the source shows enough, marks the end,
// and lands it once the stream has reached that.
func (m *model) stepCopy() bool {
	switch m.copier {
	case 0:
		m.opening, m.opened = newOpening(table.Lane{Table: m.table}), m.taken
	case 1:
		if !m.rules.shown(m.shown, m.opened) {
			return false
		}
		for n := 1; n <= 3; n++ {
			if r := m.shows[key(n)]; r != nil {
				m.rows = append(m.rows, r)
			}
		}
	case 2:
		m.mark = len(m.log)
	case 3:
		if !m.rules.reached(m.taken, m.mark) {
			return false
		}
		m.queue = append(m.queue, work{chunk: m.rules.deleted(m.opening, m.rows)})
		m.opening = nil
	default:
		return false
	}
	m.copier++
	return true
}

// wrong checks the invariants of a state. A row at the target equals the source's row at the position that the
// worker has reached. After the chunk has landed, no row is missing.
func (m *model) wrong(initial map[string]table.Row) string {
	then := maps.Clone(initial)
	for _, c := range m.log[:m.applied] {
		if c.After == nil {
			delete(then, string(c.Before[0]))
		} else {
			then[string(c.After[0])] = c.After
		}
	}
	for n := 1; n <= 3; n++ {
		want, got := then[key(n)], m.target[key(n)]
		switch {
		case got != nil && !m.table.Same(got, want):
			return fmt.Sprintf("key %d is %s and the source had %s", n, got, want)
		case m.landed && got == nil && want != nil:
			return fmt.Sprintf("key %d is missing", n)
		}
	}
	return ""
}

func (m *model) state() string {
	s := fmt.Sprint(m.written, m.shown, m.taken, m.applied, m.copier, m.opened, m.mark, m.landed, len(m.log), "|")
	for n := 1; n <= 3; n++ {
		s += fmt.Sprintf("%s/%s/%s;", m.source[key(n)], m.shows[key(n)], m.target[key(n)])
	}
	for _, r := range m.rows {
		s += fmt.Sprintf("%s,", r)
	}
	if m.opening != nil {
		s += fmt.Sprint(len(m.opening.deleted))
		for n := 1; n <= 3; n++ {
			if !m.opening.survives(string(table.Key{[]byte(key(n))}.Encode())) {
				s += key(n)
			}
		}
	}
	for _, w := range m.queue {
		s += fmt.Sprintf("|%v%s", w.op != nil, w.chunk)
	}
	return s
}

// explore visits all orders of actions from a state, and returns the first that violates an invariant.
func explore(m *model, initial map[string]table.Row, seen map[string]bool) string {
	if id := m.state(); seen[id] {
		return ""
	} else {
		seen[id] = true
	}
	if wrong := m.wrong(initial); wrong != "" {
		return fmt.Sprintf("%s, after %v of %v", wrong, m.trace, m.script)
	}
	moved := false
	for _, s := range steps {
		next := m.clone()
		if !s.do(next) {
			continue
		}
		moved = true
		next.trace = append(next.trace, s.name)
		if wrong := explore(next, initial, seen); wrong != "" {
			return wrong
		}
	}
	if !moved && !m.landed {
		return fmt.Sprintf("the chunk never lands, after %v of %v", m.trace, m.script)
	}
	return ""
}

// scripts returns all sequences of writes of a length.
func scripts(length int) [][]write {
	if length == 0 {
		return [][]write{nil}
	}
	var all [][]write
	for _, rest := range scripts(length - 1) {
		for n := 1; n <= 3; n++ {
			all = append(all, append(rest[:len(rest):len(rest)], write{n, false}), append(rest[:len(rest):len(rest)], write{n, true}))
		}
	}
	return all
}

// mirrored reports whether a script writes the second row before the first. The script with the two exchanged has the same orders.
func mirrored(script []write) bool {
	for _, w := range script {
		if w.key < 3 {
			return w.key == 2
		}
	}
	return false
}

// exploreAll goes through all orders of all scripts, except for mirrored ones.
func exploreAll(t *testing.T, r rules, length int) (states int, wrong string) {
	tab := tableOf(t, "")
	for _, script := range scripts(length) {
		if mirrored(script) {
			continue
		}
		initial := map[string]table.Row{}
		for n := 1; n <= 2; n++ { // the third row is new, if anything
			initial[key(n)] = table.Row{[]byte(key(n)), []byte("7"), []byte("1")}
		}
		m := &model{table: tab, rules: r, script: script, source: maps.Clone(initial), shows: maps.Clone(initial), target: map[string]table.Row{}}
		seen := map[string]bool{}
		if wrong := explore(m, initial, seen); wrong != "" {
			return states, wrong
		}
		states += len(seen)
	}
	return states, ""
}

// In every order of copier, stream, worker and application, no deleted row comes back, no older row replaces a
// newer one, and no row is missing.
func TestInterleavings(t *testing.T) {
	states, wrong := exploreAll(t, allRules, scale.Quick(2, 3))
	if wrong != "" {
		t.Fatal(wrong)
	}
	t.Logf("%d states", states)
	if states < scale.Quick(1_000, 10_000) {
		t.Errorf("only %d states were reached", states)
	}
}

// Each rule is needed: without it, some order loses something.
func TestEachRuleIsNeeded(t *testing.T) {
	for name, without := range map[string]func(*rules){
		"the source shows what the stream has brought": func(r *rules) { r.shown = func(int, int) bool { return true } },
		"the stream has come to the mark":              func(r *rules) { r.reached = func(int, int) bool { return true } },
		"deleted since the opening":                    func(r *rules) { r.deleted = func(_ *Opening, rows []table.Row) []table.Row { return rows } },
		"present at the target": func(r *rules) {
			r.present = func(_ *table.Table, rows []table.Row, _ map[string]struct{}) []table.Row { return rows }
		},
	} {
		r := allRules
		without(&r)
		if _, wrong := exploreAll(t, r, 2); wrong == "" {
			t.Errorf("without the rule %q nothing goes wrong", name)
		} else {
			t.Logf("without the rule %q: %s", name, wrong)
		}
	}
}
