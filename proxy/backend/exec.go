package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// keepOut is the size in bytes of the largest command buffer that a connection keeps.
const keepOut = 4 << 10

// Exec runs a statement that answers with OK, such as BEGIN, COMMIT or SET. It returns a *ServerError, after which c remains
// usable, or a *LostError. The statement counts as State; see [Conn.Own] for statements that leave nothing.
func (c *Conn) Exec(ctx context.Context, sql string) (wire.OK, error) {
	c.Note(State)
	return c.exec(ctx, sql)
}

// Run is Exec for a statement with known leaves.
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

// Reset restores c to its state after login, except for the current database. An open transaction is rolled back. Locks,
// temporary tables, variables and prepared statements are gone.
func (c *Conn) Reset(ctx context.Context) error {
	return c.resetTo(ctx, Default.WithDatabase(c.database))
}

func (c *Conn) resetTo(ctx context.Context, want *Settings) error {
	t := between(nil, c.database, want)
	t.cleans = true
	return c.apply(ctx, t, want)
}

// Remark sets the connection's mark again, for example after RELEASE_ALL_LOCKS(). See Target.Mark.
func (c *Conn) Remark(ctx context.Context) error {
	if c.mark == "" {
		return nil
	}
	_, err := c.exec(ctx, c.mark)
	return err
}

// Carry brings a borrowed connection to other settings without a reset, perhaps within a transaction. Locks, temporary tables and
// the transaction remain. If only a reset would do, because no command leaves a database, it returns an error and sends nothing.
// After a *ServerError about a variable c carries its previous settings, since SET is all or nothing.
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

// apply performs a transition with one write. c then carries want. After a *ServerError about an unknown database or a bad value,
// c is clean except for variables, which the next transition resets.
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
			c.broken = true // the state is unchanged and can't be cleared in another way
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

// step reads one of several pending answers. It keeps the first refusal by the server, so that the other answers are read too.
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

// receive reads the next payload of an answer. It is valid until the next one is read. After the last one the caller calls Done
// on the stream.
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

// Outcome reads the OK or ERR that answers a command sent with Send. It waits without a time limit. Its errors are those of Exec.
func (c *Conn) Outcome() (wire.OK, error) {
	ok, err := c.readOK(context.Background())
	if err == nil {
		c.SetStatus(ok.Status)
	}
	return ok, err
}

// Refusal reads an ERR packet. It returns a *ServerError, or a *LostError if the error ends the connection. An ERR packet holds
// no status flags, so the last known ones remain.
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

// Leaving returns the error for a server that answers that it is shutting down. Its effect is unknown: the server may have
// executed everything. Callers that read answers without Refusal call it.
func (c *Conn) Leaving() *LostError {
	c.leaving = true
	return c.Lost(true, errShutdown)
}

var errShutdown = errors.New("the server is shutting down")
