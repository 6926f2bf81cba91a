package backend

import (
	"context"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// tooManyPrepared is ER_MAX_PREPARED_STMT_COUNT_REACHED: the server-wide limit on prepared statements is reached.
const tooManyPrepared = 1461

// Prepared finds a statement that was prepared on c from this text under equivalent settings: the same database, names and
// system variables. binding is the execution's, see [AppendBinding]. It returns a statement that was executed with the same
// binding, or with none yet, which is then the binding's. It is valid until the next Prepare, Carry, Reset or Return.
func (c *Conn) Prepared(sql string, binding []byte) (*Statement, bool) {
	return c.PreparedUnder(c.settings, sql, binding)
}

// PreparedUnder is Prepared for a text that was prepared while c carried the given settings.
func (c *Conn) PreparedUnder(settings *Settings, sql string, binding []byte) (*Statement, bool) {
	if settings == nil {
		return nil, false
	}
	return c.prepared.find(settings.parsing(sql), sql, binding)
}

// PrepareUnder is PrepareFor for a text that must be interpreted under settings other than c's current ones. It restores those
// afterwards. Servers keep the interpretation of PREPARE.
func (c *Conn) PrepareUnder(ctx context.Context, settings *Settings, sql string, binding []byte) (*Statement, error) {
	present := c.settings
	if err := c.Carry(ctx, settings); err != nil {
		return nil, err
	}
	statement, err := c.PrepareFor(ctx, sql, binding)
	if _, lost := errors.AsType[*LostError](err); lost {
		return nil, err
	}
	if back := c.Carry(ctx, present); err == nil {
		err = back
	}
	return statement, err
}

// Prepare prepares a statement on c and keeps it for later borrowers. The least recently used statement makes room for it.
// answer is the server's response with headers: the first packet and the definitions of parameters and columns. The errors
// are those of Exec.
func (c *Conn) Prepare(ctx context.Context, sql string) (statement *Statement, answer []byte, err error) {
	defer c.Watch(ctx)()
	key := text{sql: sql}
	if c.settings != nil {
		key.under = c.settings.parsing(sql)
	}
	statement, answer, err = c.prepare(ctx, key, c.prepared.makeRoom(key))
	if e, ok := errors.AsType[*ServerError](err); ok && e.Code == tooManyPrepared && c.prepared.len() > 0 {
		return c.prepare(ctx, key, c.prepared.giveUp())
	}
	return statement, answer, err
}

// PrepareFor is Prepare for an execution with a binding.
func (c *Conn) PrepareFor(ctx context.Context, sql string, binding []byte) (*Statement, error) {
	statement, _, err := c.Prepare(ctx, sql)
	if err == nil {
		c.prepared.bind(statement, string(binding))
	}
	return statement, err
}

// prepare closes statements, which the server doesn't answer, and prepares one, all in one write.
func (c *Conn) prepare(ctx context.Context, key text, closed []uint32) (*Statement, []byte, error) {
	out := c.out[:0]
	for _, id := range closed {
		out = wire.AppendStatementCommand(out, mysql.COM_STMT_CLOSE, id)
	}
	if err := c.send(ctx, appendText(out, mysql.COM_STMT_PREPARE, key.sql)); err != nil {
		return nil, nil, err
	}
	head, answer, err := c.readPrepared(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := &Statement{ID: head.Statement, Params: int(head.Params), Columns: int(head.Columns), key: key}
	c.prepared.add(s)
	return s, answer, nil
}

// Unprepare closes a statement whose state on the server may not be clean, such as one with long data that was never
// executed.
func (c *Conn) Unprepare(s *Statement) error {
	c.prepared.remove(s)
	return c.Send(wire.AppendStatementCommand(nil, mysql.COM_STMT_CLOSE, s.ID), Nothing)
}

// Claim reserves a statement for the caller until Unprepare.
func (c *Conn) Claim(s *Statement) { c.prepared.remove(s) }

func (c *Conn) readPrepared(ctx context.Context) (head wire.Prepared, answer []byte, err error) {
	payload, err := c.receive(ctx)
	if err != nil {
		return head, nil, err
	}
	defer c.stream.Done()
	if wire.IsERR(payload) {
		return head, nil, c.Refusal(payload)
	}
	if head, err = wire.ParsePrepared(payload); err != nil {
		return head, nil, c.Lost(true, err)
	}
	answer, seq := wire.AppendPacket(nil, 1, payload)
	for packets := definitions(head.Params) + definitions(head.Columns); packets > 0; packets-- {
		if payload, err = c.receive(ctx); err != nil {
			return head, nil, err
		}
		answer, seq = wire.AppendPacket(answer, seq, payload)
	}
	return head, answer, nil
}

// definitions returns the number of packets in a list of n definitions. An EOF packet ends a list that isn't empty.
func definitions(n uint16) int {
	if n == 0 {
		return 0
	}
	return int(n) + 1
}
