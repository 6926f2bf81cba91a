package session

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/gather"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// runInsertQuery runs an INSERT whose query's rows are not where they go: the
// query is answered over gathered rows, as a SELECT would be, and its rows are
// inserted as they come.
func (s *Session) runInsertQuery(r *request, q *plan.InsertQuery) error {
	if err := s.mayReadAll(r); err != nil {
		return err
	}
	if err := s.writable(); err != nil {
		return err
	}
	read := q.Lex(r.values.Lexed)
	args := new(stmt.Args)
	args.Foreign = s.vars.Foreign
	args.Reset(read, s.boundOf(r))
	own := *r
	own.values = &plan.Values{Args: args, InsertID: s.vars.InsertID, UserVariable: r.values.UserVariable}
	var b *bulk
	err := s.gathered(&own, q.Gather, func(g *gathering) error {
		head := string(r.values.Text[:r.values.Offset(q.Start)])
		var err error
		if b, err = s.bulk(&own, strings.TrimRight(head, blanks)); err != nil {
			return err
		}
		b.tail = " " + string(r.values.Text[r.values.Offset(q.End):])
		text := g.edited(g.r.values.Text, g.places())
		return b.run(func() error { return g.insert(b, string(text), g.bound(), q.Destination) })
	})
	if err != nil {
		return err
	}
	return b.tell(r.facts.Statement.Insert.Ignore)
}

// writable refuses what could not be written into a text as it is.
func (s *Session) writable() error {
	if !s.vars.QuotesUTF8() {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows from elsewhere for several shards, for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
	}
	return nil
}

// insert runs a query over the temporary tables and has its rows inserted.
func (g *gathering) insert(b *bulk, text string, params []wire.Param, into plan.Destination) error {
	rows, err := g.open(text, params)
	if err != nil {
		return err
	}
	write, err := g.literals(rows.Columns, into)
	if err != nil {
		return g.unread(err)
	}
	for {
		values, err := rows.Next()
		if err != nil {
			return err
		}
		if values == nil {
			return nil
		}
		if err := b.add(func(out []byte) ([]byte, error) { return write(out, values) }); err != nil {
			return g.unread(err)
		}
	}
}

// unread gives up the connection whose answer is not wanted any more.
func (g *gathering) unread(err error) error {
	_ = g.at.Conn.Lost(true, errUnread)
	return err
}

// open sends the query, so that values come in binary form: as text some are
// rounded.
func (g *gathering) open(text string, params []wire.Param) (*gather.Rows, error) {
	settings := g.Session.vars.Settings.With("character_set_results", "utf8mb4").Without("sql_select_limit") // it is for rows that clients get
	if err := g.at.Conn.Carry(g.ctx, settings); err != nil {
		return nil, err
	}
	there, ok := g.at.Conn.Prepared(text)
	if !ok {
		var err error
		if there, _, err = g.at.Conn.Prepare(g.ctx, text); err != nil {
			return nil, err
		}
	}
	if g.r.facts.ReadsInsertID {
		if _, err := g.at.Conn.Own().Exec(g.ctx, "SET last_insert_id = "+uitoa(g.vars.InsertID)); err != nil {
			return nil, err
		}
	}
	out, _ := wire.AppendExecute(nil, wire.Execute{Statement: there.ID, Params: params})
	there.Types = nil
	if err := g.at.Conn.Send(out, left(g.r.facts)); err != nil {
		return nil, err
	}
	return gather.Open(g.at.Conn)
}

// literals says how the values of a row are written.
func (g *gathering) literals(fields []wire.Column, into plan.Destination) (func(out []byte, values [][]byte) ([]byte, error), error) {
	if len(fields) != len(into.Columns) {
		return nil, fail(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, "21S01", "Column count doesn't match value count at row 1")
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
		if err := g.fixedZone(); err != nil {
			return nil, err
		}
	}
	backslashes := g.vars.Mode&stmt.NoBackslash == 0
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

// fixedZone refuses a TIMESTAMP in a time zone whose clocks go back: as text it
// would be ambiguous then.
func (g *gathering) fixedZone() error {
	switch zone := g.vars.TimeZone(); {
	case strings.HasPrefix(zone, "+"), strings.HasPrefix(zone, "-"), zone == "UTC":
		return nil
	case zone == "":
		rows, err := g.askApart(g.at.Shard, g.settings(), "SELECT IF(@@global.time_zone = 'SYSTEM', @@global.system_time_zone, @@global.time_zone)")
		if err != nil {
			return err
		}
		if len(rows.Rows) == 1 && fixedOffset(string(rows.Rows[0][0])) {
			return nil
		}
	}
	return &plan.Refusal{Code: plan.Unsupported, Message: "TIMESTAMP values from elsewhere for several shards in a time zone whose clocks may go back: use SET time_zone = '+00:00'"}
}

func fixedOffset(zone string) bool {
	return zone == "UTC" || zone == "GMT" || strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-")
}
