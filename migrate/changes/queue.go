package changes

import (
	"context"
	"sync"

	"github.com/go-mysql-org/go-mysql/replication"
)

// queue holds the part of the log that was read in advance, bounded in bytes. One event is admitted regardless of its size.
type queue struct {
	mu     sync.Mutex
	events []*replication.BinlogEvent
	bytes  int
	limit  int
	err    error         // returned once the queue is empty
	more   chan struct{} // capacity 1; signals the reader
	room   chan struct{} // capacity 1; signals the writer
	closed chan struct{}
}

func newQueue(limit int) *queue {
	return &queue{limit: limit, more: make(chan struct{}, 1), room: make(chan struct{}, 1), closed: make(chan struct{})}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// HandleEvent waits for room. go-mysql calls it with each event.
func (q *queue) HandleEvent(e *replication.BinlogEvent) error {
	e.RawData = nil // the event's values are slices of RawData, or copies
	for {
		q.mu.Lock()
		if q.bytes == 0 || q.bytes+int(e.Header.EventSize) <= q.limit {
			q.events = append(q.events, e)
			q.bytes += int(e.Header.EventSize)
			q.mu.Unlock()
			signal(q.more)
			return nil
		}
		q.mu.Unlock()
		select {
		case <-q.room:
		case <-q.closed:
			return ErrClosed
		}
	}
}

// take waits for the next event. It returns nil if woken.
func (q *queue) take(ctx context.Context, woken <-chan struct{}) (*replication.BinlogEvent, error) {
	for {
		if e, err := q.pop(); e != nil || err != nil {
			return e, err
		}
		select {
		case <-q.more:
		case <-woken:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *queue) pop() (*replication.BinlogEvent, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		return nil, q.err
	}
	e := q.events[0]
	q.events[0] = nil
	q.events = q.events[1:]
	q.bytes -= int(e.Header.EventSize)
	signal(q.room)
	return e, nil
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events) == 0
}

// end makes take return err after the last event.
func (q *queue) end(err error) {
	q.mu.Lock()
	q.err = err
	q.mu.Unlock()
	signal(q.more)
}
