package interrupt

// word is what statements look at: which command is under way and how far it is, and what others want of the session.
//
//	| command (56) | unused (2) | open | killed | ending | draining | phase (2) |
type word uint64

const (
	phases   word = 3      // the bits of the phase
	draining word = 1 << 2 // the session ends when nothing is under way and its client has an answer
	ending   word = 1 << 3 // it ends before its next command, unless a transaction is open
	killed   word = 1 << 4 // amid a transaction too
	open     word = 1 << 5 // a transaction is, between commands
	command  word = 1 << 8 // one command
)

// The phases of a session.
const (
	// idle: no command is under way.
	idle word = iota
	// running: it may be cancelled.
	running
	// finishing: what it does now would leave its effect unknown if it were cut off, a commit.
	finishing
	// cancelled: somebody wants it to end.
	cancelled
)

func (w word) phase() word     { return w & phases }
func (w word) has(f word) bool { return w&f != 0 }

// number is that of the command under way, or of the last one. The first is 1.
func (w word) number() uint64 { return uint64(w / command) }

// Command gives the number of the command under way, or of the last one; busy says that one is under way.
func (h *Handle) Command() (number uint64, busy bool) {
	w := h.look()
	return w.number(), w.phase() != idle
}

func (h *Handle) look() word { return word(h.word.Load()) }

// set sets flags.
func (h *Handle) set(flags word) { h.word.Or(uint64(flags)) }

// rest ends the command, and gives what the word was.
func (h *Handle) rest(flags word) word {
	for {
		w := h.look()
		if h.word.CompareAndSwap(uint64(w), uint64(w&^(phases|open)|flags)) {
			return w
		}
	}
}

// turn goes from one phase to another, of whatever command is under way, and tells whether the session was in the first. Others
// set flags and cancel meanwhile.
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
