package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// userHz is the unit of the times in /proc/PID/stat, the same on every Linux that Go runs on.
const userHz = 100

// cpuOf returns the user and system time of all threads of a process, including those that have ended. The
// kernel counts in steps of 10 ms.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read CPU time: %w", err)
	}
	// The command's name may hold blanks and parentheses; the fields are counted behind it.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return 0, errors.New("read CPU time: /proc/PID/stat is too short")
	}
	user, err1 := strconv.ParseInt(string(fields[utime]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[stime]), 10, 64)
	return time.Duration(user+system) * (time.Second / userHz), errors.Join(err1, err2)
}

// memory is a process's resident memory, in bytes.
type memory struct{ now, peak int64 }

// memoryOf reads both; the peak is since the start of the process or the last resetPeak.
func memoryOf(pid int) (memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, fmt.Errorf("read memory: %w", err)
	}
	now, err1 := kilobytes(string(b), "VmRSS:")
	peak, err2 := kilobytes(string(b), "VmHWM:")
	return memory{now, peak}, errors.Join(err1, err2)
}

func kilobytes(status, key string) (int64, error) {
	_, after, found := strings.Cut(status, "\n"+key)
	if !found {
		return 0, fmt.Errorf("read memory: no %s in /proc/PID/status", key)
	}
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	return n * 1024, err
}

// resetPeak restarts the measurement of the peak. It needs write access to the process's files in /proc.
func resetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("reset peak memory: %w", err)
	}
	return nil
}
