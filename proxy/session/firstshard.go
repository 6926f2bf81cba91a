package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// literal gives a value as a constant; what is more than one is computed by the
// first shard.
func (s *Session) literal(v stmt.Variable) (string, error) {
	if v.Expression == "" {
		switch v.Value.Kind {
		case stmt.String:
			return backend.Quote(string(v.Value.Text)), nil
		case stmt.Default:
			return "DEFAULT", nil
		default:
			return v.Value.String(), nil
		}
	}
	// Nothing that the same SET assigns is seen by its values.
	return s.compute(s.settings, v.Expression)
}

func (s *Session) compute(settings *backend.Settings, expression string) (string, error) {
	literal := ""
	err := s.onFirst(settings, func(c *backend.Conn) error {
		rows, err := c.Query(s.ctx, "SELECT "+expression)
		if err != nil {
			return err
		}
		if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 {
			return fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "SET needs one value, and %q gives another number of them", expression)
		}
		literal = constant(rows.Rows[0][0], rows.Columns[0].Type)
		return nil
	})
	return literal, err
}

func constant(value []byte, columnType byte) string {
	switch {
	case value == nil:
		return "NULL"
	case columnType <= mysql.MYSQL_TYPE_DOUBLE, columnType == mysql.MYSQL_TYPE_LONGLONG,
		columnType == mysql.MYSQL_TYPE_INT24, columnType == mysql.MYSQL_TYPE_NEWDECIMAL:
		return string(value)
	}
	return backend.Quote(string(value))
}

// try has a connection carry the settings, so that the server can refuse them.
func (s *Session) try(settings *backend.Settings) error {
	return s.onFirst(settings, func(*backend.Conn) error { return nil })
}

// onFirst runs f on a connection to the first shard that carries the settings:
// the transaction's own if it is there, so that it sees the same.
func (s *Session) onFirst(settings *backend.Settings, f func(*backend.Conn) error) error {
	shard := s.World().Catalog.First()
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, settings); err != nil {
			return err
		}
		return f(b.conn)
	}
	b, err := s.borrow(shard, settings)
	if err != nil {
		return err
	}
	if err := f(b.conn); err != nil {
		s.release(b, err)
		return err
	}
	s.handBack(b)
	return nil
}

// askFirst asks the first shard something small, in the session's settings.
func (s *Session) askFirst(text string) (columns []wire.Column, rows [][][]byte, err error) {
	err = s.onFirst(s.settings, func(c *backend.Conn) error {
		answer, err := c.Query(s.ctx, text)
		if err != nil {
			return err
		}
		columns, rows = answer.Columns, answer.Rows
		return nil
	})
	return columns, rows, err
}

// readMode learns what a sql_mode means for the reading of texts; ANSI, say,
// stands for several modes.
func (s *Session) readMode(settings *backend.Settings) (stmt.Mode, error) {
	var mode stmt.Mode
	err := s.onFirst(settings, func(c *backend.Conn) error {
		rows, err := c.Query(s.ctx, "SELECT @@sql_mode")
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		mode = stmt.ModeOf(string(rows.Rows[0][0]))
		return nil
	})
	return mode, err
}

func (s *Session) shardOf(w *World, p *plan.Plan) router.ShardName {
	if p.Place == plan.Fixed {
		return p.Shard
	}
	return w.Catalog.First()
}
