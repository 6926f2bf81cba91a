package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locus/control/fleet"
)

// Drain requests that a process stops after its statements and transactions have ended.
type Drain struct {
	Process string `json:"process"` // the process's ID, its host and port, or its address
	// Last accepts that no proxy is left.
	Last bool `json:"last,omitempty"`
}

// Evict requests that a process stops at once. Its statements end, and its transactions are rolled back.
type Evict struct {
	Process string `json:"process"` // the process's ID, its host and port, or its address
	// Last accepts that no proxy is left.
	Last bool `json:"last,omitempty"`
}

// Leaving is a process that is asked to stop, and the processes that remain without it.
type Leaving struct {
	Process fleet.Card
	Proxies int // the other proxies, without those that are stopping too
	Others  int // the other processes

	stops *fleet.Stops
}

// IsLastProxy reports whether applications have no proxy without the process.
func (l *Leaving) IsLastProxy() bool { return l.Process.Proxies() && l.Proxies == 0 }

// PlanLeaving returns a process that is to stop. Nothing is written.
func (o *Ops) PlanLeaving(ctx context.Context, process string) (*Leaving, error) {
	if process == "" {
		return nil, invalid("no process is named; locus proxies list lists the processes")
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	at, err := fleet.Find(cards, process)
	if err != nil {
		return nil, err
	}
	stopping, err := fleet.Stopping(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	l := &Leaving{Process: cards[at], stops: stopping}
	for i, c := range cards {
		switch {
		case i == at:
			continue
		case c.Proxies() && !stopping.IDs[c.ID]:
			l.Proxies++
		}
		l.Others++
	}
	return l, nil
}

// Drain asks a process to stop. It does not wait until the process has ended.
func (o *Ops) Drain(ctx context.Context, r Drain, by string) (*Leaving, error) {
	return o.stop(ctx, fleet.Drain, r.Process, r.Last, by)
}

// Evict asks a process to stop at once. It does not wait until the process has ended.
func (o *Ops) Evict(ctx context.Context, r Evict, by string) (*Leaving, error) {
	return o.stop(ctx, fleet.Evict, r.Process, r.Last, by)
}

func (o *Ops) stop(ctx context.Context, how fleet.Order, process string, last bool, by string) (*Leaving, error) {
	l, err := o.PlanLeaving(ctx, process)
	if err != nil {
		return nil, err
	}
	return l, o.send(ctx, l, how, last, by)
}

// send writes a planned request.
func (o *Ops) send(ctx context.Context, l *Leaving, how fleet.Order, last bool, by string) error {
	if l.IsLastProxy() && !last {
		return fmt.Errorf("process %s is the only proxy, so that applications have none without it; start another one first, or accept it by last: true", l.Process.ID)
	}
	return l.stops.Send(ctx, o.kv, l.Process.ID, how, by, o.now())
}

// AwaitGone waits until a process has ended, for patience at most. It calls progress repeatedly until then.
func (o *Ops) AwaitGone(ctx context.Context, id string, patience time.Duration, progress func(context.Context)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		cards, err := fleet.Processes(ctx, o.kv)
		if err == nil && !slices.ContainsFunc(cards, func(c fleet.Card) bool { return c.ID == id }) {
			return nil
		}
		progress(ctx)
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("proxy %s got the request, and still runs after %v: locus proxies list shows when it is gone", id, patience))
		case <-ticker.C:
		}
	}
}
