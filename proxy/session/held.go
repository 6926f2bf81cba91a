package session

import (
	"fmt"
	"sync/atomic"

	"locus/proxy/backend"
	"locus/router/plan"
)

// What sessions keep from command to command is bounded, for each of them and for the
// whole process: prepared statements, values that came in pieces, the texts of PREPARE,
// and what SET has set.
const (
	leastHeld     = 64 << 20 // what a session may keep, in bytes; twice the longest statement, if that is more
	mostHeldByAll = 1 << 30

	// mostSettings is what SET may leave of its values in a session, in bytes, and
	// mostAssignments how many: each SET compares all of them.
	mostSettings    = 16 << 20
	mostAssignments = 4096
)

// heldByAll is what all sessions of the process keep, in bytes.
var heldByAll atomic.Int64

// hold counts n bytes more that the session keeps, or says why it may not.
func (s *Session) hold(n int) error {
	most := max(leastHeld, 2*s.MaxStatement)
	if s.weight+n > most {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"this session would keep more than %d MiB of prepared statements and their values: close some, or send them in smaller ones", most>>20)}
	}
	if heldByAll.Add(int64(n)) > mostHeldByAll {
		heldByAll.Add(-int64(n))
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"all sessions together would keep more than %d MiB of prepared statements and their values: close some, or try again later", mostHeldByAll>>20)}
	}
	s.weight += n
	return nil
}

// letGo counts n bytes less.
func (s *Session) letGo(n int) {
	s.weight -= n
	heldByAll.Add(-int64(n))
}

// sizeOf is what a prepared statement keeps, its plan roughly estimated.
func sizeOf(p *prepared) int { return 3 * p.lexed.Size() }

func (s *Session) holdPrepared(p *prepared) error {
	n := sizeOf(p)
	if err := s.hold(n); err != nil {
		return err
	}
	p.held = n
	return nil
}

// holdText keeps a text of PREPARE under a name.
func (s *Session) holdText(name, text string) error {
	if err := s.hold(len(text)); err != nil {
		return err
	}
	if s.texts == nil {
		s.texts = map[string]*textual{}
	}
	s.texts[name] = &textual{text, s.reading()}
	return nil
}

func (s *Session) forgetText(name string) {
	if t := s.texts[name]; t != nil {
		s.letGo(len(t.text))
		delete(s.texts, name)
	}
}

func (s *Session) forgetTexts() {
	for name := range s.texts {
		s.forgetText(name)
	}
}

// sliceSize is what one more value costs that is still empty.
const sliceSize = 24

// forgetLong drops the values that came in pieces.
func (s *Session) forgetLong(p *prepared) {
	if p.longHeld == 0 && p.tooLong == nil {
		return
	}
	s.letGo(p.longHeld)
	p.long, p.longHeld, p.tooLong = nil, 0, nil
}

// settable tells why a session can't have the settings; nil: it can.
func settable(next *backend.Settings) error {
	if n := len(next.Assignments()); n > mostAssignments {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"%d variables are set in this session, of at most %d: keep what they hold in a table", n, mostAssignments)}
	}
	if next.Size() > mostSettings {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"the variables that are set in this session hold more than %d MiB: keep large values in a table", mostSettings>>20)}
	}
	return nil
}
