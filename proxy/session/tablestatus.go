package session

import (
	"bytes"
	"slices"
	"strconv"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
)

// runTableStatus answers SHOW TABLE STATUS of a schema with sharded tables: their sizes are sums over all shards. While a shard
// is down they are unknown.
func (s *Session) runTableStatus(r *exec.Work, p *plan.OneShard) error {
	text, err := s.withValues(r, p.Added...)
	if err != nil {
		return err
	}
	shown, from, err := s.shownBy(r, p, text)
	if err != nil {
		return err
	}
	t := newTableStatus(shown)
	schema := r.Facts.Statement.Schema
	if schema == "" {
		schema = s.env.Schema(r)
	}
	t.keep(func(name string) bool {
		table, err := r.Snapshot.Catalog.Find(catalog.TableName{Schema: schema, Name: name})
		return err == nil && table != nil && table.Kind == catalog.Sharded
	})
	var warnings uint16
	at := s.env.Request(r)
	at.Elsewhere = txn.Elsewhere
	for _, shard := range r.Snapshot.Catalog.Shards {
		if shard == from || len(t.sharded) == 0 {
			continue
		}
		rows, err := at.Ask(shard, s.vars.Settings, "SHOW TABLE STATUS FROM "+plan.Quote(schema))
		if stopped := s.conns.Unwanted(); stopped != nil {
			return stopped
		}
		if err != nil {
			s.vars.Warn("the sizes of sharded tables are not known, since shard " + string(shard) + " does not answer: " + err.Error())
			warnings++
			rows = &backend.Rows{}
		}
		t.add(rows)
	}
	t.average()
	s.vars.RowCount, s.vars.FoundRows = -1, uint64(len(shown.Rows))
	return s.writeRowsWarned(shown.Columns, shown.Rows, warnings)
}

// tableStatus is the answer of one shard, to which those of the others are added.
type tableStatus struct {
	*backend.Rows
	at      map[string]int      // columns by their names
	sharded map[string][][]byte // rows of sharded tables by the tables' names
}

func newTableStatus(rows *backend.Rows) *tableStatus {
	return &tableStatus{Rows: rows, at: columnsOf(rows.Columns), sharded: map[string][][]byte{}}
}

func columnsOf(columns []wire.Column) map[string]int {
	at := map[string]int{}
	for i, c := range columns {
		at[string(c.Name)] = i
	}
	return at
}

// keep records the rows of sharded tables.
func (t *tableStatus) keep(sharded func(name string) bool) {
	for i, row := range t.Rows.Rows {
		if name := string(row[t.at["Name"]]); sharded(name) {
			t.Rows.Rows[i] = slices.Clone(row)
			t.sharded[name] = t.Rows.Rows[i]
		}
	}
}

// add adds the answer of another shard. A size that is NULL there is NULL in the sum.
func (t *tableStatus) add(other *backend.Rows) {
	at := columnsOf(other.Columns)
	rows := map[string][][]byte{}
	for _, row := range other.Rows {
		rows[string(row[at["Name"]])] = row
	}
	value := func(row [][]byte, column string) []byte {
		if i, has := at[column]; has && row != nil {
			return row[i]
		}
		return nil
	}
	for name, total := range t.sharded {
		for _, column := range plan.SummedStatus {
			if i, has := t.at[column]; has {
				total[i] = sum(total[i], value(rows[name], column))
			}
		}
		if i, has := t.at["Auto_increment"]; has {
			total[i] = greatest(total[i], value(rows[name], "Auto_increment"))
		}
		if i, has := t.at["Update_time"]; has {
			if later := value(rows[name], "Update_time"); bytes.Compare(later, total[i]) > 0 {
				total[i] = later
			}
		}
	}
}

// average makes the average lengths those of the sums, as InnoDB does.
func (t *tableStatus) average() {
	at, has := t.at["Avg_row_length"]
	for _, total := range t.sharded {
		rows, length := total[t.at["Rows"]], total[t.at["Data_length"]]
		n, err := strconv.ParseUint(string(rows), 10, 64)
		data, unknown := strconv.ParseUint(string(length), 10, 64)
		switch {
		case !has:
		case err != nil || unknown != nil:
			total[at] = nil
		case n == 0:
			total[at] = []byte("0")
		default:
			total[at] = strconv.AppendUint(nil, data/n, 10)
		}
	}
}

// sum returns the sum of two numbers, or NULL if one is NULL.
func sum(a, b []byte) []byte {
	x, err := strconv.ParseUint(string(a), 10, 64)
	y, other := strconv.ParseUint(string(b), 10, 64)
	if err != nil || other != nil {
		return nil
	}
	return strconv.AppendUint(nil, x+y, 10)
}

// greatest returns the greater of two numbers. NULL is less than any.
func greatest(a, b []byte) []byte {
	x, err := strconv.ParseUint(string(a), 10, 64)
	y, other := strconv.ParseUint(string(b), 10, 64)
	if err != nil || other == nil && y > x {
		return b
	}
	return a
}
