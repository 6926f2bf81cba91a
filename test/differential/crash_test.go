package differential

import (
	"time"
)

// dying bounds how long a server takes to end that a statement has brought down.
const dying = 5 * time.Second

// erNetReadError is the proxy's error for a lost shard.
const erNetReadError = 1158

// lost reports whether the crash of a server may be the cause of an answer.
func (a *answer) lost() bool { return a.number == erNetReadError || a.number == 0xffff }

// crashed restarts servers that a statement has crashed, and reports whether there were any. Some statements
// crash MySQL, with or without a proxy, so their correct answers are unknown.
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
