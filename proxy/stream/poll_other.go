//go:build !unix

package stream

// poller is unused on this system, which can't wait for a socket without a buffer.
type poller struct{}

func newPoller(*Socket, *Conn) *poller { return nil }

func (*poller) read() (int, error) { panic("stream: no poller on this system") }
