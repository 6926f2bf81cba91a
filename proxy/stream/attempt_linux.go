package stream

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow make a system call without notifying the scheduler. The calls return at once, because the descriptors belong to
// package net and never block. The scheduler examines an announced call every 20 µs. If the call takes longer, it gives the processor
// to another thread. A write over loopback that wakes its reader does take longer, and waking threads costs more than the call.

func readNow(fd uintptr, b []byte) (int, syscall.Errno) { return attempt(syscall.SYS_READ, fd, b) }

func writeNow(fd uintptr, b []byte) (int, syscall.Errno) { return attempt(syscall.SYS_WRITE, fd, b) }

// attempt returns -1 and the error number on failure, as the system calls do. Each statement finds twice that there is nothing to read
// yet, so attempt creates no error value. b must not be empty.
func attempt(call, fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), errno
}
