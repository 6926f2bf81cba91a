package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"golang.org/x/sys/unix"
)

const (
	settle           = 2 * time.Second // time for a hop to free the memory that logins used
	spareDescriptors = 256             // file descriptors for this process in addition to the idle clients
	settlingClients  = 10
)

// idleRow weighs a proxy that carried no load with clients that have logged in, read one row and now do nothing.
func idleRow(wanted int) row {
	name := fmt.Sprintf("%d idle clients", wanted)
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		n, note := allowed(wanted)
		via := s.locus(s.ready.spareProxy(1), stamped)
		each, backends, err := s.idle(ctx, via, n)
		if err != nil {
			return err
		}
		r.figures = append(r.figures, figure{
			name: name + ": memory each", value: single(each / 1024), judged: each / 1024, unit: "KiB", digits: 1,
			bound: bound{atMost, 16, 8}, detail: note,
		}, figure{
			name: name + ": backend connections", value: single(backends), judged: backends, bound: bound{atMost, 100, 100},
			detail: "more at the shards than before, after one statement each at once",
		})
		return nil
	}}
}

// allowed returns how many clients the limit of open files permits.
func allowed(wanted int) (n int, note string) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return wanted, ""
	}
	room := int(min(limit.Cur, 1<<20)) - spareDescriptors
	if room >= wanted {
		return wanted, ""
	}
	return max(1, room), fmt.Sprintf("with %d clients, all that the limit of open files allows", room)
}

// idle returns the growth in bytes per client, and by how many connections to the shards it came.
func (s *stand) idle(ctx context.Context, via lane, n int) (each, backends float64, err error) {
	script := readScript(selectByBuyer())(s, via.spelling)
	first, err := s.visit(ctx, via, settlingClients, script)
	if err != nil {
		return 0, 0, err
	}
	defer first.close()
	connected, err := s.connections(ctx)
	if err != nil {
		return 0, 0, err
	}
	before, err := memoryOf(via.pid)
	if err != nil {
		return 0, 0, err
	}
	all, err := s.visit(ctx, via, n, script)
	if err != nil {
		return 0, 0, err
	}
	defer all.close()
	after, err := memoryOf(via.pid)
	if err != nil {
		return 0, 0, err
	}
	connectedAfter, err := s.connections(ctx)
	return float64(after.now-before.now) / float64(n), connectedAfter - connected, err
}

// visit lets n clients log in and read one row each, and waits until the hop's memory has settled.
func (s *stand) visit(ctx context.Context, via lane, n int, sc scripting) (*load, error) {
	l, err := newLoad(ctx, n, via.at, sc, text, s.deprecateEOF)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", via.name, err)
	}
	if _, err := l.run(ctx, 0); err != nil {
		l.close()
		return nil, fmt.Errorf("%s: %w", via.name, err)
	}
	select {
	case <-time.After(settle):
		return l, nil
	case <-ctx.Done():
		l.close()
		return nil, context.Cause(ctx)
	}
}

// connections returns the number of connections to all shards.
func (s *stand) connections(ctx context.Context) (sum float64, err error) {
	for _, shard := range s.shards {
		err := s.onShard(ctx, shard, func(_ context.Context, c *client.Conn) error {
			r, err := c.Execute("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
			if err != nil {
				return err
			}
			n, err := r.GetInt(0, 1)
			sum += float64(n)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("count connections: %w", err)
		}
	}
	return sum, nil
}
