package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// warmUp is the time for which a lane runs before each measurement.
const warmUp = 200 * time.Millisecond

// lane is one way to the rows.
type lane struct {
	name     string
	at       []endpoint // if there are several, each client queries all of them at once
	pid      int        // the hop's process; 0: there is none
	spelling spelling
}

const (
	viaDirect  = "direct"
	viaHaproxy = "haproxy"
	viaLocus   = "locus"
)

// lanes returns the three lanes to the first shard.
func (s *stand) lanes() []lane {
	h := s.shards[0].endpoint()
	h.addr = s.haproxy.addr
	return []lane{
		{viaDirect, []endpoint{s.shards[0].endpoint()}, 0, full},
		{viaHaproxy, []endpoint{h}, s.haproxy.pid(), full},
		s.locus(0, stamped),
	}
}

// locus returns the lane through the i-th proxy.
func (s *stand) locus(i int, sp spelling) lane {
	return lane{viaLocus, []endpoint{s.ready.proxy(i)}, s.ready.Proxies[i].PID, sp}
}

// sample is the result of one lane in one round.
type sample struct {
	statements float64       // per second
	bytes      float64       // per second
	cpu        time.Duration // CPU time of the hop, per statement
	clientCPU  time.Duration // CPU time of the load client, per statement
	p50, p99   time.Duration // of iterations
}

// series are a lane's samples, round by round.
type series struct {
	lane    string
	samples []sample
}

// test is the workload that all lanes run.
type test struct {
	clients  int
	protocol protocol
	script   func(spelling) scripting
}

// compare measures the lanes in alternation. Each round begins with another lane.
func (s *stand) compare(ctx context.Context, t test, lanes []lane) ([]series, error) {
	loads := make([]*load, len(lanes))
	result := make([]series, len(lanes))
	for i, via := range lanes {
		l, err := newLoad(ctx, t.clients, via.at, t.script(via.spelling), t.protocol, s.deprecateEOF)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", via.name, err)
		}
		defer l.close()
		loads[i], result[i].lane = l, via.name
	}
	for round := range s.rounds {
		for i := range lanes {
			i = (i + round) % len(lanes)
			one, err := measure(ctx, loads[i], lanes[i].pid, s.length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", lanes[i].name, err)
			}
			result[i].samples = append(result[i].samples, one)
		}
	}
	return result, nil
}

// measure runs a load, first for the warm-up, and measures its cost.
func measure(ctx context.Context, l *load, pid int, length time.Duration) (sample, error) {
	if _, err := l.run(ctx, min(warmUp, length)); err != nil {
		return sample{}, err
	}
	var t tally
	cost, own, err := cpuDuring(pid, func() (err error) { t, err = l.run(ctx, length); return err })
	if err != nil {
		return sample{}, err
	}
	slices.Sort(t.latencies)
	return sample{
		statements: float64(t.statements) / t.elapsed.Seconds(),
		bytes:      float64(t.bytes) / t.elapsed.Seconds(),
		cpu:        cost / time.Duration(t.statements),
		clientCPU:  own / time.Duration(t.statements),
		p50:        quantile(t.latencies, 0.50),
		p99:        quantile(t.latencies, 0.99),
	}, nil
}

// cpuDuring returns the CPU time that a process and this one used while f ran. For process 0 it is 0.
func cpuDuring(pid int, f func() error) (cost, own time.Duration, err error) {
	hop, err := cpuOrNone(pid)
	if err != nil {
		return 0, 0, err
	}
	self, err := cpuOf(os.Getpid())
	if err != nil {
		return 0, 0, err
	}
	if err := f(); err != nil {
		return 0, 0, err
	}
	hopAfter, err := cpuOrNone(pid)
	if err != nil {
		return 0, 0, err
	}
	selfAfter, err := cpuOf(os.Getpid())
	return hopAfter - hop, selfAfter - self, err
}

func cpuOrNone(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	return cpuOf(pid)
}
