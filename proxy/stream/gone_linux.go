package stream

import "golang.org/x/sys/unix"

// hungUp asks the system without waiting. POLLRDHUP reports the end of the stream even if unread bytes precede it.
func hungUp(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}
