package interrupt

import (
	"errors"
	"os"
	"sync"
)

// modelClient sends a command when that is chosen.
type modelClient struct {
	*fakeClient
	*order
}

func (c modelClient) Fill() error {
	chosen := c.offer("the client sends")
	defer c.withdraw(chosen)
	c.mu().Lock()
	late := c.late
	c.mu().Unlock()
	select {
	case <-c.closed:
		return errClosed
	default:
	}
	select {
	case <-chosen:
		return nil
	case <-late:
		return os.ErrDeadlineExceeded
	case <-c.closed:
		return errClosed
	}
}

func (c modelClient) mu() *sync.Mutex { return &c.fakeClient.mu }

var errClosed = errors.New("closed")
