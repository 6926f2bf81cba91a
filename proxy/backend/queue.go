package backend

import "container/list"

// queue holds those that wait for a connection, the first come first. The pool's mutex guards it.
type queue struct {
	most  int
	order list.List // of *waiter
}

// waiter gets exactly one grant, unless it leaves the queue first.
type waiter struct {
	granted chan grant // room for one, so that granting never blocks
	place   *list.Element
}

// grant is what a borrower may do next: use a connection that may carry anything, or, if there's none and no error, dial in
// a place that was taken for it.
type grant struct {
	conn   *Conn
	ticket ticket
	err    error
}

func (q *queue) len() int { return q.order.Len() }

// join gives nil if the queue is full.
func (q *queue) join() *waiter {
	if q.len() >= q.most {
		return nil
	}
	w := &waiter{granted: make(chan grant, 1)}
	w.place = q.order.PushBack(w)
	return w
}

// leave reports whether w was still waiting; if not, a grant is in its channel.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	q.order.Remove(w.place)
	w.place = nil
	return true
}

// grantFirst hands something to the one that waits longest. The queue isn't empty.
func (q *queue) grantFirst(g grant) {
	w := q.order.Front().Value.(*waiter)
	q.leave(w)
	w.granted <- g
}
