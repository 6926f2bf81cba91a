package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// maintenance is ANALYZE TABLE or one of its kin under way, of tables that are on every
// shard.
type maintenance struct {
	*Session
	r       *request
	leases  []txn.Lease
	answers []*backend.Rows
}

// runMaintenance has every shard do it at once, and makes one answer of theirs.
func (s *Session) runMaintenance(asked *request, p *plan.Maintenance) error {
	r := new(request) // the one asked for stays off the heap
	*r = *asked
	verb := r.facts.Statement.Verb
	if p.Stays && !r.snapshot.Map.Moving().Empty() {
		return moving(verb + " TABLE of a sharded or global table")
	}
	if r.facts.Statement.Effects&stmt.Commits != 0 {
		if err := s.conns.Commit(); err != nil {
			return err
		}
	}
	m := &maintenance{Session: s, r: r}
	if err := m.lend(); err != nil {
		return err
	}
	if err := m.ask(); err != nil {
		return err
	}
	if verb == "CHECKSUM" {
		return m.checksums()
	}
	return s.writeRows(m.answers[0].Columns, m.findings())
}

// lend takes a connection to every shard. CHECKSUM TABLE within a transaction counts what
// that has written, and begins none.
func (m *maintenance) lend() error {
	for _, shard := range m.r.snapshot.Catalog.Shards {
		l, err := m.conns.Acquire(shard, txn.Outside)
		if err != nil {
			for _, idle := range m.leases {
				idle.Release()
			}
			return err
		}
		m.leases = append(m.leases, l)
	}
	return nil
}

// ask has all shards answer. The error is the first one's.
func (m *maintenance) ask() error {
	m.answers = make([]*backend.Rows, len(m.leases))
	errs := make([]error, len(m.leases))
	var asking sync.WaitGroup
	for i, l := range m.leases {
		m.sentTo(l)
		l.Conn.Note(left(m.r.facts))
		asking.Go(func() { m.answers[i], errs[i] = l.Conn.Own().Query(m.ctx, string(m.r.values.Text)) })
	}
	asking.Wait()
	var failure error
	for i, l := range m.leases {
		m.timing.trace.Answered(string(l.Shard), 0, exec.CodeOf(errs[i]))
		if errs[i] == nil {
			l.Done(l.Conn.Status())
			continue
		}
		l.Fail(errs[i])
		if failure == nil {
			failure = errs[i]
		}
	}
	if failure == nil && len(m.answers[0].Columns) == 0 {
		return fail(mysql.ER_UNKNOWN_ERROR, stateGeneral, "a shard answered %s TABLE without rows", m.r.facts.Statement.Verb)
	}
	return failure
}

// findings are what the shards say of each table, in the order of the tables. What all say
// is said once; of the rest each row names its shard.
func (m *maintenance) findings() (rows [][][]byte) {
	for _, table := range m.tables() {
		said := map[string]int{}
		for _, a := range m.answers {
			for _, key := range slices.Compact(slices.Sorted(keysOf(a, table))) {
				said[key]++
			}
		}
		told := map[string]bool{}
		for i, a := range m.answers {
			for _, row := range a.Rows {
				switch key := keyOfRow(row); {
				case string(row[0]) != table || told[key]:
				case said[key] == len(m.answers):
					told[key] = true
					rows = append(rows, row)
				default:
					named := slices.Clone(row)
					last := len(named) - 1
					named[last] = fmt.Appendf(nil, "shard %s: %s", m.leases[i].Shard, row[last])
					rows = append(rows, named)
				}
			}
		}
	}
	return rows
}

// tables are those that some shard has told of.
func (m *maintenance) tables() (names []string) {
	for _, a := range m.answers {
		for _, row := range a.Rows {
			if name := string(row[0]); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func keysOf(a *backend.Rows, table string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, row := range a.Rows {
			if string(row[0]) == table && !yield(keyOfRow(row)) {
				return
			}
		}
	}
}

func keyOfRow(row [][]byte) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteString(strconv.Quote(string(v)))
	}
	return b.String()
}

// checksums answers CHECKSUM TABLE. A server adds up those of a table's rows, so of a sharded
// table the shards' are added up; the copies of a global one must have the same.
func (m *maintenance) checksums() error {
	rows := slices.Clone(m.answers[0].Rows)
	for i := range rows {
		sum, err := m.checksum(i)
		if err != nil {
			return err
		}
		rows[i] = [][]byte{rows[i][0], sum}
	}
	return m.writeRows(m.answers[0].Columns, rows)
}

// checksum is that of the table of the i-th row; nil is NULL.
func (m *maintenance) checksum(i int) ([]byte, error) {
	sum, global := uint32(0), m.global(i)
	for k, a := range m.answers {
		if i >= len(a.Rows) || a.Rows[i][1] == nil {
			return nil, nil
		}
		n, err := strconv.ParseUint(string(a.Rows[i][1]), 10, 32)
		if err != nil {
			return nil, err
		}
		switch {
		case !global:
			sum += uint32(n)
		case k > 0 && uint32(n) != sum:
			return nil, fail(mysql.ER_UNKNOWN_ERROR, stateGeneral, "the copies of global table %s differ: its checksum is %d on %s and %d on %s: see locus verify",
				a.Rows[i][0], sum, m.leases[0].Shard, n, m.leases[k].Shard)
		default:
			sum = uint32(n)
		}
	}
	return strconv.AppendUint(nil, uint64(sum), 10), nil
}

func (m *maintenance) global(i int) bool {
	t, err := m.r.snapshot.Catalog.Find(m.fullName(m.r, m.r.facts.Statement.Tables[i]))
	return err == nil && t != nil && t.Kind == catalog.Global
}
