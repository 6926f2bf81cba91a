package session

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// runTableStatus answers SHOW TABLE STATUS of a schema with sharded tables, whose sizes are sums over all shards. While a shard
// is down, the sizes are unknown.
func (s *Session) runTableStatus(r *exec.Execution, p *plan.OneShard) error {
	text, err := s.withValues(r, p.Added...)
	if err != nil {
		return err
	}
	shown, from, err := s.shownBy(r, p, s.vars.Settings, text)
	if err != nil {
		return err
	}
	schema := r.Facts.Statement.Schema
	if schema == "" {
		schema = r.Schema()
	}
	sizes, warnings, err := s.sizesElsewhere(r, from, schema)
	if err != nil {
		return err
	}
	names, err := s.shownNames(r, p, text, shown)
	if err != nil {
		return err
	}
	sizes.addTo(shown, names)
	s.vars.RowCount, s.vars.FoundRows = -1, uint64(len(shown.Rows))
	return s.writeRowsWarned(shown.Columns, shown.Rows, warnings)
}

// shownNames returns the names of the tables in an answer to SHOW TABLE STATUS, in UTF-8. If a name has a character whose
// encoding depends on the session, the shard is queried again for the names.
func (s *Session) shownNames(r *exec.Execution, p *plan.OneShard, text []byte, shown *backend.Rows) ([]string, error) {
	named := shown
	at := slices.IndexFunc(shown.Columns, func(c wire.Column) bool { return string(c.Name) == "Name" })
	encoded := slices.ContainsFunc(shown.Rows, func(row [][]byte) bool { return !isASCII(string(row[at])) })
	if encoded && s.vars.Results() == wire.NotWide {
		again, _, err := s.shownBy(r, p, s.vars.Settings.With("character_set_results", "utf8mb4"), text)
		if err != nil {
			return nil, err
		}
		if len(again.Rows) != len(shown.Rows) {
			return nil, &plan.Refusal{Code: plan.Unsupported, Message: "SHOW TABLE STATUS while tables are created or dropped: repeat the statement"}
		}
		named = again
	}
	names := make([]string, len(named.Rows))
	for i, row := range named.Rows {
		names[i] = string(row[at])
	}
	return names, nil
}

// runSummed runs a read of information_schema.TABLES, in which the sizes of sharded tables are sums over all shards.
func (s *Session) runSummed(r *exec.Execution, p *plan.OneShard) error {
	described, err := r.Ask(p.Shard, txn.Elsewhere, s.vars.Settings, "SELECT * FROM information_schema.TABLES LIMIT 0")
	if err != nil {
		return err
	}
	columns := make([]string, len(described.Columns))
	for i, c := range described.Columns {
		columns[i] = string(c.Name)
	}
	others := []string{"SELECT CAST(NULL AS BINARY) AS n0, CAST(NULL AS BINARY) AS n1, CAST(NULL AS UNSIGNED) AS s0, CAST(NULL AS UNSIGNED) AS s1, " +
		"CAST(NULL AS UNSIGNED) AS s2, CAST(NULL AS UNSIGNED) AS s3, CAST(NULL AS UNSIGNED) AS s4, CAST(NULL AS DATETIME) AS s5"}
	for _, schema := range r.Snapshot.Catalog.ShardedSchemas() {
		sizes, _, err := s.sizesElsewhere(r, p.Shard, schema)
		if err != nil {
			return err
		}
		for _, table := range sizes.names() {
			others = append(others, fmt.Sprintf("SELECT X'%x', X'%x', %s", schema, table, sizes[table].list()))
		}
	}
	added := slices.Clone(p.Added)
	for _, place := range p.Summed {
		added = append(added, place.Splices(columns, strings.Join(others, " UNION ALL "))...)
	}
	slices.SortStableFunc(added, func(a, b plan.Splice) int { return r.Values.Offset(a.At) - r.Values.Offset(b.At) })
	return s.runOn(r, p.Shard, added)
}

// tableSizes contains the sizes of the sharded tables of one database on some shards, by the tables' names.
type tableSizes map[string]sizesOf

// sizesOf contains the sizes of one table as servers print them, in the order of [plan.SizeColumns]. An unknown size is nil.
type sizesOf [6][]byte

// sizesElsewhere returns the sums of the sizes of a database's sharded tables on all shards except one. If a shard lacks a table
// or does not answer, the sums are unknown. In the second case the session gets a warning.
func (s *Session) sizesElsewhere(r *exec.Execution, except router.ShardName, schema string) (total tableSizes, warnings uint16, err error) {
	total = tableSizes{}
	for _, name := range r.Snapshot.Catalog.ShardedIn(schema) {
		total[name] = sizesOf{[]byte("0"), []byte("0"), []byte("0"), []byte("0"), nil, nil}
	}
	if len(total) == 0 {
		return total, 0, nil
	}
	text := "SELECT TABLE_NAME, " + strings.Join(plan.SizeColumns, ", ") + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + fmt.Sprintf("CONVERT(X'%x' USING utf8mb4)", schema)
	// The names must be as in the catalog, and no row may be missing. The time zone is the session's.
	settings := s.vars.Settings.WithNames("utf8mb4", "").Without("sql_select_limit").Without("max_join_size").Without("sql_big_selects")
	for _, shard := range r.Snapshot.Catalog.Shards {
		if shard == except {
			continue
		}
		rows, err := r.Ask(shard, txn.Elsewhere, settings, text)
		if stopped := s.conns.Unwanted(); stopped != nil {
			return nil, 0, stopped
		}
		if err != nil {
			s.vars.Warn("the sizes of sharded tables are not known, since shard " + string(shard) + " does not answer: " + err.Error())
			warnings++
			rows = &backend.Rows{}
		}
		total.add(rows)
	}
	return total, warnings, nil
}

// names returns the sorted names of the tables.
func (t tableSizes) names() []string { return slices.Sorted(maps.Keys(t)) }

// add adds the sizes on another shard. Each row contains a table's name and its sizes.
func (t tableSizes) add(shard *backend.Rows) {
	there := map[string]sizesOf{}
	for _, row := range shard.Rows {
		there[string(row[0])] = sizesOf(row[1:])
	}
	for name, total := range t {
		t[name] = total.and(there[name])
	}
}

// addTo adds the sizes to the rows of SHOW TABLE STATUS. names contains the name of the table of each row.
func (t tableSizes) addTo(shown *backend.Rows, names []string) {
	at := map[string]int{}
	for i, c := range shown.Columns {
		at[string(c.Name)] = i
	}
	for i, row := range shown.Rows {
		other, sharded := t[names[i]]
		if !sharded {
			continue
		}
		row = slices.Clone(row)
		var own sizesOf
		for n, column := range statusColumns {
			own[n] = row[at[column]]
		}
		for n, value := range own.and(other) {
			row[at[statusColumns[n]]] = value
		}
		row[at["Avg_row_length"]] = average(row[at["Data_length"]], row[at["Rows"]])
		shown.Rows[i] = row
	}
}

// statusColumns are the columns of SHOW TABLE STATUS, in the order of [plan.SizeColumns].
var statusColumns = [6]string{"Rows", "Data_length", "Index_length", "Data_free", "Auto_increment", "Update_time"}

// and returns the sizes of two parts of a table. The next number and the time of the last change are the greater ones.
func (a sizesOf) and(b sizesOf) (all sizesOf) {
	for i := range 4 {
		all[i] = sum(a[i], b[i])
	}
	all[4] = greatest(a[4], b[4])
	if all[5] = a[5]; bytes.Compare(b[5], a[5]) > 0 {
		all[5] = b[5]
	}
	return all
}

// list returns the sizes as a list of SQL literals.
func (a sizesOf) list() string {
	literals := make([]string, len(a))
	for i, value := range a {
		switch {
		case value == nil:
			literals[i] = "NULL"
		case i == 5:
			literals[i] = "'" + string(value) + "'"
		default:
			literals[i] = string(value)
		}
	}
	return strings.Join(literals, ", ")
}

// average returns the average length of a row, as InnoDB computes it.
func average(length, rows []byte) []byte {
	n, err := strconv.ParseUint(string(rows), 10, 64)
	data, unknown := strconv.ParseUint(string(length), 10, 64)
	switch {
	case err != nil || unknown != nil:
		return nil
	case n == 0:
		return []byte("0")
	}
	return strconv.AppendUint(nil, data/n, 10)
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

// greatest returns the greater of two numbers. NULL is less than any number.
func greatest(a, b []byte) []byte {
	x, err := strconv.ParseUint(string(a), 10, 64)
	y, other := strconv.ParseUint(string(b), 10, 64)
	if err != nil || other == nil && y > x {
		return b
	}
	return a
}
