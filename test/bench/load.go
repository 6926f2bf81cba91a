package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	answerPatience = 60 * time.Second // a big result at 32 at once on a busy machine
	pollSlice      = 100              // ms between checks of ctx
	readBuffer     = 256 << 10
)

// loadClient does its script over and over, one iteration after the other.
type loadClient struct {
	script  script
	links   []*link // each step is sent to all of them, and ends when all have answered
	step    int
	waiting int // number of links that have not answered the step
	draw    draw
	began   time.Time // the iteration
}

// load runs several clients in one thread with one epoll descriptor. It is not safe for concurrent use.
type load struct {
	epoll   int
	clients []*loadClient
	links   []*link
	events  []unix.EpollEvent
	buffer  []byte

	until time.Time // no iteration begins after
	busy  int       // clients in an iteration
	tally tally
}

// tally contains the results of a run.
type tally struct {
	statements int
	bytes      int64 // received
	elapsed    time.Duration
	latencies  []time.Duration // per iteration, unordered; valid until the next run
}

// newLoad connects n clients, each to all of the endpoints.
func newLoad(ctx context.Context, n int, at []endpoint, s scripting, p protocol, deprecateEOF bool) (*load, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	l := &load{epoll: epoll, events: make([]unix.EpollEvent, 64), buffer: make([]byte, readBuffer)}
	l.tally.latencies = make([]time.Duration, 0, 1<<18)
	for i := range n {
		c := &loadClient{script: s(i, n)}
		for _, e := range at {
			if err := l.connect(ctx, c, e, p, deprecateEOF); err != nil {
				l.close()
				return nil, fmt.Errorf("client %d: %w", i+1, err)
			}
		}
		l.clients = append(l.clients, c)
	}
	return l, nil
}

func (l *load) connect(ctx context.Context, c *loadClient, at endpoint, p protocol, deprecateEOF bool) error {
	k, err := dial(ctx, at, c.script.steps, p, deprecateEOF)
	if err != nil {
		return err
	}
	return l.add(c, k)
}

// add puts a link under the loop's eyes.
func (l *load) add(c *loadClient, k *link) error {
	k.client = c
	c.links = append(c.links, k)
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(len(l.links))}
	l.links = append(l.links, k)
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, k.fd, &event); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// run lets every client iterate at least once and until d has passed, and returns when the last iteration is
// complete. After an error the load can only be closed.
func (l *load) run(ctx context.Context, d time.Duration) (tally, error) {
	start := time.Now()
	l.until = start.Add(d)
	l.tally = tally{latencies: l.tally.latencies[:0]}
	l.busy = len(l.clients)
	for _, c := range l.clients {
		if err := c.begin(start); err != nil {
			return tally{}, err
		}
	}
	silent := start
	for l.busy > 0 {
		n, err := unix.EpollWait(l.epoll, l.events, pollSlice)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return tally{}, fmt.Errorf("epoll_wait: %w", err)
		case ctx.Err() != nil:
			return tally{}, context.Cause(ctx)
		case n > 0:
			silent = time.Time{}
		case silent.IsZero():
			silent = time.Now()
		case time.Since(silent) > answerPatience:
			return tally{}, fmt.Errorf("%d clients have waited for %s without a byte", l.busy, answerPatience)
		}
		for _, event := range l.events[:max(n, 0)] {
			if err := l.receive(l.links[event.Fd]); err != nil {
				return tally{}, err
			}
		}
	}
	l.tally.elapsed = time.Since(start)
	return l.tally, nil
}

// receive reads the available bytes of a link. If they complete a step, it continues with the client.
func (l *load) receive(k *link) error {
	n, err := unix.Read(k.fd, l.buffer)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return nil
	}
	c := k.client
	if err == nil && n == 0 {
		err = errors.New("the connection was closed")
	}
	if err != nil {
		return c.failed(err)
	}
	l.tally.bytes += int64(n)
	done, err := k.in.feed(l.buffer[:n])
	if err != nil {
		return c.failed(err)
	}
	if !done {
		return nil
	}
	if err := c.script.steps[c.step].want.check(&k.in.answer, &c.draw, k.requests[c.step].statement != 0); err != nil {
		return c.failed(err)
	}
	if c.waiting--; c.waiting > 0 {
		return nil
	}
	l.tally.statements++
	return l.advance(c)
}

// advance begins the next step. After the last one it begins the next iteration if there is time.
func (l *load) advance(c *loadClient) error {
	if c.step++; c.step < len(c.script.steps) {
		return c.send()
	}
	now := time.Now()
	l.tally.latencies = append(l.tally.latencies, now.Sub(c.began))
	if now.Before(l.until) {
		return c.begin(now)
	}
	l.busy--
	return nil
}

func (c *loadClient) begin(now time.Time) error {
	c.began, c.step, c.draw = now, 0, c.script.next()
	return c.send()
}

func (c *loadClient) send() error {
	c.waiting = len(c.links)
	for _, k := range c.links {
		if err := k.send(c.step, &c.draw); err != nil {
			return c.failed(err)
		}
	}
	return nil
}

// failed names the statement that an error is about, in the form in which it can be tried by hand.
func (c *loadClient) failed(err error) error {
	r, _ := newRequest(c.script.steps[c.step])
	return fmt.Errorf("%s: %w", r.appendText(nil, &c.draw)[1:], err)
}

func (l *load) close() {
	for _, k := range l.links {
		k.close()
	}
	_ = unix.Close(l.epoll)
}
