package interrupt

import (
	"errors"
	"os"
	"time"
)

// Wake ends the session's current or next wait for its client within a transaction.
func (h *Handle) Wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.woken = true
	if h.sitting {
		_ = h.client.SetReadDeadline(time.Unix(1, 0))
	}
}

// Fill waits for the client's next command. It returns true if Wake ended the wait. Bytes that arrived meanwhile are read
// first. Only the session may call it.
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

// stand ends the wait for the client's next command.
func (h *Handle) stand() (woken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sitting = false
	if woken, h.woken = h.woken, false; woken {
		_ = h.client.SetReadDeadline(time.Time{})
	}
	return woken
}
