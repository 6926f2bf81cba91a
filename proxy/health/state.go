package health

import "slices"

// State is how a server is.
type State uint8

const (
	// Well: it answers its probes in time. So is one of which nothing is known yet.
	Well State = iota
	// ReadOnly: it does, and takes no writes.
	ReadOnly
	// Slow: it answers late, or not yet, or has only just come back.
	Slow
	// Frozen: it answers no probe, and no byte has come from it for Limits.Stall.
	Frozen
	// Away: it takes no connections, or refuses the login.
	Away
)

// States are all of them, for metrics.
var States = []State{Well, ReadOnly, Slow, Frozen, Away}

var words = [...]string{"well", "read-only", "slow", "frozen", "away"}

func (s State) String() string { return words[s] }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A state that only another version knows is Slow: not well, and not
// known to be down.
func (s *State) UnmarshalText(text []byte) error {
	*s = Slow
	if at := slices.Index(words[:], string(text)); at >= 0 {
		*s = State(at)
	}
	return nil
}

// Down tells the states in which a server can't be asked anything.
func (s State) Down() bool { return s == Frozen || s == Away }

// Finding is what came of a probe.
type Finding uint8

const (
	// Answers: the server has answered.
	Answers Finding = iota
	// Full: it has answered that it takes no more connections, so that it lives.
	Full
	// Refuses: nobody takes connections at its address, or the login is refused.
	Refuses
	// Silent: no answer came in time.
	Silent
)

// Report is one probe's.
type Report struct {
	Finding  Finding
	ReadOnly bool  // of Answers
	Err      error // of the others
}
