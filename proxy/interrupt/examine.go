package interrupt

import "time"

// Allowance holds a session's time limits.
type Allowance struct {
	Statement time.Duration // time limit of a statement; 0 for none
	Idle      time.Duration // time limit between commands; 0 for none
}

// deadline is a command's deadline that the session set itself.
type deadline struct {
	command uint64
	at      time.Time
}

// sight is the state of a session at the last check.
type sight struct {
	command uint64
	phase   word
	begun   time.Time     // when the command, or the wait for the next one, was first seen
	since   time.Time     // when the phase was first seen
	again   time.Duration // time after since at which a cancellation is repeated
}

// mostInsist is the longest interval between two repetitions of a cancellation.
const mostInsist = 10 * time.Second

// Limit sets a deadline for the current command.
func (h *Handle) Limit(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = deadline{h.look().number(), at}
}

// Unlimited removes the current command's time limit, except one set by Limit.
func (h *Handle) Unlimited() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.patient = h.look().number()
}

// LimitIdle sets how long the session's client may be silent; 0 means the general limit.
func (h *Handle) LimitIdle(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idleTime = d
}

// Examine returns the reason why the current command must be cancelled, and its number. It has exceeded its time limit, its
// client has disconnected, or it was cancelled some time ago and has not ended. Only a command that was running at the last
// check is examined, so short commands cost nothing. For a session between commands Examine checks whether the client has been
// silent for too long. It returns 0 if there is no reason.
func (h *Handle) Examine(now time.Time, may Allowance) (Reason, uint64) {
	reason, number, asks := h.examine(now, may)
	if asks && h.client.PeerGone() {
		reason = ClientGone
	}
	if reason == 0 {
		return 0, 0
	}
	return reason, number
}

// examine is Examine without the check of the client, which it requests by asks.
func (h *Handle) examine(now time.Time, may Allowance) (reason Reason, number uint64, asks bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.sight()
	if first := h.seen.since.IsZero(); first || seen.command != h.seen.command || seen.phase != h.seen.phase {
		if seen.begun.IsZero() {
			seen.begun = now
		}
		seen.since = now
		h.seen = seen
		return 0, 0, false
	}
	took := now.Sub(h.seen.since)
	switch seen.phase {
	case idle:
		if h.idleTime > 0 {
			may.Idle = h.idleTime
		}
		if exceeds(took, may.Idle) {
			reason = Silent
		}
	case running:
		if exceeds(took, may.Statement) && h.patient != seen.command || h.deadline.command == seen.command && now.After(h.deadline.at) {
			reason = TimedOut
		}
		asks = reason == 0
	case cancelled:
		if took >= h.seen.again {
			h.seen.again = took + min(took, mostInsist)
			reason = h.reason
		}
	default: // a commit is left alone
	}
	return reason, seen.command, asks
}

// sight returns the session's state. A command seen at the last check keeps its start time.
func (h *Handle) sight() sight {
	w := h.look()
	seen := sight{command: w.number(), phase: w.phase()}
	if seen.command == h.seen.command && (seen.phase == idle) == (h.seen.phase == idle) {
		seen.begun = h.seen.begun
	}
	return seen
}

// Elapsed returns how long Examine has seen the current command or wait. The session itself reads no clock for a command.
func (h *Handle) Elapsed(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	begun := h.sight().begun
	if begun.IsZero() {
		return 0
	}
	return now.Sub(begun)
}

func exceeds(took, limit time.Duration) bool { return limit > 0 && took >= limit }
