package session

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
)

// identify makes the session that of a client who has just logged in: nothing
// of what it was before is left.
func (s *Session) identify(c *Client) {
	s.observer.Login(c.User)
	s.user, s.client.Capabilities, s.change, s.client.Seq = c.User, c.Capabilities, c.Change, c.NextSeq
	s.under = nil
	s.obey(s.Snapshot())
	s.client.Stream.SetLimit(s.MaxStatement)
	s.env.ClientProfile = 0
	if c.Capabilities&mysql.CLIENT_FOUND_ROWS != 0 {
		s.env.ClientProfile |= backend.FoundRows
	}
	if s.client.Extended = c.Extended&wire.ExtendedMetadata != 0; s.client.Extended {
		s.env.ClientProfile |= backend.ExtendedMetadata
	}
	s.initial = backend.Default
	if c.Charset != "" {
		s.initial = s.initial.WithNames(c.Charset, c.Collation)
	}
	if c.Capabilities&mysql.CLIENT_IGNORE_SPACE != 0 {
		s.initial = s.initial.With("sql_mode", "CONCAT(@@GLOBAL.sql_mode, ',IGNORE_SPACE')")
	}
	s.vars.Tracks = c.Capabilities&mysql.CLIENT_SESSION_TRACK != 0
	s.reset()
}

// welcome ends a login with an OK, or with an error, after which the session
// ends, if what it asked for can't be.
func (s *Session) welcome(database string) error {
	if charset, _ := s.initial.Names(); !sysvars.Readable(charset) {
		return errors.Join(s.writeError(sysvars.UnsafeCharset(charset)), errQuit)
	}
	if database != "" {
		if err := s.use(database); err != nil {
			return errors.Join(s.writeError(err), errQuit)
		}
		s.initial = s.vars.Settings
	}
	return s.writeOK(wire.OK{})
}

// changeUser answers COM_CHANGE_USER. Whatever the session had ends before it is
// known whether the client may be somebody else, as with MySQL; if it may not,
// the connection ends too.
func (s *Session) changeUser(payload []byte) error {
	s.reset()
	s.client.Stream.LimitWrites(0) // the login has limits of its own
	s.client.Stream.LimitReads(0)
	changed, err := s.change(s.ctx, s.client.Stream, payload, s.client.Seq-1)
	if err != nil {
		return err
	}
	s.identify(changed)
	return s.welcome(changed.Database)
}
