package session

import (
	"regexp"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// showPatched answers SHOW VARIABLES and SHOW STATUS: what the first shard shows,
// with the proxy's values in place of some of its own. Where a condition may be on
// values, the shard has to see ours first: see shown.
func (s *Session) showPatched(r *request) (done bool, err error) {
	show := r.plan.Statement.Shown
	if r.plan.Statement.Kind != stmt.Show || show == nil || show.What != "variables" && show.What != "status" ||
		aboutValues.MatchString(show.Clause) || r.statement != nil && r.statement.params > 0 {
		return false, nil
	}
	scope := "SESSION "
	if show.Global {
		scope = "GLOBAL "
	}
	leaves := backend.Nothing
	if strings.Contains(show.Clause, "(") { // a function of anybody's
		leaves = backend.State
	}
	columns, rows, err := s.askFirst("SHOW "+scope+show.What+" "+show.Clause, leaves)
	if err != nil {
		return false, err
	}
	if err := s.patch(rows, strings.ToLower(strings.TrimSpace(scope))+"_"+show.What); err != nil {
		return false, err
	}
	list := make([][]string, 0, len(rows))
	for _, row := range rows {
		list = append(list, []string{string(row[0]), string(row[1])})
	}
	s.warnings = s.warnings[:0]
	s.rowCount, s.foundRows = -1, uint64(len(list))
	return true, s.writeShown(columns, list)
}

func (s *Session) writeShown(columns []wire.Column, rows [][]string) error {
	if err := s.writeColumns(columns, rows); err != nil {
		return &clientGone{err}
	}
	return nil
}

// aboutValues may be a condition on values: one with a WHERE and the word in it.
var aboutValues = regexp.MustCompile("(?is)^where.*value")

// patch puts the proxy's values into rows of names and values.
func (s *Session) patch(rows [][][]byte, table string) error {
	ours := map[string]string{}
	for _, o := range s.overrides(table) {
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
		case table == "session_status" && strings.HasPrefix(name, "com_"): // what other sessions did on the connection
			row[1] = []byte("0")
		}
	}
	if len(asked) == 0 {
		return nil
	}
	_, values, err := s.askFirst("SELECT "+strings.Join(asked, ", "), backend.Nothing)
	if err != nil || len(values) != 1 {
		return err
	}
	for i, place := range places {
		rows[place][1] = values[0][i]
	}
	return nil
}
