//go:build !linux

package stream

func queued(uintptr) int { return -1 }
