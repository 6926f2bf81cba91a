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

// Conn is a logged-in connection to a shard's server. Whoever has borrowed it uses it alone, from one goroutine at a time;
// only Interrupt and the methods that tell what it was born with may be called from others.
type Conn struct {
	stream   *stream.Conn
	addr     string
	shard    router.ShardName
	version  string
	threadID uint32
	mark     string // the statement that marks it as ours, see Target.Mark
	profile  Profile

	// Of the pool, set before the connection is first lent.
	generation int       // of the target that it was made for
	expires    time.Time // not lent after that
	resets     *resets

	// Of the pool, under its mutex.
	lent     bool
	schemas  int // the pool's, when it was last lent
	returned time.Time
	waited   time.Duration // how long its borrower did

	// Of the borrower while lent, else of the pool.
	settings *Settings // nil: unknown but for the database
	invalid  []string  // names of it that may have other values than it says: see Invalidate
	database string
	status   uint16 // SERVER_STATUS_… as last told
	left     uint8  // by the borrower's statements, which nothing has taken away yet: see Leaves
	changed  bool   // the server has told that they left something: see Stats.Unforeseen
	broken   bool   // an answer is missing: can't be used any more
	dead     bool   // and was not waited for: the server had closed it
	leaving  bool   // and the server is shutting down
	prepared statements
	pulse    *pulse
	term     *stream.Term // of what it lends itself to; nil: it has no end
	out      []byte       // the command being built; kept for the next one if small

	elsewhere   atomic.Uint64 // 1 more than what had been received when another server could be asked; 0: none can
	interrupted atomic.Bool
	cutOff      bool                  // by a hold, and its server is asked to end it; the pool's mutex guards it
	givenUp     atomic.Pointer[error] // why the pool has interrupted it; nil: somebody else did, or nobody
}

func newConn(s *stream.Conn, raw net.Conn, t Target, prof Profile) *Conn {
	return &Conn{stream: s, addr: t.Addr, shard: t.Shard, profile: prof, pulse: newPulse(raw), settings: atLogin}
}

// Stream is where answers are read from. Commands go through Send.
func (c *Conn) Stream() *stream.Conn { return c.stream }

// Shard is the shard that the connection goes to.
func (c *Conn) Shard() router.ShardName { return c.shard }

// ServerVersion is the server's, without the "5.5.5-" that MariaDB puts before its own.
func (c *Conn) ServerVersion() string { return c.version }

// ThreadID is the connection's ID on the server, for KILL.
func (c *Conn) ThreadID() uint32 { return c.threadID }

// Waited is how long its borrower waited for it: for a free one, or for a login.
func (c *Conn) Waited() time.Duration { return c.waited }

// Profile is what was chosen at login.
func (c *Conn) Profile() Profile { return c.profile }

// Settings is what the connection carries; nil: that is not known.
func (c *Conn) Settings() *Settings { return c.settings }

// Adopt tells that the borrower brought the connection to other settings itself, by a SET or USE that it passed on, or by
// statements that assigned user variables.
func (c *Conn) Adopt(s *Settings) {
	c.settings, c.database = s, s.database
	c.left &^= leftVariables
}

// Invalidate tells that the connection must be given the session's values of some variables anew when it carries settings next,
// though it may have been brought to the same ones before: stored code may have set them since. The name names stands for what
// SET NAMES sets. What it was before is given, for the borrower whose SET was refused: see Revalidate.
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

// Revalidate goes back to what Invalidate gave.
func (c *Conn) Revalidate(before []string) { c.invalid = before }

// SetStatus tells the status flags of an answer that the borrower has read. A connection can't be returned while they say
// that a transaction is open.
func (c *Conn) SetStatus(flags uint16) {
	c.status = flags
	if flags&serverSessionStateChanged != 0 {
		c.changed = true
	}
}

const serverSessionStateChanged = 0x4000

// Status is the status flags of the last answer, as far as the connection was told.
func (c *Conn) Status() uint16 { return c.status }

// InTransaction reports whether the last status told of an open transaction.
func (c *Conn) InTransaction() bool { return c.status&mysql.SERVER_STATUS_IN_TRANS != 0 }

// Send writes packets as they are, headers included, with one write. An error is a *LostError. If it says that nothing was
// sent, the last of the packets is not whole at the server and didn't take effect; of earlier ones that isn't known. leaves is
// the worst that they may leave.
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
			return c.Lost(true, why) // sending it again would end alike
		}
		return c.Lost(false, err)
	}
	return nil
}

// tooLarge gives what a server said that reads no further, because the packet is longer than its max_allowed_packet; nil if
// it said nothing of the kind.
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

// Lost marks the connection as broken, so that it is closed when it comes back, and gives the error to report: sent says
// whether the command had left. For a borrower whose own reading or writing of the Stream failed.
func (c *Conn) Lost(sent bool, cause error) *LostError {
	c.broken = true
	if why := c.givenUp.Load(); why != nil {
		cause = *why
	} else if errors.Is(cause, stream.ErrOver) {
		cause = errUnleased
	}
	if already, ok := cause.(*LostError); ok { //nolint:errorlint // what it wraps is kept
		cause = already.Err
	}
	return &LostError{Shard: c.shard, Addr: c.addr, Sent: sent, Err: cause}
}

// Usable reports whether a command may be sent on c: it did not break, and nobody has interrupted it.
func (c *Conn) Usable() bool { return !c.broken && !c.interrupted.Load() }

func (c *Conn) close() { _ = c.stream.Close() }

// leave closes c, and tells the server if it may still be told something.
func (c *Conn) leave() {
	if c.Usable() {
		c.quit()
		return
	}
	c.close()
}

// quit closes c after telling the server, which otherwise counts an aborted client. For idle connections, where the write
// finds room in the socket's buffer at once.
func (c *Conn) quit() {
	_ = c.stream.SetDeadline(time.Now().Add(time.Second))
	_, _ = c.stream.Write([]byte{1, 0, 0, 0, mysql.COM_QUIT})
	c.close()
}
