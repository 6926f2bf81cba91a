package interrupt

// Shield protects what follows, a commit, from being cut off. Kills meant for the statement before it have no effect. Only the
// session may call it and Unshield.
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
