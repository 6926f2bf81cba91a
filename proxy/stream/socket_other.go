//go:build !unix

package stream

// try has no way to write without waiting on this system, where a Socket is never made.
func (*Socket) try(uintptr) bool { panic("stream: no sockets of ours on this system") }
