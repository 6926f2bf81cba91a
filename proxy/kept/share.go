package kept

import (
	"fmt"

	"locus/router/plan"
)

// least is how many bytes a session may keep, unless twice its longest statement is more.
const least = 64 << 20

// mapEntry is the size in bytes that is counted for an entry in addition to its text.
const mapEntry = 512

// Share is one session's part of the common budget. Only the session's goroutine uses it.
type Share struct {
	of       *Memory
	most     int
	held     int
	settings int // the part of held for settings
}

// NewShare returns an empty share for a session whose commands have at most longest bytes.
func NewShare(of *Memory, longest int) *Share {
	return &Share{of: of, most: int(min(int64(max(least, 2*longest)), of.most))}
}

// Take counts n more bytes, or returns an error if the session may not keep them.
func (s *Share) Take(n int) error {
	if s.held+n > s.most {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"this session would keep more than %d MiB (64 MiB, or twice proxy.max_statement) of prepared statements, their values and variables: close some, send them in smaller ones, or keep large values in a table", s.most>>20)}
	}
	if !s.of.take(n) {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"all sessions together would keep more than %d MiB (proxy.session_memory) of prepared statements, their values and variables: close some, or try again later", s.of.most>>20)}
	}
	s.held += n
	return nil
}

// Give counts n bytes less.
func (s *Share) Give(n int) {
	s.held -= n
	s.of.give(n)
}

// Held returns the bytes that the session keeps.
func (s *Share) Held() int { return s.held }

// End releases everything that the session keeps.
func (s *Share) End() { s.Give(s.held) }
