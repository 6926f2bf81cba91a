package exec

import (
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// copyRows runs a query over the temporary tables and passes each row to add, as the text between the parentheses of VALUES.
func (w *workspace) copyRows(text string, params []wire.Param, into plan.Destination, add rowAdder) error {
	rows, err := w.open(text, params)
	if err != nil {
		return err
	}
	return w.copyOpened(rows, into, add)
}

// copyOpened is copyRows for a query that was opened.
func (w *workspace) copyOpened(rows *gather.Rows, into plan.Destination, add rowAdder) error {
	write, err := w.literals(rows.Columns, into)
	if err != nil {
		return w.giveUp(err)
	}
	for {
		values, err := rows.Next()
		if err != nil || values == nil {
			return err
		}
		if err := add(func(out []byte) ([]byte, error) { return write(out, values) }); err != nil {
			return w.giveUp(err)
		}
	}
}

// open sends the query as a prepared statement, so that values arrive in binary form. As text, some are rounded.
func (w *workspace) open(text string, params []wire.Param) (*gather.Rows, error) {
	c := w.lease.Conn
	settings := w.x.under().With("character_set_results", "utf8mb4").Without("sql_select_limit") // sql_select_limit applies only to rows that clients get
	if err := c.Carry(w.x.Context, settings); err != nil {
		return nil, err
	}
	binding := backend.AppendBinding(nil, params, nil)
	there, ok := c.Prepared(text, binding)
	if !ok {
		var err error
		if there, err = c.PrepareFor(w.x.Context, text, binding); err != nil {
			return nil, err
		}
	}
	if w.x.Facts.ReadsInsertID {
		if _, err := c.Own().Exec(w.x.Context, "SET last_insert_id = "+strconv.FormatUint(w.x.Vars.InsertID, 10)); err != nil {
			return nil, err
		}
	}
	out, _ := wire.AppendExecute(nil, wire.Execute{Statement: there.ID, Params: params})
	there.Types = nil
	if err := c.Send(out, txn.Effects(w.x.Facts)); err != nil {
		return nil, err
	}
	return gather.Open(c)
}

// literals returns the function that writes the values of a row as literals for the columns of into.
func (w *workspace) literals(fields []wire.Column, into plan.Destination) (func(out []byte, values [][]byte) ([]byte, error), error) {
	if len(fields) != len(into.Columns) {
		return nil, wire.Errorf(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, "21S01", "Column count doesn't match value count at row 1")
	}
	list := make([]gather.Literal, len(fields))
	for i, f := range fields {
		var err error
		if list[i], err = gather.Into(f, &into.Into.Columns[into.Columns[i]]); err != nil {
			return nil, &plan.Refusal{Code: plan.Unsupported, Message: "an INSERT from a query over several shards: " + err.Error() + ": CAST it to the column's type"}
		}
		if f.Type != mysql.MYSQL_TYPE_TIMESTAMP {
			continue
		}
		if err := w.fixedZone(); err != nil {
			return nil, err
		}
	}
	backslashes := w.x.Vars.Mode&stmt.NoBackslash == 0
	return func(out []byte, values [][]byte) ([]byte, error) {
		var err error
		for i, v := range values {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = list[i].Append(out, v, backslashes); err != nil {
				return nil, err
			}
		}
		return out, nil
	}, nil
}

// fixedZone returns an error for a TIMESTAMP in a time zone whose clocks go back, because its text would be ambiguous.
func (w *workspace) fixedZone() error {
	switch zone := w.x.Vars.TimeZone(); {
	case strings.HasPrefix(zone, "+"), strings.HasPrefix(zone, "-"), zone == "UTC":
		return nil
	case zone == "":
		rows, err := w.x.ask(w.lease.Shard, 0, w.plain(), "SELECT IF(@@global.time_zone = 'SYSTEM', @@global.system_time_zone, @@global.time_zone)")
		if err != nil {
			return err
		}
		if len(rows.Rows) == 1 && fixedOffset(string(rows.Rows[0][0])) {
			return nil
		}
	}
	return &plan.Refusal{Code: plan.Unsupported, Message: "TIMESTAMP values of a query or file for several shards in a time zone whose clocks may go back: use SET time_zone = '+00:00'"}
}

func fixedOffset(zone string) bool {
	return zone == "UTC" || zone == "GMT" || strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-")
}

// leniently runs f with an sql_mode under which values are read and inserted without checks. The session's sql_mode was applied to
// them before. The session's limits on queries don't apply to f.
func (w *workspace) leniently(f func() error) error {
	settings, _, err := w.lenient()
	if err != nil {
		return err
	}
	before := w.x.settings
	defer func() { w.x.settings = before }()
	w.x.settings = settings
	return f()
}

// lenient returns the settings for leniently, and whether the session's sql_mode is strict. The connection must have that sql_mode.
func (w *workspace) lenient() (settings *backend.Settings, strict bool, err error) {
	rows, err := w.lease.Conn.Own().Query(w.x.Context, "SELECT @@sql_mode")
	if err != nil {
		return nil, false, err
	}
	modes := []string{"ALLOW_INVALID_DATES"}
	for mode := range strings.SplitSeq(string(rows.Rows[0][0]), ",") {
		strict = strict || strings.HasPrefix(mode, "STRICT_")
		if !strings.HasPrefix(mode, "STRICT_") && !strings.HasPrefix(mode, "NO_ZERO_") && mode != "TRADITIONAL" {
			modes = append(modes, mode)
		}
	}
	return w.x.under().With("sql_mode", "'"+strings.Join(modes, ",")+"'").WithNames("utf8mb4", "").
		Without("max_join_size").Without("sql_big_selects"), strict, nil
}
