package meter

import "sync/atomic"

// Codes counts errors by MySQL's error codes. The zero value is ready. It is safe for concurrent use.
//
// Once it counts mostCodes codes, it counts all further codes together, because a SIGNAL may raise any code.
type Codes struct {
	slots  [mostCodes]atomic.Uint64 // the code in the lowest 16 bits, its count above them
	others atomic.Uint64
}

const (
	mostCodes = 256
	codeBits  = 16
)

// Add counts an error.
func (c *Codes) Add(code uint16) {
	for i := range uint(mostCodes) {
		s := &c.slots[(uint(code)+i)%mostCodes]
		v := s.Load()
		if v == 0 && s.CompareAndSwap(0, uint64(code)|1<<codeBits) {
			return
		}
		if uint16(s.Load()) == code {
			s.Add(1 << codeBits)
			return
		}
	}
	c.others.Add(1)
}

// All yields the codes with their counts. Code 0 stands for all errors without a slot.
func (c *Codes) All(yield func(code uint16, n uint64) bool) {
	for i := range c.slots {
		if v := c.slots[i].Load(); v != 0 && !yield(uint16(v), v>>codeBits) {
			return
		}
	}
	if n := c.others.Load(); n > 0 {
		yield(0, n)
	}
}
