package kept

import (
	"fmt"

	"locus/router/plan"
)

// least is what a session may keep, in bytes: twice the longest statement, if that is more.
const least = 64 << 20

// mapEntry is what is kept for each thing beside its text.
const mapEntry = 512

// Share is what one session keeps of the memory of all. It belongs to the session's goroutine.
type Share struct {
	of       *Memory
	most     int
	held     int
	settings int // of which for the settings
}

// NewShare makes one that holds nothing yet, for a session whose commands have up to longest bytes.
func NewShare(of *Memory, longest int) *Share {
	return &Share{of: of, most: int(min(int64(max(least, 2*longest)), of.most))}
}

// Take counts n bytes more that the session keeps, or says why it may not.
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

// Held is what the session keeps now.
func (s *Share) Held() int { return s.held }

// End gives back whatever the session keeps.
func (s *Share) End() { s.Give(s.held) }
