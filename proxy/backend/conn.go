package backend

import (
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router"
)

// Conn is a logged-in connection to a shard's server. Its borrower has exclusive use of it, from one goroutine at a time. Only
// Interrupt and the methods that return fixed properties may be called from other goroutines.
type Conn struct {
	stream   *stream.Conn
	addr     string
	shard    router.ShardName
	version  string
	threadID uint32
	mark     string // the statement that sets the mark, see Target.Mark
	profile  Profile

	// The pool sets these fields before it lends the connection for the first time.
	generation int       // generation of the target that it was made for
	expires    time.Time // the connection is not lent after this time
	resets     *resets

	// Guarded by the pool's mutex.
	lent     bool
	cleaned  bool // returned and reset, and not yet passed on
	schemas  int  // the pool's schemas when the connection was last lent
	returned time.Time
	waited   time.Duration // how long its borrower waited for it

	// The borrower owns these fields while the connection is lent, and the pool owns them otherwise.
	settings *Settings // nil if unknown but for the database
	invalid  []string  // names whose values may differ from settings, see Invalidate
	database string
	status   uint16 // the last SERVER_STATUS_… flags received
	left     uint8  // state that the borrower's statements may have left, not yet cleared, see Leaves
	changed  bool   // the server reported that they left something, see Stats.Unforeseen
	broken   bool   // an answer is missing, so it can't be used again
	dead     bool   // the server closed it before the answer, which was not waited for
	leaving  bool   // the server is shutting down
	prepared statements
	pulse    *pulse
	term     *stream.Term // answers count until it ends; nil for no end
	out      []byte       // the command being built; kept for the next one if small

	elsewhere   atomic.Uint64 // Received plus 1 at the time of Elsewhere; 0 if no other server can be asked
	interrupted atomic.Bool
	cutOff      bool                  // a hold has closed the connection, and also asks the server to end it; guarded by the pool's mutex
	givenUp     atomic.Pointer[error] // why the pool interrupted it; nil if it didn't
}

func newConn(s *stream.Conn, raw net.Conn, t Target, prof Profile) *Conn {
	return &Conn{stream: s, addr: t.Addr, shard: t.Shard, profile: prof, pulse: newPulse(raw), settings: atLogin}
}

// Stream returns the stream to read answers from. Commands are sent with Send.
func (c *Conn) Stream() *stream.Conn { return c.stream }

// Shard returns the shard that the connection goes to.
func (c *Conn) Shard() router.ShardName { return c.shard }

// Addr returns the address of its server.
func (c *Conn) Addr() string { return c.addr }

// ServerVersion returns the server's version, without MariaDB's prefix "5.5.5-".
func (c *Conn) ServerVersion() string { return c.version }

// ThreadID returns the connection's ID on the server, for KILL.
func (c *Conn) ThreadID() uint32 { return c.threadID }

// Waited returns how long the borrower waited for a free connection or a login.
func (c *Conn) Waited() time.Duration { return c.waited }

// Profile returns the profile chosen at login.
func (c *Conn) Profile() Profile { return c.profile }

// Settings returns the settings that the connection carries, or nil if they are unknown.
func (c *Conn) Settings() *Settings { return c.settings }

// Adopt records settings that the borrower itself brought the connection to, by a SET or USE that it passed on or by statements
// that assigned user variables.
func (c *Conn) Adopt(s *Settings) {
	c.settings, c.database = s, s.database
	c.left &^= leftVariables
}

// Invalidate marks variables whose values on the connection may differ from its settings, because stored code may have set them
// since. The next Carry assigns them again, even if the settings are the same. The name "names" stands for the variables that
// SET NAMES sets. Invalidate returns the previous marks, for a borrower whose SET was refused; see Revalidate.
func (c *Conn) Invalidate(names []string) (before []string) {
	before = c.invalid
	c.invalid = slices.Clip(before)
	for _, name := range names {
		if !slices.Contains(c.invalid, name) {
			c.invalid = append(c.invalid, name)
		}
	}
	return before
}

// Revalidate restores the marks that Invalidate returned.
func (c *Conn) Revalidate(before []string) { c.invalid = before }

// SetStatus records the status flags of an answer that the borrower has read. A connection can't be returned while they show an
// open transaction.
func (c *Conn) SetStatus(flags uint16) {
	c.status = flags
	if flags&serverSessionStateChanged != 0 {
		c.changed = true
	}
}

const serverSessionStateChanged = 0x4000

// Status returns the status flags of the last answer that was recorded.
func (c *Conn) Status() uint16 { return c.status }

// InTransaction reports whether the last status showed an open transaction.
func (c *Conn) InTransaction() bool { return c.status&mysql.SERVER_STATUS_IN_TRANS != 0 }

// Send writes packets, headers included, with one write. An error is a *LostError. If it says that nothing was sent, the server
// doesn't have the last packet whole, so it had no effect. The effect of earlier packets is then unknown. leaves is the worst
// that the packets may leave.
func (c *Conn) Send(packets []byte, leaves Leaves) error {
	c.Note(leaves)
	if c.term.Over() {
		return c.Lost(false, errUnleased)
	}
	if _, err := c.stream.Write(packets); err != nil {
		if c.givenUp.Load() != nil {
			return c.Lost(false, err)
		}
		if why := c.tooLarge(); why != nil {
			return c.Lost(true, why) // the statement would fail again if repeated
		}
		return c.Lost(false, err)
	}
	return nil
}

// tooLarge returns the server's error about a packet longer than its max_allowed_packet, after which it reads no further. It
// returns nil if the server sent no such error.
func (c *Conn) tooLarge() error {
	_ = c.stream.SetDeadline(time.Now().Add(time.Second))
	payload, _, err := c.stream.Payload()
	if err != nil || !wire.IsERR(payload) {
		return nil
	}
	if e, err := wire.ParseERR(payload); err == nil && e.Code == mysql.ER_NET_PACKET_TOO_LARGE {
		return e
	}
	return nil
}

// Lost marks the connection as broken, so that it is closed when it comes back, and returns the error to report. sent reports
// whether the command had been sent. It is for a borrower whose own read or write of the Stream failed.
func (c *Conn) Lost(sent bool, cause error) *LostError {
	c.broken = true
	if why := c.givenUp.Load(); why != nil {
		cause = *why
	} else if errors.Is(cause, stream.ErrOver) {
		cause = errUnleased
	}
	if already, ok := cause.(*LostError); ok { //nolint:errorlint // the wrapped error is kept
		cause = already.Err
	}
	return &LostError{Shard: c.shard, Addr: c.addr, Sent: sent, Err: cause}
}

// Usable reports whether a command may be sent on c. It is false once c broke or was interrupted.
func (c *Conn) Usable() bool { return !c.broken && !c.interrupted.Load() }

func (c *Conn) close() { _ = c.stream.Close() }

// leave closes c. If the server can still be reached, it sends COM_QUIT first.
func (c *Conn) leave() {
	if c.Usable() {
		c.quit()
		return
	}
	c.close()
}

// quit sends COM_QUIT and closes c, since the server otherwise counts an aborted client. It is for idle connections, where the
// write fits into the socket's buffer at once.
func (c *Conn) quit() {
	_ = c.stream.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.stream.Write([]byte{1, 0, 0, 0, mysql.COM_QUIT})
	c.close()
}
