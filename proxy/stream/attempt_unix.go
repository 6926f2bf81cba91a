//go:build unix && !linux

package stream

import "syscall"

func receive(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

func send(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }
