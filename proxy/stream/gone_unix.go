//go:build unix && !linux

package stream

import "golang.org/x/sys/unix"

// hungUp peeks at the next byte. It doesn't see the end of the stream if unread bytes precede it.
func hungUp(fd uintptr) bool {
	var one [1]byte
	n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n == 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
}
