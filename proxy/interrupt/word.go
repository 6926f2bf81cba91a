package interrupt

// word is the state that statements check: the current command, its phase, and requests from other goroutines.
//
//	| command (56) | unused (2) | open | killed | ending | draining | phase (2) |
type word uint64

const (
	phases   word = 3      // mask of the phase
	draining word = 1 << 2 // the session ends once nothing is open and its client has an answer
	ending   word = 1 << 3 // the session ends before its next command, unless a transaction is open
	killed   word = 1 << 4 // the session ends within a transaction too
	open     word = 1 << 5 // a transaction is open, between commands
	command  word = 1 << 8 // one command
)

// Phases of a session.
const (
	// idle: no command is running.
	idle word = iota
	// running: the command may be cancelled.
	running
	// finishing: a commit or the like, whose effect would be unknown if it were cut off.
	finishing
	// cancelled: the command must end.
	cancelled
)

func (w word) phase() word     { return w & phases }
func (w word) has(f word) bool { return w&f != 0 }

// number returns the number of the current or last command. The first is 1.
func (w word) number() uint64 { return uint64(w / command) }

// Command returns the number of the current or last command. busy reports whether one is running.
func (h *Handle) Command() (number uint64, busy bool) {
	w := h.look()
	return w.number(), w.phase() != idle
}

func (h *Handle) look() word { return word(h.word.Load()) }

// set sets flags.
func (h *Handle) set(flags word) { h.word.Or(uint64(flags)) }

// rest ends the command and returns the previous word.
func (h *Handle) rest(flags word) word {
	for {
		w := h.look()
		if h.word.CompareAndSwap(uint64(w), uint64(w&^(phases|open)|flags)) {
			return w
		}
	}
}

// turn changes the phase of the current command from one to another. It returns whether the session was in the first. Other
// goroutines may set flags and cancel concurrently.
func (h *Handle) turn(from, to word) bool {
	for {
		w := h.look()
		if w.phase() != from {
			return false
		}
		if h.word.CompareAndSwap(uint64(w), uint64(w-from+to)) {
			return true
		}
	}
}
