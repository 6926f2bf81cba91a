package exec

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// runHiding answers SHOW and DESCRIBE of a table that has the column for the gene. The answer doesn't contain that column.
func (x *Execution) runHiding(p *plan.OneShard) error {
	text, err := x.WithValues()
	if err != nil {
		return err
	}
	shown, _, err := x.shownBy(p, x.Vars.Settings, text)
	if err != nil {
		return err
	}
	shown.Rows = withoutGene(shown.Columns, shown.Rows)
	x.Vars.RowCount, x.Vars.FoundRows = -1, uint64(len(shown.Rows))
	return x.writeRows(shown.Columns, shown.Rows)
}

// shownBy returns a shard's answer to a text under some settings, and the shard. If the plan's shard is unhealthy and all shards
// have the same answer, another one is queried.
func (x *Execution) shownBy(p *plan.OneShard, settings *backend.Settings, text []byte) (shown *backend.Rows, by router.ShardName, err error) {
	x.Tally.OneShard.Add(1)
	on := x.StandIns(x.Snapshot)
	if p.Named || !p.Alike {
		on = Candidates{Shards: []router.ShardName{p.Shard}}
	}
	err = x.Anywhere(on, true, func(shard router.ShardName, how txn.Mode) error {
		by = shard
		l, err := x.LendApart(shard, how, settings)
		if err != nil {
			return err
		}
		shown, err = l.Conn.Query(x.Context, string(text))
		l.End(err)
		return err
	})
	return shown, by, err
}

// withoutGene removes the column for the gene from the answer to SHOW COLUMNS, SHOW INDEX or SHOW CREATE TABLE.
func withoutGene(columns []wire.Column, rows [][][]byte) [][][]byte {
	at := func(name string) int {
		return slices.IndexFunc(columns, func(c wire.Column) bool { return string(c.Name) == name })
	}
	if made := at("Create Table"); made >= 0 {
		for _, row := range rows {
			row[made] = withoutLines(row[made])
		}
		return rows
	}
	named := max(at("Field"), at("Column_name"))
	return slices.DeleteFunc(rows, func(row [][]byte) bool { return named >= 0 && string(row[named]) == catalog.OwnGene })
}

// withoutLines removes the column for the gene and its index from a CREATE TABLE that a server has written. Each part of such a
// text is on a line of its own, with commas between the parts.
func withoutLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	kept := slices.DeleteFunc(lines, func(line []byte) bool {
		line, indented := bytes.CutPrefix(line, []byte("  "))
		line = bytes.TrimPrefix(line, []byte("KEY "))
		return indented && len(line) > 0 && string(bytes.Trim(bytes.SplitN(line, []byte(" "), 2)[0], "`\"")) == catalog.OwnGene
	})
	for i := 1; i < len(kept); i++ {
		if bytes.HasPrefix(kept[i], []byte(")")) {
			kept[i-1] = bytes.TrimSuffix(kept[i-1], []byte(","))
			break
		}
	}
	return bytes.Join(kept, []byte("\n"))
}

// runTableStatus answers SHOW TABLE STATUS of a schema with sharded tables, whose sizes are sums over all shards. While a shard
// is down, the sizes are unknown.
func (x *Execution) runTableStatus(p *plan.OneShard) error {
	text, err := x.WithValues(p.Added...)
	if err != nil {
		return err
	}
	shown, from, err := x.shownBy(p, x.Vars.Settings, text)
	if err != nil {
		return err
	}
	schema := x.Facts.Statement.Schema
	if schema == "" {
		schema = x.Schema()
	}
	sizes, warnings, err := x.sizesElsewhere(from, schema)
	if err != nil {
		return err
	}
	names, err := x.shownNames(p, text, shown)
	if err != nil {
		return err
	}
	sizes.addTo(shown, names)
	x.Vars.RowCount, x.Vars.FoundRows = -1, uint64(len(shown.Rows))
	return x.writeRowsWarned(shown.Columns, shown.Rows, warnings)
}

// shownNames returns the names of the tables in an answer to SHOW TABLE STATUS, in UTF-8. If a name has a character whose
// encoding depends on the session, the shard is queried again for the names.
func (x *Execution) shownNames(p *plan.OneShard, text []byte, shown *backend.Rows) ([]string, error) {
	named := shown
	at := slices.IndexFunc(shown.Columns, func(c wire.Column) bool { return string(c.Name) == "Name" })
	encoded := slices.ContainsFunc(shown.Rows, func(row [][]byte) bool { return !IsASCII(string(row[at])) })
	if encoded && x.Vars.Results() == wire.NotWide {
		again, _, err := x.shownBy(p, x.Vars.Settings.With("character_set_results", "utf8mb4"), text)
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
func (x *Execution) runSummed(p *plan.OneShard) error {
	described, err := x.ask(p.Shard, txn.Repeatable, x.Vars.Settings, "SELECT * FROM information_schema.TABLES LIMIT 0")
	if err != nil {
		return err
	}
	columns := make([]string, len(described.Columns))
	for i, c := range described.Columns {
		columns[i] = string(c.Name)
	}
	others := []string{"SELECT CAST(NULL AS BINARY) AS n0, CAST(NULL AS BINARY) AS n1, CAST(NULL AS UNSIGNED) AS s0, CAST(NULL AS UNSIGNED) AS s1, " +
		"CAST(NULL AS UNSIGNED) AS s2, CAST(NULL AS UNSIGNED) AS s3, CAST(NULL AS UNSIGNED) AS s4, CAST(NULL AS DATETIME) AS s5"}
	for _, schema := range x.Snapshot.Catalog.ShardedSchemas() {
		sizes, _, err := x.sizesElsewhere(p.Shard, schema)
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
	slices.SortStableFunc(added, func(a, b plan.Splice) int { return x.Values.Offset(a.At) - x.Values.Offset(b.At) })
	return x.RunOn(p.Shard, added)
}

// tableSizes contains the sizes of the sharded tables of one database on some shards, by the tables' names.
type tableSizes map[string]sizesOf

// sizesOf contains the sizes of one table as servers print them, in the order of [plan.SizeColumns]. An unknown size is nil.
type sizesOf [6][]byte

// sizesElsewhere returns the sums of the sizes of a database's sharded tables on all shards except one. If a shard lacks a table
// or does not answer, the sums are unknown. In the second case the session gets a warning.
func (x *Execution) sizesElsewhere(except router.ShardName, schema string) (total tableSizes, warnings uint16, err error) {
	total = tableSizes{}
	for _, name := range x.Snapshot.Catalog.ShardedIn(schema) {
		total[name] = sizesOf{[]byte("0"), []byte("0"), []byte("0"), []byte("0"), nil, nil}
	}
	if len(total) == 0 {
		return total, 0, nil
	}
	text := "SELECT TABLE_NAME, " + strings.Join(plan.SizeColumns, ", ") + " FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + fmt.Sprintf("CONVERT(X'%x' USING utf8mb4)", schema)
	// The names must be as in the catalog, and no row may be missing. The time zone is the session's.
	settings := x.Vars.Settings.WithNames("utf8mb4", "").Without("sql_select_limit").Without("max_join_size").Without("sql_big_selects")
	for _, shard := range x.Snapshot.Catalog.Shards {
		if shard == except {
			continue
		}
		rows, err := x.ask(shard, txn.Repeatable, settings, text)
		if stopped := x.Conns.Unwanted(); stopped != nil {
			return nil, 0, stopped
		}
		if err != nil {
			x.Vars.Warn("the sizes of sharded tables are not known, since shard " + string(shard) + " does not answer: " + err.Error())
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

// statusColumns are the columns of SHOW TABLE STATUS, in the order of [plan.SizeColumns].
var statusColumns = [6]string{"Rows", "Data_length", "Index_length", "Data_free", "Auto_increment", "Update_time"}
