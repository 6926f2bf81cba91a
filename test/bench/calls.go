package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tracePatience is how long strace may take to attach to all threads of a process.
const tracePatience = 10 * time.Second

// mostCalls is the number of system calls that a figure lists.
const mostCalls = 6

// calls contains the number of calls of a system call, and of those that failed.
type calls struct {
	name          string
	total, failed int
}

// callsRow counts the system calls of the hops for each statement. strace slows a process down, so that fewer calls find nothing to do
// than without it. The counts are compared with those of another hop under strace, not with its time.
func callsRow(kind statementKind, clients int) row {
	name := fmt.Sprintf("system calls, %s, %s, %d clients", kind.name, text, clients)
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		if _, err := exec.LookPath("strace"); err != nil {
			fmt.Fprintln(s.out, "  not counted, because strace is missing: apt-get install strace")
			return nil
		}
		var perStatement []float64
		var details []string
		for _, via := range s.lanes() {
			if via.pid == 0 {
				continue
			}
			counted, statements, err := s.countCalls(ctx, test{clients, text, func(sp spelling) scripting { return kind.script(s, sp) }}, via)
			if err != nil {
				return fmt.Errorf("%s: %w", via.name, err)
			}
			sum := 0
			for _, c := range counted {
				sum += c.total
			}
			perStatement = append(perStatement, float64(sum)/statements)
			details = append(details, fmt.Sprintf("%s %.1f: %s", via.name, float64(sum)/statements, describeCalls(counted, statements)))
		}
		ratio := perStatement[1] / perStatement[0]
		r.figures = append(r.figures, figure{
			name: name + ": locus ÷ haproxy", value: single(ratio), judged: ratio, bound: bound{atMost, 2, 1}, digits: 2,
			detail: strings.Join(details, "; "), of: ofCalls,
		})
		return nil
	}}
}

// describeCalls lists the most frequent system calls for each statement.
func describeCalls(counted []calls, statements float64) string {
	var list []string
	for _, c := range counted[:min(mostCalls, len(counted))] {
		one := fmt.Sprintf("%s %.2f", c.name, float64(c.total)/statements)
		if share := float64(c.failed) / statements; share >= 0.005 {
			one += fmt.Sprintf(" (%.2f in vain)", share)
		}
		list = append(list, one)
	}
	return strings.Join(list, ", ")
}

// countCalls runs a load on a hop while strace counts the hop's system calls.
func (s *stand) countCalls(ctx context.Context, t test, via lane) (counted []calls, statements float64, err error) {
	l, err := newLoad(ctx, t.clients, via.at, t.script(via.spelling), t.protocol, s.deprecateEOF)
	if err != nil {
		return nil, 0, err
	}
	defer l.close()
	if _, err := l.run(ctx, warmUp); err != nil {
		return nil, 0, err
	}
	dir, err := os.MkdirTemp("", "locus-bench-calls-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	table := filepath.Join(dir, "calls")
	tracer, err := startChild(exec.Command("strace", "-c", "-f", "-q", "-o", table, "-p", strconv.Itoa(via.pid)), filepath.Join(dir, "log"))
	if err != nil {
		return nil, 0, err
	}
	defer tracer.stop(tracePatience)
	if err := tracer.until(ctx, tracePatience, func() error { return traced(via.pid) }); err != nil {
		return nil, 0, err
	}
	ran, err := l.run(ctx, s.length)
	if err != nil {
		return nil, 0, err
	}
	_ = tracer.cmd.Process.Signal(syscall.SIGINT) // strace detaches, and writes the table
	select {
	case <-tracer.done:
	case <-time.After(tracePatience):
		return nil, 0, errors.New("strace does not end")
	}
	written, err := os.ReadFile(table)
	if err != nil {
		return nil, 0, err
	}
	counted, err = parseCalls(string(written))
	return counted, float64(ran.statements), err
}

// traced returns an error until all threads of a process are traced.
func traced(pid int) error {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return err
	}
	if len(threads) == 0 {
		return fmt.Errorf("process %d has no threads", pid)
	}
	for _, path := range threads {
		status, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended
		}
		if err != nil {
			return err
		}
		if strings.Contains(string(status), "\nTracerPid:\t0\n") {
			return fmt.Errorf("%s is not traced", path)
		}
	}
	return nil
}

// parseCalls reads the table of strace -c. The most frequent call is the first.
func parseCalls(table string) (list []calls, err error) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[len(fields)-1] == "total" {
			continue
		}
		total, err := strconv.Atoi(fields[3])
		if err != nil {
			continue // a heading or a rule
		}
		c := calls{name: fields[len(fields)-1], total: total}
		if len(fields) == 6 {
			if c.failed, err = strconv.Atoi(fields[4]); err != nil {
				return nil, fmt.Errorf("read strace's table: %q: %w", line, err)
			}
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("strace has counted no system calls: %q", table)
	}
	slices.SortFunc(list, func(a, b calls) int { return b.total - a.total })
	return list, nil
}
