package interrupt

import (
	"context"
	"sync"

	"locus/router"
)

// outcome is how a statement ends.
type outcome string

const (
	answered outcome = "answered"
	hit      outcome = "hit" // by a kill
	lost     outcome = "lost"
	unsent   outcome = "not sent" // the connection was interrupted before
)

// modelConn is a connection with its states at the server, in the session and in the pool.
type modelConn struct {
	*order
	thread  uint32
	endless bool // statements on it end by a kill alone
	away    bool // the server can't receive a kill

	state   sync.Mutex
	runs    *modelStatement
	owned   bool // by the session
	pending bool // a kill arrived while nothing ran; it will hit the next statement
	down    bool // it was interrupted
	kills   int  // under way
}

type modelStatement struct {
	name    string
	read    bool // the server has begun
	outcome chan outcome
	over    chan struct{}
}

func (c *modelConn) Shard() router.ShardName { return "s0" }
func (c *modelConn) ThreadID() uint32        { return c.thread }

func (c *modelConn) Interrupt() {
	c.state.Lock()
	defer c.state.Unlock()
	if !c.owned {
		c.fault("the next borrower is interrupted")
	}
	c.down = true
	c.end(lost)
}

func (c *modelConn) Absorb(context.Context) {
	c.state.Lock()
	defer c.state.Unlock()
	if c.kills > 0 {
		c.fault("a kill is still under way")
	}
	c.pending = false
}

// KillQuery kills the running statement. A server ignores a kill of a statement that it has not begun to read.
func (c *modelConn) KillQuery(context.Context, uint32) error {
	c.count(1)
	defer c.count(-1)
	c.step("a kill arrives")
	if c.away {
		return errAway
	}
	c.arrive()
	c.step("a kill is confirmed")
	return nil
}

func (c *modelConn) count(n int) {
	c.state.Lock()
	defer c.state.Unlock()
	c.kills += n
}

func (c *modelConn) arrive() {
	c.state.Lock()
	defer c.state.Unlock()
	switch {
	case !c.owned:
		c.fault("the next borrower is killed")
	case c.runs == nil:
		c.pending = true
	case c.runs.read:
		c.end(hit)
	}
}

// busy reports whether a statement of the session runs on the connection.
func (c *modelConn) busy() bool {
	c.state.Lock()
	defer c.state.Unlock()
	return c.owned && c.runs != nil
}

// end ends the running statement. The caller holds state.
func (c *modelConn) end(how outcome) {
	if c.runs == nil {
		return
	}
	c.runs.outcome <- how
	close(c.runs.over)
	c.runs = nil
}

// exec runs a statement.
func (c *modelConn) exec(name string) outcome {
	s := &modelStatement{name: name, outcome: make(chan outcome, 1), over: make(chan struct{})}
	c.state.Lock()
	if c.down {
		c.state.Unlock()
		return unsent
	}
	c.runs = s
	c.state.Unlock()
	go c.serve(s)
	return <-s.outcome
}

// serve plays the server's part of a statement.
func (c *modelConn) serve(s *modelStatement) {
	if !c.reaches(s, "the server reads "+s.name) {
		return
	}
	c.state.Lock()
	if s.read = c.runs == s; s.read && c.pending {
		c.pending = false
		c.end(hit)
	}
	c.state.Unlock()
	if c.endless && s.name == "statement" || !c.reaches(s, "the server answers "+s.name) {
		return
	}
	c.state.Lock()
	defer c.state.Unlock()
	if c.runs == s {
		c.end(answered)
	}
}

// reaches waits for a step of the server's, unless the statement ends before.
func (c *modelConn) reaches(s *modelStatement, step string) bool {
	chosen := c.offer(step)
	select {
	case <-chosen:
		return true
	case <-s.over:
		c.withdraw(chosen)
		return false
	}
}
