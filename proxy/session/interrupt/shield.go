package interrupt

// Shield keeps what comes, a commit, from being cut off. Kills that were meant for the statement before it hit nothing. It is the
// session's own, as Unshield is.
func (h *Handle) Shield() {
	if h.turn(running, finishing) || !h.Cancelled() {
		return
	}
	h.setShielded(true)
	h.absorb()
}

// Unshield ends that.
func (h *Handle) Unshield() {
	if !h.turn(finishing, running) {
		h.setShielded(false)
	}
}

func (h *Handle) setShielded(shielded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shielded = shielded
}
