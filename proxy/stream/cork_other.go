//go:build !linux

package stream

func cork(uintptr, int) {}
