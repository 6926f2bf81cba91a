package session

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/compressed"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// refuseUnreadable writes the error for packets that can't be parsed. It returns an error that ends the session, because the
// start of the next command is unknown.
func (s *Session) refuseUnreadable(err error) error {
	s.client.Seq = 1
	switch {
	case errors.Is(err, stream.ErrTooLarge):
		return errors.Join(err, s.writeError(wire.Errorf(erTooLarge, wire.StateLink, "%v: send less at once, or raise proxy.max_statement", err)))
	case errors.Is(err, stream.ErrOutOfOrder), errors.Is(err, compressed.ErrOutOfOrder):
		s.client.Seq = 0 // as MySQL numbers it
		return errors.Join(err, s.writeError(mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)))
	}
	return err
}

// checkOrder refuses a command whose packets are not numbered from 0. seq is the number of the last packet.
func (s *Session) checkOrder(payload []byte, seq byte) error {
	if s.client.Compressed() {
		return nil
	}
	if due := byte(len(payload) / wire.MaxPayload); seq != due {
		return s.refuseUnreadable(fmt.Errorf("packet %d where %d is due: %w", seq, due, stream.ErrOutOfOrder))
	}
	return nil
}
