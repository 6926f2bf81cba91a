package backend

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// Target is where a shard's server is and how to log in there.
type Target struct {
	Shard    router.ShardName
	Addr     string // host:port, or the path of a unix socket
	User     string
	Password func() (string, error) // asked at every login, so a changed secret is picked up; may be called concurrently
	TLS      *tls.Config            // nil: no TLS. Never changed after it was passed in
	MaxOpen  int                    // in place of Limits.MaxOpen; 0: that
	Replicas []string               // where servers are that follow this one, with the same user, password and TLS
	MaxLag   time.Duration          // how far a replica may be behind; 0: 5s
	// Held: nothing is lent until it isn't any more, see [Pool.Emptied].
	Held bool
	// Cut, of one that is held: what is lent is cut off at once, and nothing that its server still does is waited for.
	Cut bool
	// Epoch is that of the document by which the server is the shard's primary; 0: no other one may become it without this
	// process. Else something is lent only until the time that [Pool.Lease] has told last.
	Epoch int64
	// Mark begins the name of a lock that every connection holds, so that others can tell whose it is; its number at the server
	// follows. Empty: none.
	Mark string
}

// within is the limits of this target's pool.
func (t Target) within(l Limits) Limits {
	if t.MaxOpen > 0 {
		l.MaxOpen = t.MaxOpen
	}
	return l
}

func (t Target) maxLag() time.Duration { return orDefault(t.MaxLag, defaultMaxLag) }

// sameServer reports whether connections made for t serve u as well.
func (t Target) sameServer(u Target) bool {
	return t.Addr == u.Addr && t.User == u.User && t.TLS == u.TLS
}

// Limits bound a pool. A zero field means the default that stands beside it.
type Limits struct {
	MaxOpen            int           // connections to the shard, lent, idle and being made: 100
	MaxIdle            int           // connections kept though nobody uses them: MaxOpen
	MaxWaiting         int           // borrowers in the queue; the next one is refused: 10,000
	WaitTimeout        time.Duration // in the queue: 5s
	RestartWait        time.Duration // for a server that has gone away, from when it did; later ones are refused at once: not at all
	ConnectTimeout     time.Duration // of one login, from the dial to the OK: 5s
	IdleTimeout        time.Duration // after this long unused a connection is closed: 5m, below MySQL's wait_timeout
	MaxLifetime        time.Duration // after this long, less up to a tenth, a connection is closed once it is given back: 1h
	MaxPreparedPerConn int           // statements prepared on one connection: 128, see below
}

// A server allows max_prepared_stmt_count (16,382 unless changed) over all of its connections, and 100 × 128 stays below.
const defaultMaxPrepared = 128

func (l Limits) withDefaults() Limits {
	l.MaxOpen = orDefault(l.MaxOpen, 100)
	l.MaxIdle = orDefault(l.MaxIdle, l.MaxOpen)
	l.MaxWaiting = orDefault(l.MaxWaiting, 10_000)
	l.WaitTimeout = orDefault(l.WaitTimeout, 5*time.Second)
	l.ConnectTimeout = orDefault(l.ConnectTimeout, 5*time.Second)
	l.IdleTimeout = orDefault(l.IdleTimeout, 5*time.Minute)
	l.MaxLifetime = orDefault(l.MaxLifetime, time.Hour)
	l.MaxPreparedPerConn = orDefault(l.MaxPreparedPerConn, defaultMaxPrepared)
	return l
}

func orDefault[T int | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// Profile is what can only be chosen at login. Connections of different profiles share the pool's limit.
type Profile uint8

const (
	FoundRows        Profile = 1 << iota // CLIENT_FOUND_ROWS: UPDATE counts the rows found, not the rows changed
	MultiStatements                      // CLIENT_MULTI_STATEMENTS: several statements in one text
	ExtendedMetadata                     // MariaDB's MARIADB_CLIENT_EXTENDED_METADATA: column definitions say more
)

// Capabilities are what every backend connection has agreed on besides its profile. CLIENT_LOCAL_FILES is, as a server asks for a file
// only after LOAD DATA LOCAL; the borrower answers with what its client sends, and nothing here reads a file. Neither CLIENT_DEPRECATE_EOF nor
// CLIENT_QUERY_ATTRIBUTES nor CLIENT_SESSION_TRACK is among them.
const Capabilities = mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION | mysql.CLIENT_LONG_PASSWORD |
	mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_PLUGIN_AUTH | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_CONNECT_ATTRS |
	mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_LOCAL_FILES

// capabilities lists the flags of a profile that are asked for beyond the library's own.
func (p Profile) capabilities() []uint32 {
	flags := []uint32{mysql.CLIENT_MULTI_RESULTS, mysql.CLIENT_PS_MULTI_RESULTS, mysql.CLIENT_LOCAL_FILES}
	for _, c := range []struct {
		bit  Profile
		flag uint32
	}{
		{FoundRows, mysql.CLIENT_FOUND_ROWS},
		{MultiStatements, mysql.CLIENT_MULTI_STATEMENTS},
	} {
		if p&c.bit != 0 {
			flags = append(flags, c.flag)
		}
	}
	return flags
}

// ClientTLS is TLS with the name to verify, which is the address's if it has none;
// nil without TLS.
func (t Target) ClientTLS() *tls.Config {
	if t.TLS == nil || t.TLS.ServerName != "" || t.TLS.InsecureSkipVerify {
		return t.TLS
	}
	config := t.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(t.Addr)
	return config
}
