//go:build unix && !linux

package stream

import (
	"errors"
	"syscall"
)

func readNow(fd uintptr, b []byte) (int, syscall.Errno) { return errnoOf(syscall.Read(int(fd), b)) }

func writeNow(fd uintptr, b []byte) (int, syscall.Errno) { return errnoOf(syscall.Write(int(fd), b)) }

// errnoOf returns the number of a system call's error, or 0 if there is none.
func errnoOf(n int, err error) (int, syscall.Errno) {
	errno, _ := errors.AsType[syscall.Errno](err)
	return n, errno
}
