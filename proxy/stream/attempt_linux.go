package stream

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow make a system call without telling the scheduler, as the calls return at once: the descriptors are net's, which
// never block. Told of a call, the scheduler watches it every 20 µs and gives the processor to another thread where it takes
// longer, as a write over loopback does that wakes its reader; the threads it wakes cost more than the call.

func readNow(fd uintptr, b []byte) (int, syscall.Errno) { return attempt(syscall.SYS_READ, fd, b) }

func writeNow(fd uintptr, b []byte) (int, syscall.Errno) { return attempt(syscall.SYS_WRITE, fd, b) }

// attempt returns -1 with an error's number, as the system calls do: twice in each statement that there is nothing to read yet, so no
// error is made of it, or searched. b isn't empty.
func attempt(call, fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
