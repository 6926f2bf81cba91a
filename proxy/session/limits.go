package session

import (
	"locus/proxy/reply"
	"locus/proxy/wire"
)

// interruption is last, or for a statement that was cancelled an ending that says
// why, and for one before others of the same text one that quotes those too.
func (s *Session) interruption(last reply.Ending) reply.Ending {
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
			dst, _ = wire.AppendERR(dst, seq, s.nearest(s.reworded(e)), s.client.Capabilities)
			return dst, nil
		case last == nil:
			return append(dst, packet...), nil
		}
		return last(dst, packet)
	}
}
