package stream

import "golang.org/x/sys/unix"

// cork has no effect on a Unix socket, which has no segments.
func cork(fd uintptr, on int) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, on) }
