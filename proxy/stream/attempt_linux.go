package stream

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow make a system call without telling the scheduler, as the calls return at once: the descriptors are net's, which
// never block. Told of a call, the scheduler watches it every 20 µs and gives the processor to another thread where it takes
// longer, as a write over loopback does that wakes its reader; the threads it wakes cost more than the call.

func readNow(fd uintptr, b []byte) (int, error) { return attempt(syscall.SYS_READ, fd, b) }

func writeNow(fd uintptr, b []byte) (int, error) { return attempt(syscall.SYS_WRITE, fd, b) }

// attempt returns -1 with an error, as the system calls do. b isn't empty.
func attempt(call, fd uintptr, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EAGAIN:
		return -1, errAgain // made once: an error from a number would be allocated
	}
	return -1, errno
}

var errAgain error = syscall.EAGAIN
