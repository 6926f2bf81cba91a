package kept

import (
	"fmt"

	"locus/proxy/backend"
	"locus/router/plan"
)

// mostSettings limits the size in bytes of the values that SET leaves in a session. mostAssignments limits their number, because each SET
// compares all of them.
const (
	mostSettings    = 16 << 20
	mostAssignments = 4096
)

// Settable returns an error if the settings exceed a session's limits.
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

// weightOf returns the bytes that a session keeps for settings, including their key in the table of all settings. It returns 0 for default
// settings.
func weightOf(settings *backend.Settings) int {
	n := len(settings.Assignments())
	if n == 0 {
		return 0
	}
	return 2*settings.Size() + n*64
}

// Carriable returns an error if the session can't have the settings next. It doesn't count them.
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

// Carry counts the session's current settings.
func (s *Share) Carry(settings *backend.Settings) {
	n := weightOf(settings)
	s.held += n - s.settings
	s.of.give(s.settings - n)
	s.settings = n
}
