//go:build unix

package stream

import (
	"os"
	"syscall"
)

// try writes without waiting. It returns false if it must be called again.
func (s *Socket) try(fd uintptr) bool {
	for len(s.pushing) > 0 {
		n, errno := writeNow(fd, s.pushing)
		switch errno {
		case 0:
			s.pushing = s.pushing[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			s.arm(fd)
			return false
		default:
			s.pushErr = os.NewSyscallError("write", errno)
			return true
		}
	}
	return true
}
