package session

import (
	"strconv"
	"strings"
	"time"

	"locus/proxy/wire"
)

// ownLimit is the time that the session itself allows a statement, as the servers
// have it: max_execution_time in milliseconds, max_statement_time in seconds.
func (s *Session) ownLimit() time.Duration {
	for name, unit := range map[string]time.Duration{"max_execution_time": time.Millisecond, "max_statement_time": time.Second} {
		if literal, ok := s.settings.Lookup(name); ok {
			if n, err := strconv.ParseFloat(strings.Trim(literal, "'"), 64); err == nil && n > 0 && n < 1e9 {
				return time.Duration(n * float64(unit))
			}
		}
	}
	return 0
}

// waitTimeout reads a value of wait_timeout, in seconds; 0 stands for what all
// have.
func waitTimeout(literal string) time.Duration {
	n, err := strconv.ParseUint(literal, 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(max(n, 1)) * time.Second
}

// interruption is last, or for a statement that was cancelled an ending that says
// why, and for one before others of the same text one that quotes those too.
func (s *Session) interruption(last ending) ending {
	if !s.interrupts.Cancelled() && len(s.behind) == 0 {
		return last
	}
	return func(dst, packet []byte) ([]byte, error) {
		switch {
		case wire.IsERR(packet[wire.HeaderSize:]):
			e, err := wire.ParseERR(packet[wire.HeaderSize:])
			if err != nil {
				return nil, err
			}
			_, seq := wire.Header(packet)
			dst, _ = wire.AppendERR(dst, seq, s.nearest(s.reworded(e)), s.capabilities)
			return dst, nil
		case last == nil:
			return append(dst, packet...), nil
		}
		return last(dst, packet)
	}
}
