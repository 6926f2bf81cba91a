package kept

import (
	"fmt"

	"locus/proxy/backend"
	"locus/router/plan"
)

// mostSettings is what SET may leave of its values in a session, in bytes, and mostAssignments how many: each SET compares all of
// them.
const (
	mostSettings    = 16 << 20
	mostAssignments = 4096
)

// Settable tells why a session can't have the settings; nil: it can.
func Settable(next *backend.Settings) error {
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

// Carriable tells why the session can't have other settings than now; nil: it can.
func (s *Share) Carriable(next *backend.Settings) error {
	if err := Settable(next); err != nil {
		return err
	}
	grows := weightOf(next) - s.settings
	if grows <= 0 {
		return nil
	}
	if err := s.Take(grows); err != nil {
		return err
	}
	s.Give(grows)
	return nil
}

// Carry counts the settings that the session has now.
func (s *Share) Carry(settings *backend.Settings) {
	n := weightOf(settings)
	s.held += n - s.settings
	s.of.give(s.settings - n)
	s.settings = n
}
