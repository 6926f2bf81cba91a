package interrupt

// Drain has the session end with the answer to a statement that leaves nothing under way.
func (h *Handle) Drain() { h.set(draining) }

// Want counts a command that its client wants while it drains.
func (h *Handle) Want() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted++
}

// Wanted is how many those are.
func (h *Handle) Wanted() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wanted
}

// Dismiss ends a session whose client wants nothing: one with a command under way or a transaction goes on.
func (h *Handle) Dismiss() {
	if w := h.look(); w.phase() == idle && !w.has(open) {
		_ = h.client.Close()
	}
}
