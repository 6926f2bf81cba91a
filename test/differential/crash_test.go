package differential

import (
	"time"
)

// dying bounds how long a server takes to end that a statement has brought down.
const dying = 5 * time.Second

// erNetReadError is what the proxy says of a shard that is lost.
const erNetReadError = 1158

// lost tells of an answer that a server's end may be the reason of.
func (a *answer) lost() bool { return a.number == erNetReadError || a.number == 0xffff }

// crashed starts servers again that a statement has ended, and tells whether there was one: MySQL has
// statements that end it, with or without a proxy before it, and what they should give is not known.
func (p *pair) crashed(s *statement) bool {
	p.t.Helper()
	if !p.restarted() {
		return false
	}
	p.t.Logf("a server was ended by %s", s)
	p.proxied, p.direct = p.connect(p.shop.DB(p.t, nil)), p.connect(p.plain)
	if s.writes != nil {
		p.copy(s.writes)
	}
	return true
}

// restarted waits for a server to end, and starts those again that have.
func (p *pair) restarted() (any bool) {
	p.t.Helper()
	deadline, ticks := time.After(dying), time.NewTicker(dying/50)
	defer ticks.Stop()
	for !any {
		for _, server := range p.all {
			select {
			case <-server.Done():
				server.Restart(p.t)
				any = true
			default:
			}
		}
		select {
		case <-deadline:
			return any
		case <-ticks.C:
		}
	}
	return any
}
