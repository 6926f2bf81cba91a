//go:build unix && !linux

package stream

import "golang.org/x/sys/unix"

// hungUp peeks: an end behind bytes that nobody has read yet isn't seen.
func hungUp(fd uintptr) bool {
	var one [1]byte
	n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n == 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
}
