package interrupt

// Drain makes the session end with the answer to a statement after which nothing is open.
func (h *Handle) Drain() { h.set(draining) }

// Want counts a command that the client sent while the session drains.
func (h *Handle) Want() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted++
}

// Wanted returns the number of those commands.
func (h *Handle) Wanted() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wanted
}

// Dismiss ends an idle session. A session with a running command or an open transaction continues.
func (h *Handle) Dismiss() {
	if w := h.look(); w.phase() == idle && !w.has(open) {
		_ = h.client.Close()
	}
}
