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
	rows, err := s.computed(settings, "SELECT "+expression)
	if err != nil {
		return "", err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 {
		return "", fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "SET needs one value, and %q gives another number of them", expression)
	}
	return constant(rows.Rows[0][0], rows.Columns[0].Type), nil
}

// computed has the first shard compute a query of the client's making, and takes over
// what that leaves.
func (s *Session) computed(settings *backend.Settings, query string) (*backend.Rows, error) {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(query), s.mode)
	leaves := plan.LeavesRoutine
	if p, err := plan.Make(lexed, plan.Context{Catalog: s.World().Catalog, Schema: settings.Database()}); err == nil {
		leaves = p.Leaves
	}
	var rows *backend.Rows
	err := s.onFirstBranch(settings, func(b branch) (err error) {
		rows, err = b.conn.Own().Query(s.ctx, query)
		b.conn.Note(lefts[leaves])
		if leaves == plan.LeavesRoutine {
			s.stayForRoutine(lease{branch: b})
		}
		return err
	})
	return rows, err
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
	return s.onFirstBranch(settings, func(b branch) error { return f(b.conn) })
}

func (s *Session) onFirstBranch(settings *backend.Settings, f func(branch) error) error {
	shard := s.World().Catalog.First()
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, settings); err != nil {
			return err
		}
		return f(*b)
	}
	b, err := s.borrow(shard, settings)
	if err != nil {
		return err
	}
	l := lease{branch: b, outside: s.txn.running()}
	err = f(b)
	switch {
	case err == nil:
		s.done(l, b.conn.Status())
	case refused(err):
		s.doneUntold(l, 0, false)
	default:
		s.discard(b)
	}
	return err
}

// askFirst asks the first shard something small, in the session's settings.
func (s *Session) askFirst(text string, leaves backend.Leaves) (columns []wire.Column, rows [][][]byte, err error) {
	err = s.onFirst(s.settings, func(c *backend.Conn) error {
		c.Note(leaves)
		answer, err := c.Own().Query(s.ctx, text)
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
		rows, err := c.Own().Query(s.ctx, "SELECT @@sql_mode")
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		said := string(rows.Rows[0][0])
		if name := stmt.OtherValues(said); name != "" {
			return fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "Variable 'sql_mode' can't be set to the value of '%s' through the proxy, which would not see what is stored", name)
		}
		mode = stmt.ModeOf(said)
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
