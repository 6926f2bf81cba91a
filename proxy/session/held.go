package session

import (
	"fmt"

	"locus/proxy/backend"
	"locus/router/plan"
)

// What sessions keep from command to command is bounded, for each of them and for the
// whole process ([Memory]): prepared statements, values that came in pieces, the texts of
// PREPARE, and what SET, := and SELECT … INTO have set. Package txn bounds what is counted
// one by one: names of savepoints, named locks and temporary tables.
const (
	leastHeld = 64 << 20 // what a session may keep, in bytes; twice the longest statement, if that is more

	// mostSettings is what SET may leave of its values in a session, in bytes, and
	// mostAssignments how many: each SET compares all of them.
	mostSettings    = 16 << 20
	mostAssignments = 4096

	// mapEntry is what is kept for each thing beside its text.
	mapEntry = 512
)

// mayHold is what the session may keep.
func (s *Session) mayHold() int {
	return int(min(int64(max(leastHeld, 2*s.MaxStatement)), s.Memory.most))
}

// hold counts n bytes more that the session keeps, or says why it may not.
func (s *Session) hold(n int) error {
	if most := s.mayHold(); s.weight+n > most {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"this session would keep more than %d MiB (64 MiB, or twice proxy.max_statement) of prepared statements, their values and variables: close some, send them in smaller ones, or keep large values in a table", most>>20)}
	}
	if !s.Memory.take(n) {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"all sessions together would keep more than %d MiB (proxy.session_memory) of prepared statements, their values and variables: close some, or try again later", s.Memory.most>>20)}
	}
	s.weight += n
	return nil
}

// letGo counts n bytes less.
func (s *Session) letGo(n int) {
	s.weight -= n
	s.Memory.give(n)
}

// sizeOf is what a prepared statement keeps, its plan roughly estimated.
func sizeOf(p *prepared) int { return 3*p.lexed.Size() + mapEntry + 2*lightReading }

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
	if err := s.hold(textSize(name, text)); err != nil {
		return err
	}
	if s.texts == nil {
		s.texts = map[string]*textual{}
	}
	s.texts[name] = &textual{text, s.reading()}
	return nil
}

func textSize(name, text string) int { return len(name) + len(text) + mapEntry + 2*lightReading }

func (s *Session) forgetText(name string) {
	if t := s.texts[name]; t != nil {
		s.letGo(textSize(name, t.text))
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
			"%d variables would be set in this session, of at most %d: keep what they hold in a table", n, mostAssignments)}
	}
	if next.Size() > mostSettings {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
			"the variables that are set in this session would hold more than %d MiB: keep large values in a table", mostSettings>>20)}
	}
	return nil
}

// weightOf is what a session keeps for settings: they stand in the table of all settings
// by their text too. Those of every session are nobody's.
func weightOf(settings *backend.Settings) int {
	n := len(settings.Assignments())
	if n == 0 {
		return 0
	}
	return 2*settings.Size() + n*64
}

// carriable tells why the session can't have the settings; nil: it can.
func (s *Session) carriable(next *backend.Settings) error {
	if next == s.vars.Settings {
		return nil
	}
	if err := settable(next); err != nil {
		return err
	}
	grows := weightOf(next) - s.carried
	if grows <= 0 {
		return nil
	}
	if err := s.hold(grows); err != nil {
		return err
	}
	s.letGo(grows)
	return nil
}

// recount counts the settings that the session has now.
func (s *Session) recount() {
	n := weightOf(s.vars.Settings)
	s.weight += n - s.carried
	s.Memory.give(s.carried - n)
	s.carried = n
}
