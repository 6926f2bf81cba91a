package ops

import (
	"context"
	"fmt"

	"locus/control/fleet"
)

// KillSession requests the end of a client's session at any proxy.
type KillSession struct {
	// Proxy is the ID, the host and port, or the address of the proxy.
	Proxy string `json:"proxy"`
	// Session is the ID of the session at that proxy, as SHOW PROCESSLIST shows it.
	Session int64 `json:"session"`
	// Statement: only the statement ends that the session runs.
	Statement bool `json:"statement,omitempty"`
}

// KillSession ends a session, or its statement, and returns the ID of the proxy. The error is an *Invalid, a *fleet.UnknownKillError if the session
// may have ended, or the reason why it has not.
func (o *Ops) KillSession(ctx context.Context, r KillSession, by string) (proxy string, err error) {
	if r.Session < 1 || r.Session > 1<<32-1 {
		return "", invalid("session %d: use the ID of a session as locus sessions list shows it", r.Session)
	}
	cards, err := fleet.Cards(ctx, o.kv)
	if err != nil {
		return "", err
	}
	at, err := fleet.Find(cards, r.Proxy)
	if err != nil {
		return "", err
	}
	proxy = cards[at].ID
	if err := fleet.SendKill(ctx, o.kv, proxy, fleet.Kill{Session: uint32(r.Session), Statement: r.Statement, By: by, At: o.now()}); err != nil {
		return proxy, fmt.Errorf("proxy %s: %w", proxy, err)
	}
	return proxy, nil
}
