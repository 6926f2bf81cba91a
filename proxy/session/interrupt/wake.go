package interrupt

import (
	"errors"
	"os"
	"time"
)

// Wake has the session look up from its wait for its client in a transaction, or from the next such wait.
func (h *Handle) Wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.woken = true
	if h.sitting {
		_ = h.client.SetReadDeadline(time.Unix(1, 0))
	}
}

// Fill waits for the client's next command, and tells whether Wake has ended that instead. What has come meanwhile is read
// first. It is the session's own.
func (h *Handle) Fill() (woken bool, err error) {
	if h.sit() {
		return true, nil
	}
	err = h.client.Fill()
	if h.stand() && errors.Is(err, os.ErrDeadlineExceeded) {
		return true, nil
	}
	return false, err
}

// sit begins the wait, unless the session was woken before.
func (h *Handle) sit() (woken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	woken, h.woken = h.woken, false
	h.sitting = !woken
	return woken
}

// stand ends it.
func (h *Handle) stand() (woken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sitting = false
	if woken, h.woken = h.woken, false; woken {
		_ = h.client.SetReadDeadline(time.Time{})
	}
	return woken
}
