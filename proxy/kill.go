package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/proxy/session"
	"locus/proxy/sysvars"
)

// killLimit is the time limit of KillSession.
const killLimit = 5 * time.Second

// Processes returns the clients' sessions in no order. It is safe for concurrent use.
func (p *Proxy) Processes() []sysvars.Process { return p.sessions.processes() }

// KillSession ends a session of any user, or only its current statement, as KILL does. The error states that the session is
// unknown, or what continues at a shard. It is safe for concurrent use.
func (p *Proxy) KillSession(ctx context.Context, id uint32, statement bool) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	err := p.sessions.Kill(ctx, session.KillRequest{ID: uint64(id), Query: statement, Any: true})
	switch {
	case errors.Is(err, session.ErrNoSession):
		return fmt.Errorf("the proxy has no session %d: locus sessions list shows its sessions", id)
	case err != nil:
		return fmt.Errorf("session %d: %w; it may still run there", id, err)
	}
	return nil
}
