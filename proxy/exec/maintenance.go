package exec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// maintenance is a running ANALYZE TABLE or a similar statement on tables that are on every shard.
type maintenance struct {
	x       *Execution
	leases  []txn.Lease
	answers []*backend.Rows
}

// maintain runs the statement on all shards at once, and makes one answer of theirs. Within a transaction, CHECKSUM TABLE also
// counts the rows that the transaction has written. It begins no transaction.
func (x *Execution) maintain() (columns []wire.Column, rows [][][]byte, err error) {
	m := &maintenance{x: x}
	if m.leases, err = x.acquire(sameParts(x.Snapshot.Catalog.Shards, nil), txn.Outside); err != nil {
		return nil, nil, err
	}
	if err := m.ask(); err != nil {
		return nil, nil, err
	}
	if x.Facts.Statement.Verb == "CHECKSUM" {
		rows, err = m.checksums()
	} else {
		rows = m.findings()
	}
	return m.answers[0].Columns, rows, err
}

// ask sends the statement to all shards and reads the answers. The error is that of the first shard that fails.
func (m *maintenance) ask() error {
	m.answers = make([]*backend.Rows, len(m.leases))
	errs := make([]error, len(m.leases))
	var running sync.WaitGroup
	for i, l := range m.leases {
		m.x.Observer.Sent(l)
		l.Conn.Note(txn.Effects(m.x.Facts))
		running.Go(func() { m.answers[i], errs[i] = l.Conn.Own().Query(m.x.Context, string(m.x.Values.Text)) })
	}
	running.Wait()
	var failure error
	for i, l := range m.leases {
		m.x.Observer.Trace().Answered(string(l.Shard), 0, txn.CodeOf(errs[i]))
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
		return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "a shard answered %s TABLE without rows", m.x.Facts.Statement.Verb)
	}
	return failure
}

// findings returns the shards' rows about each table, in the order of the tables. A row that all shards return is returned once.
// Each other row names its shard.
func (m *maintenance) findings() (rows [][][]byte) {
	for _, table := range m.tables() {
		counts := map[string]int{}
		for _, a := range m.answers {
			for _, key := range slices.Compact(slices.Sorted(keysOf(a, table))) {
				counts[key]++
			}
		}
		returned := map[string]bool{}
		for i, a := range m.answers {
			for _, row := range a.Rows {
				switch key := keyOfRow(row); {
				case string(row[0]) != table || returned[key]:
				case counts[key] == len(m.answers):
					returned[key] = true
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

// tables returns the tables about which a shard has returned a row.
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

// checksums returns the answer to CHECKSUM TABLE. A server adds up the checksums of a table's rows, so those of a sharded table are
// added up over the shards. The copies of a global table must have equal checksums.
func (m *maintenance) checksums() ([][][]byte, error) {
	rows := slices.Clone(m.answers[0].Rows)
	for i := range rows {
		sum, err := m.checksum(i)
		if err != nil {
			return nil, err
		}
		rows[i] = [][]byte{rows[i][0], sum}
	}
	return rows, nil
}

// checksum returns the checksum of the table of the i-th row; nil is NULL.
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
			return nil, wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "the copies of global table %s differ: its checksum is %d on %s and %d on %s: see locus verify",
				a.Rows[i][0], sum, m.leases[0].Shard, n, m.leases[k].Shard)
		default:
			sum = uint32(n)
		}
	}
	return strconv.AppendUint(nil, uint64(sum), 10), nil
}

func (m *maintenance) global(i int) bool {
	t, err := m.x.Snapshot.Catalog.Find(m.x.FullName(m.x.Facts.Statement.Tables[i]))
	return err == nil && t != nil && t.Kind == catalog.Global
}

// runMaintenance runs ANALYZE TABLE and similar statements on tables that are on every shard.
func (x *Execution) runMaintenance(p *plan.Maintenance) error {
	st := x.Facts.Statement
	if p.Stays && !x.Snapshot.Map.Moving().Empty() {
		return plan.DisturbsMove(st.Verb + " TABLE of a sharded or global table")
	}
	if st.Effects&stmt.Commits != 0 {
		if err := x.Conns.Commit(); err != nil {
			return err
		}
	}
	columns, rows, err := x.maintain()
	if err != nil {
		return err
	}
	return x.writeRows(columns, rows)
}
