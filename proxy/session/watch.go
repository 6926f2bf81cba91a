package session

import "time"

// watched is what the watcher remembers of a session from look to look.
type watched struct {
	command uint64
	since   time.Time
}

// Examine tells whether the command under way is to be cancelled, and its
// number: since it has run for longer than most (0: no limit) or than the session
// itself allows, or since its client is gone. Only a command that was already
// under way at the last look is looked at closely, so short ones cost nothing. It
// is for one goroutine, the watcher's.
func (s *Session) Examine(now time.Time, most func(user string) time.Duration) (Reason, uint64) {
	if s.phase.Load() != running {
		return 0, 0
	}
	command := s.served.Load()
	if command != s.watched.command {
		s.watched = watched{command, now}
		return 0, 0
	}
	if limit := most(s.User()); limit > 0 && now.Sub(s.watched.since) >= limit || s.expired(command, now) {
		return TimedOut, command
	}
	if s.client.PeerGone() {
		return ClientGone, command
	}
	return 0, 0
}
