package interrupt

import "time"

// Allowance is how long a session may go on with the same.
type Allowance struct {
	Statement time.Duration // that a statement runs; 0: as long as it takes
	Idle      time.Duration // between commands; 0: for ever
}

// deadline is one command's, which the session sets itself.
type deadline struct {
	command uint64
	at      time.Time
}

// sight is what is remembered of a session from look to look.
type sight struct {
	command uint64
	phase   word
	begun   time.Time     // when the command, or the wait for the next one, was first seen
	since   time.Time     // the phase
	again   time.Duration // after since: when a cancellation is repeated
}

// mostInsist is the longest between two repetitions of a cancellation.
const mostInsist = 10 * time.Second

// Limit has the command under way cancelled at a time.
func (h *Handle) Limit(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = deadline{h.look().number(), at}
}

// Unlimited has the command under way not be cancelled for its time, unless by Limit.
func (h *Handle) Unlimited() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.patient = h.look().number()
}

// LimitIdle is how long the session itself allows its client to be silent; 0: what all have.
func (h *Handle) LimitIdle(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idleTime = d
}

// Examine tells whether the command under way is to be cancelled, and its number: since it has run for longer than it may, or
// since its client is gone, or since it was cancelled some time ago and has not ended. Only a command that was already under way
// at the last look is looked at closely, so short ones cost nothing. Of a session between commands it tells whether the client
// has been silent for too long.
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

// examine is Examine up to a look at the client, which it asks for.
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
	default: // a commit is not looked at
	}
	return reason, seen.command, asks
}

// sight looks at the session. What was under way at the last look already has the time of then.
func (h *Handle) sight() sight {
	w := h.look()
	seen := sight{command: w.number(), phase: w.phase()}
	if seen.command == h.seen.command && (seen.phase == idle) == (h.seen.phase == idle) {
		seen.begun = h.seen.begun
	}
	return seen
}

// Took is for how long what is under way now has been seen by Examine: a command may end without a look at the clock.
func (h *Handle) Took(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	begun := h.sight().begun
	if begun.IsZero() {
		return 0
	}
	return now.Sub(begun)
}

func exceeds(took, limit time.Duration) bool { return limit > 0 && took >= limit }
