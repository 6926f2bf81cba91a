package meter

import "sync/atomic"

// Codes counts errors by MySQL's numbers. The zero value is ready; safe for concurrent
// use.
//
// Of a number that comes when mostCodes others are there, it is only known that there
// was one: a SIGNAL may give any number.
type Codes struct {
	slots  [mostCodes]atomic.Uint64 // the number in the lowest 16 bits, how many above them
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

// All gives the numbers that there were, and how often; 0 is all that had no place.
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
