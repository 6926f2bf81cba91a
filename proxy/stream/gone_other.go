//go:build !unix

package stream

func hungUp(uintptr) bool { return false }
