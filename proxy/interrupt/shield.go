package interrupt

// Shield prevents that the following commit is cut off. Kills of the statement before it have no effect. Only the session may
// call Shield and Unshield.
func (h *Handle) Shield() {
	if h.turn(running, finishing) || !h.Cancelled() {
		return
	}
	h.setShielded(true)
	h.absorb()
}

// Unshield ends the protection.
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
