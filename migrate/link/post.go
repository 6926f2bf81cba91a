package link

import (
	"context"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Posted is a statement whose answer is read later.
type Posted struct {
	conn     *Conn
	sequence uint8 // of its answer's packet
	done     bool
	outcome  Outcome
	err      error
}

// Post is Exec without waiting for the answer. The next statement is sent before that answer is read, and the
// server runs it even if this one fails. So it is only for a transaction that the caller commits after
// [Posted.Outcome]. Only one statement may be posted at a time.
func (c *Conn) Post(ctx context.Context, sql string) (*Posted, error) {
	if c.posted != nil {
		return nil, errors.New("a statement was posted before, and its answer is not read yet")
	}
	p := &Posted{conn: c}
	err := c.guard(ctx, func() error {
		return c.write(mysql.COM_QUERY, text(sql))
	})
	if err != nil {
		return nil, err
	}
	p.sequence = c.c.Sequence
	c.posted = p
	return p, nil
}

// readPosted reads the answer to a posted statement. A server's error concerns only the posted statement.
func (c *Conn) readPosted() error {
	p := c.posted
	c.posted, p.done = nil, true
	c.c.Sequence = p.sequence
	p.outcome, p.err = c.readOK()
	if errors.As(p.err, new(*mysql.MyError)) {
		return nil
	}
	return p.err
}

// Outcome returns the server's answer. It waits for the answer if no later statement has read it.
func (p *Posted) Outcome(ctx context.Context) (Outcome, error) {
	if !p.done {
		if err := p.conn.guard(ctx, p.conn.readPosted); err != nil {
			return Outcome{}, err
		}
	}
	return p.outcome, p.err
}
