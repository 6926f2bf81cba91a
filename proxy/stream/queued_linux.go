package stream

import "golang.org/x/sys/unix"

// queued returns the number of bytes that the system has accepted and the peer has not taken yet; negative if that is unknown.
func queued(fd uintptr) int {
	n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	if err != nil {
		return -1
	}
	return n
}
