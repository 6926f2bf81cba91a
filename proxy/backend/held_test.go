package backend

import (
	"runtime"
	"testing"
	"weak"
)

// The pool keeps no reference to a closed connection, because the connection can hold what a client has set: in
// the worst case, megabytes of user variables.
func TestAPoolLetsGoOfClosedConnections(t *testing.T) {
	p, _, _ := fakePool(t, Limits{MaxIdle: 2})
	var gone []weak.Pointer[Conn]
	conns := borrowMany(t, p, 3)
	for _, c := range conns {
		gone = append(gone, weak.Make(c))
		p.Return(c) // the third finds no place
	}
	for range 2 {
		p.Discard(borrow(t, p, Default, 0))
	}
	clear(conns)
	for range 10 {
		runtime.GC()
	}
	for i, c := range gone {
		if c.Value() != nil {
			t.Errorf("connection %d is closed and still held", i)
		}
	}
	runtime.KeepAlive(p)
}
