package session

import (
	"strconv"
	"time"
)

// Allowance is how long a session may go on with the same.
type Allowance struct {
	Statement time.Duration // that a statement runs; 0: as long as it takes
	Idle      time.Duration // between commands; 0: for ever
}

// watched is what the watcher remembers of a session from look to look.
type watched struct {
	command uint64
	phase   phase
	begun   time.Time     // when the command, or the wait for the next one, was first seen
	since   time.Time     // the phase
	again   time.Duration // after since: when a cancellation is repeated
}

// mostInsist is the longest between two repetitions of a cancellation.
const mostInsist = 10 * time.Second

// Examine tells whether the command under way is to be cancelled, and its
// number: since it has run for longer than it may, or since its client is gone, or
// since it was cancelled some time ago and has not ended.
// Only a command that was already under way at the last look is looked at
// closely, so short ones cost nothing. Of a session between commands it tells
// whether the client has been silent for too long. It is for one goroutine, the
// watcher's.
func (s *Session) Examine(now time.Time, may Allowance) (Reason, uint64) {
	seen := s.seen()
	if first := s.watched.since.IsZero(); first || seen.command != s.watched.command || seen.phase != s.watched.phase {
		if seen.begun.IsZero() {
			seen.begun = now
		}
		seen.since = now
		s.watched = seen
		return 0, 0
	}
	took := now.Sub(s.watched.since)
	switch seen.phase {
	case idle:
		if exceeds(took, s.idleLimit(may.Idle)) {
			return Silent, seen.command
		}
	case running:
		switch {
		case exceeds(took, may.Statement), s.expired(seen.command, now):
			return TimedOut, seen.command
		case s.client.PeerGone():
			return ClientGone, seen.command
		}
	case cancelled:
		if took >= s.watched.again {
			s.watched.again = took + min(took, mostInsist)
			return s.interruptedBy(), seen.command
		}
	}
	return 0, 0
}

// seen looks at the session. What was under way at the last look already has the
// time of then.
func (s *Session) seen() watched {
	seen := watched{command: s.served.Load(), phase: s.phase.Load()}
	if seen.command == s.watched.command && (seen.phase == idle) == (s.watched.phase == idle) {
		seen.begun = s.watched.begun
	}
	return seen
}

// seenFor is for how many seconds the watcher has seen what is under way now.
func (s *Session) seenFor(now time.Time) int {
	begun := s.seen().begun
	if begun.IsZero() {
		return 0
	}
	return int(now.Sub(begun).Seconds())
}

func exceeds(took, limit time.Duration) bool { return limit > 0 && took >= limit }

// idleLimit is the session's own wait_timeout, or what all have.
func (s *Session) idleLimit(all time.Duration) time.Duration {
	if own := s.waitTimeout.Load(); own > 0 {
		return time.Duration(own)
	}
	return all
}

// waitTimeout reads a value of wait_timeout, in seconds; 0 stands for what all
// have.
func waitTimeout(literal string) time.Duration {
	n, err := strconv.ParseUint(literal, 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(max(n, 1)) * time.Second
}
