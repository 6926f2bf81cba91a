package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const connectingClients = 16

// connectsRow measures how fast clients can log in and disconnect.
func connectsRow() row {
	const name = "connects"
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		via := s.locus(0, stamped)
		done, cpu, err := s.connects(ctx, via)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		perSecond := float64(done) / s.length.Seconds()
		each := cpu.Seconds() * 1000 / float64(max(1, done))
		r.figures = append(r.figures, figure{
			name: name + " per second", value: single(perSecond), judged: perSecond, bound: bound{atLeast, 1000, 1000},
			detail: fmt.Sprintf("%d clients that log in, without TLS, and leave; they share the machine", connectingClients),
		}, figure{
			name: name + ": CPU each", value: single(each), judged: each, unit: "ms", digits: 3, bound: bound{atMost, 1, 0.5},
			detail: "of the proxy, by the kernel's accounting",
		})
		return nil
	}}
}

// connects counts the logins of a round, and the CPU that the hop took for them.
func (s *stand) connects(ctx context.Context, via lane) (done int64, cpu time.Duration, err error) {
	before, err := cpuOf(via.pid)
	if err != nil {
		return 0, 0, err
	}
	// without a deadline: a dialer times out by itself, a moment before the context reports its end
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer time.AfterFunc(s.length, cancel).Stop()
	var count atomic.Int64
	var all sync.WaitGroup
	failures := make([]error, connectingClients)
	for i := range failures {
		all.Go(func() { failures[i] = connectUntil(until, via.at[0], &count) })
	}
	all.Wait()
	after, err := cpuOf(via.pid)
	return count.Load(), after - before, errors.Join(append(failures, err)...)
}

// connectUntil logs in and leaves until the time is over, and counts how often it was let in.
func connectUntil(ctx context.Context, at endpoint, count *atomic.Int64) error {
	for {
		c, err := login(ctx, at, false)
		if ctx.Err() != nil {
			if c != nil {
				_ = c.Close()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.Quit(); err != nil {
			return err
		}
		count.Add(1)
	}
}
