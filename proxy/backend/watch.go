package backend

import (
	"context"
	"errors"
	"os"
	"time"
)

// Interrupt ends a read or write of c that blocks now or later. c is closed when it comes back. It may be called from any
// goroutine, but only while c is borrowed, since otherwise it would affect the next borrower. The server isn't notified. It
// finishes the statement unless that is killed ([Pool.KillQuery]).
func (c *Conn) Interrupt() {
	c.interrupted.Store(true)
	_ = c.stream.SetDeadline(time.Unix(1, 0))
}

// Watch interrupts c when ctx ends, until release is called. release waits for an interruption in progress. Watch starts no
// goroutine unless ctx ends.
func (c *Conn) Watch(ctx context.Context) (release func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	if ctx.Err() != nil { // done here, because a goroutine might run late
		c.Interrupt()
		return func() {}
	}
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.Interrupt()
		close(finished)
	})
	return func() {
		if !stop() {
			<-finished
		}
	}
}

// cause returns the cause of ctx's end if that end, not the network, failed a read or write.
func cause(ctx context.Context, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
