package session

import (
	"locus/proxy/reply"
	"locus/proxy/wire"
)

// finalEnding returns the ending that an answer gets after last. For a cancelled statement it replaces an error by the reason.
// For a statement before others of the same text, it makes a syntax error quote those too. Otherwise it returns last itself.
func (s *Session) finalEnding(last reply.Ending) reply.Ending {
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
			dst, _ = wire.AppendERR(dst, seq, s.quoteRest(s.reworded(e)), s.client.Capabilities)
			return dst, nil
		case last == nil:
			return append(dst, packet...), nil
		}
		return last(dst, packet)
	}
}
