package ops

import (
	"context"
	"slices"

	"locus/control/fleet"
)

// Drain requests that a process stops after its statements and transactions have ended.
type Drain struct {
	Process string `json:"process"` // its ID, its host and port, or its address
	// Last accepts that no proxy is left.
	Last bool `json:"last,omitempty"`
}

// Drained is the process that stops, and the number of the proxies that are left.
type Drained struct {
	Process string
	Left    int
}

// Drain asks a process to stop. It does not wait until the process has ended.
func (o *Ops) Drain(ctx context.Context, r Drain, by string) (Drained, error) {
	if r.Process == "" {
		return Drained{}, invalid("no process is named; locus proxies list lists the processes")
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return Drained{}, err
	}
	at, err := fleet.Find(cards, r.Process)
	if err != nil {
		return Drained{}, invalid("%v", err)
	}
	id, proxies := cards[at].ID, cards[at].Proxies()
	left := len(slices.DeleteFunc(cards, func(c fleet.Card) bool { return !c.Proxies() || c.ID == id }))
	if proxies && left == 0 && !r.Last {
		return Drained{}, invalid("process %s is the only proxy, so that applications have none without it; start another one first, or accept it by last: true", id)
	}
	return Drained{id, left}, fleet.Send(ctx, o.kv, id, fleet.Drain, by, o.now())
}
