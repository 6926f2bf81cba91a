package stream

import (
	"math/bits"
	"sync"
)

// Buffer sizes in bytes, all powers of two.
const (
	waiting = 4 << 10   // while waiting for bytes, if waiting takes a buffer
	normal  = 16 << 10  // holds most commands and answers, and any TLS record, which bounds a read
	bulk    = 128 << 10 // long results and long statements
	pooled  = 1 << 20   // larger blocks are left to the garbage collector
)

// block is the memory of a buffer.
type block struct{ b []byte }

// pools holds blocks by the logarithm of their size.
var pools [21]sync.Pool

// take returns a block of at least n bytes.
func take(n int) *block {
	if n > pooled {
		return &block{b: make([]byte, n)}
	}
	class := bits.Len(uint(max(n, waiting) - 1))
	if bl, ok := pools[class].Get().(*block); ok {
		return bl
	}
	return &block{b: make([]byte, 1<<class)}
}

// release returns a block to its pool. No view of it may be in use.
func release(bl *block) {
	if n := len(bl.b); n <= pooled {
		pools[bits.Len(uint(n-1))].Put(bl)
	}
}
