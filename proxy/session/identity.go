package session

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
)

// identify assigns the session to a client that has just logged in. No earlier state remains.
func (s *Session) identify(c *Client) {
	s.observer.Login(c.User)
	s.user, s.client.Capabilities, s.change, s.client.Seq = c.User, c.Capabilities, c.Change, c.NextSeq
	s.accountFrom = nil
	s.refreshAccount(s.Snapshot())
	s.client.Stream.SetLimit(s.MaxStatement)
	s.client.Extended = c.Extended&wire.ExtendedMetadata != 0
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

// welcome ends a login with an OK. If the character set or database of the login can't be used, it writes an error and ends the
// session.
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
	return s.engine.WriteOK(wire.OK{})
}

// changeUser answers COM_CHANGE_USER. As with MySQL, the session is reset before the new login is checked. If the login fails,
// the connection ends too.
func (s *Session) changeUser(payload []byte) error {
	s.reset()
	s.client.Stream.LimitWrites(0) // the login has its own time limits
	s.client.Stream.LimitReads(0)
	changed, err := s.change(s.ctx, s.client.Stream, payload, s.client.Seq-1)
	if err != nil {
		return err
	}
	s.identify(changed)
	return s.welcome(changed.Database)
}
