package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// keepOut is the largest command buffer, in bytes, that a connection keeps.
const keepOut = 4 << 10

// Exec runs a statement that answers with OK, such as BEGIN, COMMIT or SET. The errors are *ServerError, after which c goes
// on working, and *LostError. It is taken to leave State: see [Conn.Own] for those that don't.
func (c *Conn) Exec(ctx context.Context, sql string) (wire.OK, error) {
	c.Note(State)
	return c.exec(ctx, sql)
}

// Run is Exec of a statement of which it is known what it leaves.
func (c *Conn) Run(ctx context.Context, sql string, leaves Leaves) (wire.OK, error) {
	c.Note(leaves)
	return c.exec(ctx, sql)
}

func (c *Conn) exec(ctx context.Context, sql string) (wire.OK, error) {
	defer c.Watch(ctx)()
	if err := c.send(ctx, appendText(c.out[:0], mysql.COM_QUERY, sql)); err != nil {
		return wire.OK{}, err
	}
	return c.readOK(ctx)
}

// Reset makes c as fresh as after login, but for the current database: an open transaction is rolled back, locks, temporary
// tables, variables and prepared statements go.
func (c *Conn) Reset(ctx context.Context) error {
	return c.resetTo(ctx, Default.WithDatabase(c.database))
}

func (c *Conn) resetTo(ctx context.Context, want *Settings) error {
	t := between(nil, c.database, want)
	t.cleans = true
	return c.apply(ctx, t, want)
}

// Remark marks the connection anew, after RELEASE_ALL_LOCKS() say: see Target.Mark.
func (c *Conn) Remark(ctx context.Context) error {
	if c.mark == "" {
		return nil
	}
	_, err := c.exec(ctx, c.mark)
	return err
}

// Carry brings a borrowed connection, perhaps amid a transaction, to other settings, without a reset: locks, temporary tables and
// the transaction stay. Where only a reset would do, since no command leaves a database, an error says so and nothing was sent.
// After a *ServerError about a variable it carries what it did before: SET is all or nothing.
func (c *Conn) Carry(ctx context.Context, want *Settings) error {
	have := c.settings
	if have == want && len(c.invalid) == 0 {
		return nil
	}
	if have == nil || !reaches(c.database, want) {
		return fmt.Errorf("shard %s: bring a connection in use from %v to %v: only a reset would do that", c.shard, have, want)
	}
	t := over(have.invalidated(c.invalid), c.database, want)
	if t.empty() {
		c.settings, c.invalid = want, nil
		return nil
	}
	err := c.apply(ctx, t, want)
	if _, refused := errors.AsType[*ServerError](err); refused && t.database == "" {
		c.settings = have
	}
	return err
}

// apply makes a transition with one write, after which c carries want. After a *ServerError, about an unknown database or a
// bad value, c is clean but for variables, which the next transition resets.
func (c *Conn) apply(ctx context.Context, t transition, want *Settings) error {
	defer c.Watch(ctx)()
	t.mark = c.mark
	if err := c.send(ctx, t.append(c.out[:0])); err != nil {
		return err
	}
	c.settings = nil
	if t.reset {
		c.prepared.clear()
		if _, err := c.readOK(ctx); err != nil {
			c.broken = true // the state is as it was, and there's no other way to clear it
			return fmt.Errorf("reset connection: %w", err)
		}
		c.left, c.changed, c.invalid = c.left&leftUnknown, false, nil
		c.resets.count(t)
	}
	var refused error
	if t.reset && t.mark != "" {
		if err := c.step(ctx, &refused); err != nil {
			return err
		}
	}
	if t.detours() {
		if err := c.step(ctx, &refused); err != nil {
			return err
		}
		c.database = detour
	}
	if t.spells() {
		if err := c.step(ctx, &refused); err != nil {
			return err
		}
	}
	if t.database != "" {
		if err := c.step(ctx, &refused); err != nil {
			return err
		}
		if refused == nil {
			c.database = t.database
		}
	}
	if t.set != "" {
		if err := c.step(ctx, &refused); err != nil {
			return err
		}
	}
	if refused == nil {
		c.settings, c.invalid = want, nil
	}
	return refused
}

// step reads one of several answers under way. A refusal by the server is kept, the first of them, so that the other
// answers are read too.
func (c *Conn) step(ctx context.Context, refused *error) error {
	_, err := c.readOK(ctx)
	if _, isRefusal := errors.AsType[*ServerError](err); !isRefusal {
		return err
	}
	if *refused == nil {
		*refused = err
	}
	return nil
}

func appendText(dst []byte, command byte, text string) []byte {
	start := len(dst)
	dst = append(append(wire.Begin(dst), command), text...)
	dst, _ = wire.Finish(dst, start, 0)
	return dst
}

// send writes commands that were built in c.out.
func (c *Conn) send(ctx context.Context, packets []byte) error {
	if cap(packets) <= keepOut {
		c.out = packets[:0]
	}
	if _, err := c.stream.Write(packets); err != nil {
		return c.Lost(false, cause(ctx, err))
	}
	return nil
}

// receive reads the next payload of an answer; it is valid until the next one is read. After the last one the caller says
// Done to the stream.
func (c *Conn) receive(ctx context.Context) ([]byte, error) {
	c.stream.Done()
	payload, _, err := c.stream.Payload()
	if err != nil {
		return nil, c.Lost(true, cause(ctx, err))
	}
	return payload, nil
}

func (c *Conn) readOK(ctx context.Context) (wire.OK, error) {
	payload, err := c.receive(ctx)
	if err != nil {
		return wire.OK{}, err
	}
	defer c.stream.Done()
	if wire.IsERR(payload) {
		return wire.OK{}, c.Refusal(payload)
	}
	if len(payload) == 0 || payload[0] != mysql.OK_HEADER {
		return wire.OK{}, c.Lost(true, errUnexpected)
	}
	ok, err := wire.ParseOK(payload, Capabilities)
	if err != nil {
		return wire.OK{}, c.Lost(true, err)
	}
	if ok.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0 {
		return wire.OK{}, c.Lost(true, errUnexpected)
	}
	c.status = ok.Status
	ok.Info = bytes.Clone(ok.Info)
	return ok, nil
}

var errUnexpected = errors.New("the answer has another form than the command asks for")

// Outcome reads the OK or ERR that answers a command of Send, for as long as that takes. The errors are those of Exec.
func (c *Conn) Outcome() (wire.OK, error) {
	ok, err := c.readOK(context.Background())
	if err == nil {
		c.SetStatus(ok.Status)
	}
	return ok, err
}

// Refusal reads an ERR packet: a *ServerError, or a *LostError if it ends the connection. It holds no status, so the last one
// known stays.
func (c *Conn) Refusal(payload []byte) error {
	e, err := wire.ParseERR(payload)
	switch {
	case err != nil:
		return c.Lost(true, err)
	case e.Code == mysql.ER_SERVER_SHUTDOWN:
		return c.Leaving()
	}
	return e
}

// Leaving is the error of a server that answers that it is shutting down: of what it was sent it may have done all. Whoever
// reads answers without Refusal calls it.
func (c *Conn) Leaving() *LostError {
	c.leaving = true
	return c.Lost(true, errShutdown)
}

var errShutdown = errors.New("the server is shutting down")
