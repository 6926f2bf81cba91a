package backend

import "container/list"

// queue holds the borrowers that wait for a connection, in order of arrival. The pool's mutex guards it.
type queue struct {
	most  int
	order list.List // list of *waiter
}

// waiter gets exactly one grant, unless it leaves the queue first.
type waiter struct {
	granted chan grant // has room for one, so that granting never blocks
	place   *list.Element
}

// grant is a borrower's next step. It uses conn, which may carry any settings. If conn and err are nil, it dials with the
// ticket, whose place is reserved.
type grant struct {
	conn   *Conn
	ticket ticket
	err    error
}

func (q *queue) len() int { return q.order.Len() }

// join returns nil if the queue is full.
func (q *queue) join() *waiter {
	if q.len() >= q.most {
		return nil
	}
	w := &waiter{granted: make(chan grant, 1)}
	w.place = q.order.PushBack(w)
	return w
}

// leave reports whether w was still waiting. If not, a grant is in its channel.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	q.order.Remove(w.place)
	w.place = nil
	return true
}

// grantFirst gives a grant to the longest waiter. The queue must not be empty.
func (q *queue) grantFirst(g grant) {
	w := q.order.Front().Value.(*waiter)
	q.leave(w)
	w.granted <- g
}
