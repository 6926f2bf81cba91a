package sysvars

import (
	"regexp"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Show returns a query that answers a SHOW.
func (a *Answers) Show(show *stmt.Shown) ([]byte, error) {
	switch show.What {
	case "variables", "status":
		return a.showValues(show)
	case "processlist":
		return []byte(a.showProcessList(show.Full)), nil
	case "tables":
		return a.showOwnTables(show)
	case "table status":
		return a.showOwnStatus(show)
	case "columns":
		return a.showOwnColumns(show)
	case "index":
		return a.showOwnIndexes(show)
	case "create table":
		return a.showOwnCreate(show)
	}
	return a.showGrants()
}

func (a *Answers) showValues(show *stmt.Shown) ([]byte, error) {
	name, clause := tableOf(show), show.Clause
	if strings.HasPrefix(strings.ToLower(clause), "like") {
		clause = "WHERE Variable_name " + clause
	}
	table := a.variableTable(name, a.flavor().VariableName(show.What == "variables")+" AS Variable_name", "Value")
	if show.What == "status" {
		var err error
		if table, err = a.withCounters(table, show); err != nil {
			return nil, err
		}
	}
	return []byte("SELECT * FROM " + table + " AS " + name + " " + clause + " ORDER BY Variable_name"), nil
}

// tableOf returns the servers' table for SHOW VARIABLES or SHOW STATUS.
func tableOf(show *stmt.Shown) string { return strings.ToLower(scopeOf(show)) + "_" + show.What }

func scopeOf(show *stmt.Shown) string {
	if show.Global {
		return "GLOBAL"
	}
	return "SESSION"
}

// variableTable returns the shard's table of variables or of status as a derived table, with the proxy's values in it.
func (a *Answers) variableTable(table, name, value string) string {
	var b strings.Builder
	b.WriteString("(SELECT " + name + ", CASE LOWER(VARIABLE_NAME)")
	for _, v := range a.overrides(table) {
		b.WriteString(" WHEN '" + v.name + "' THEN " + v.sql)
	}
	rest := "VARIABLE_VALUE"
	if table == "session_status" { // the connection counted statements of other sessions
		rest = "IF(VARIABLE_NAME LIKE 'COM~_%' ESCAPE '~', '0', VARIABLE_VALUE)"
	}
	b.WriteString(" ELSE " + rest + " END AS " + value + " FROM " + a.flavor().VariableTables() + "." + table + ")")
	return b.String()
}

// override is a row of such a table whose value is the proxy's.
type override struct{ name, sql string }

// overrides returns the rows of a table whose values are the proxy's.
func (a *Answers) overrides(table string) (list []override) {
	if strings.HasSuffix(table, "_status") {
		return a.statusOverrides(table == "session_status")
	}
	global := strings.HasPrefix(table, "global")
	for name, row := range variables {
		if row.ours || row.class == Answered && global {
			continue
		}
		if sql := a.variable(question{name, global, "VARIABLE_VALUE"}); sql != "" {
			list = append(list, override{name, sql})
		}
	}
	slices.SortFunc(list, func(a, b override) int { return strings.Compare(a.name, b.name) })
	return list
}

// Patched answers SHOW VARIABLES and SHOW STATUS with the rows of the shard, in which it replaces some values by the proxy's. done is false if
// the statement needs another query. If a condition may be on values, the shard must evaluate it on the proxy's values.
func (a *Answers) Patched(show *stmt.Shown) (columns []wire.Column, list [][]string, done bool, err error) {
	if show == nil || show.What != "variables" && show.What != "status" || aboutValues.MatchString(show.Clause) {
		return nil, nil, false, nil
	}
	leaves := backend.Nothing
	if strings.Contains(show.Clause, "(") { // the clause may call any function
		leaves = backend.State
	}
	rows, err := a.ask("SHOW "+scopeOf(show)+" "+show.What+" "+show.Clause, leaves)
	if err == nil {
		err = a.patch(rows.Rows, tableOf(show))
	}
	if err != nil {
		return nil, nil, false, err
	}
	list = make([][]string, 0, len(rows.Rows))
	for _, row := range rows.Rows {
		list = append(list, []string{string(row[0]), string(row[1])})
	}
	a.Conditions = a.Conditions[:0]
	a.RowCount, a.FoundRows = -1, uint64(len(list))
	return rows.Columns, list, true, nil
}

// aboutValues matches a clause that may have a condition on values: a WHERE with that word in it.
var aboutValues = regexp.MustCompile("(?is)^where.*value")

// patch replaces values in rows of names and values by the proxy's.
func (a *Answers) patch(rows [][][]byte, table string) error {
	ours := map[string]string{}
	for _, o := range a.overrides(table) {
		ours[o.name] = strings.ReplaceAll(o.sql, "VARIABLE_VALUE", "@@global."+o.name)
	}
	var places []int
	var asked []string
	for i, row := range rows {
		if len(row) != 2 {
			continue
		}
		name := strings.ToLower(string(row[0]))
		switch sql, ok := ours[name]; {
		case ok:
			places, asked = append(places, i), append(asked, sql)
		case table == "session_status" && strings.HasPrefix(name, "com_"): // the connection counted statements of other sessions
			row[1] = []byte("0")
		}
	}
	if len(asked) == 0 {
		return nil
	}
	values, err := a.Ask("SELECT " + strings.Join(asked, ", "))
	if err != nil || len(values.Rows) != 1 || len(values.Columns) != len(asked) {
		return err
	}
	for i, place := range places {
		rows[place][1] = values.Rows[0][i]
	}
	return nil
}
