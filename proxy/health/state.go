package health

import "slices"

// State is the state of a server.
type State uint8

const (
	// Well: the server answers its probes in time, or nothing is known yet.
	Well State = iota
	// ReadOnly: it answers in time but accepts no writes.
	ReadOnly
	// Slow: it answers late, has not answered yet, or has just come back.
	Slow
	// Frozen: it answers no probe, and has sent nothing for Watch.Stall.
	Frozen
	// Away: it refuses connections or the login.
	Away
)

// States lists all states, for metrics.
var States = []State{Well, ReadOnly, Slow, Frozen, Away}

var words = [...]string{"well", "read-only", "slow", "frozen", "away"}

func (s State) String() string { return words[s] }

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A state known only to another version becomes Slow: neither well
// nor known to be down.
func (s *State) UnmarshalText(text []byte) error {
	*s = Slow
	if at := slices.Index(words[:], string(text)); at >= 0 {
		*s = State(at)
	}
	return nil
}

// Down reports whether the server can't be queried.
func (s State) Down() bool { return s == Frozen || s == Away }

// Finding is the result of a probe.
type Finding uint8

const (
	// Answers: the server answered.
	Answers Finding = iota
	// Full: the server has too many connections, so it is alive.
	Full
	// Refuses: nothing listens at its address, or it refused the login.
	Refuses
	// Silent: no answer arrived in time.
	Silent
)

// Report is the report of one probe.
type Report struct {
	Finding  Finding
	ReadOnly bool  // for Answers
	Err      error // for the others
}
