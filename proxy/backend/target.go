package backend

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// Target is the address of a shard's server and the credentials to log in there.
type Target struct {
	Shard    router.ShardName
	Addr     string // host:port, or the path of a Unix socket
	User     string
	Password func() (string, error) // called at every login, so that a changed secret takes effect; may be called concurrently
	TLS      *tls.Config            // nil for no TLS; not modified afterwards
	MaxOpen  int                    // replaces Limits.MaxOpen unless 0
	Replicas []string               // addresses of its replicas, with the same user, password and TLS
	MaxLag   time.Duration          // largest lag of a usable replica; 0 means 5s
	// Held stops lending until it is false again, see [Pool.Emptied].
	Held bool
	// Cut, for a held target, means that lent connections are cut off at once. Statements still running at the server are not
	// waited for.
	Cut bool
	// Epoch identifies the document that makes the server the shard's primary. If it is 0, no other server can become the primary without
	// this process. Otherwise connections are lent only until the time passed to the last [Pool.Lease].
	Epoch int64
	// StaleReads allows reads of the last known primary without a lease, see [Pool.LastKnown].
	StaleReads bool
	// Mark is the prefix of the name of a lock that every connection holds, so that others can identify its owner. The connection's ID on
	// the server follows. Empty for none.
	Mark string
}

// within returns l adjusted for this target.
func (t Target) within(l Limits) Limits {
	if t.MaxOpen > 0 {
		l.MaxOpen = t.MaxOpen
	}
	return l
}

func (t Target) maxLag() time.Duration { return orDefault(t.MaxLag, defaultMaxLag) }

// sameServer reports whether connections made for t are usable for u too.
func (t Target) sameServer(u Target) bool {
	return t.Addr == u.Addr && t.User == u.User && t.TLS == u.TLS
}

// Limits bound a pool. A zero field stands for the default in its comment.
type Limits struct {
	MaxOpen            int           // connections to the shard, whether lent, idle or being made: 100
	MaxIdle            int           // idle connections kept: MaxOpen
	MaxWaiting         int           // borrowers in the queue, beyond which they are refused: 10,000
	WaitTimeout        time.Duration // time in the queue: 5s
	RestartWait        time.Duration // how long borrowers wait for a server after it went down, before they are refused at once: 0
	ConnectTimeout     time.Duration // time for one login, from the dial to the OK: 5s
	IdleTimeout        time.Duration // time without use after which a connection is closed: 5m, below MySQL's wait_timeout
	MaxLifetime        time.Duration // age, less up to a tenth, after which a connection is closed once it is given back: 1h
	MaxPreparedPerConn int           // statements prepared on one connection: 128, see below
}

// defaultMaxPrepared keeps 100 connections below max_prepared_stmt_count, which the server applies to all connections together (default
// 16,382).
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

// Profile is a set of options that can be chosen only at login. Connections of different profiles share the pool's limit.
type Profile uint8

const (
	FoundRows        Profile = 1 << iota // CLIENT_FOUND_ROWS: UPDATE counts matched rows, not changed rows
	MultiStatements                      // CLIENT_MULTI_STATEMENTS: several statements in one text
	ExtendedMetadata                     // MARIADB_CLIENT_EXTENDED_METADATA: column definitions carry more
)

// Capabilities are those that every backend connection negotiates besides its profile. CLIENT_LOCAL_FILES is included, because a server
// requests a file only after LOAD DATA LOCAL. The borrower answers with what its client sends; this package reads no file.
// CLIENT_DEPRECATE_EOF, CLIENT_QUERY_ATTRIBUTES and CLIENT_SESSION_TRACK are not included.
const Capabilities = mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION | mysql.CLIENT_LONG_PASSWORD |
	mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_PLUGIN_AUTH | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_CONNECT_ATTRS |
	mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_LOCAL_FILES

// capabilities lists the flags to request beyond the library's own.
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

// ClientTLS returns the TLS configuration with a server name to verify, by default that of the address. It returns nil without TLS.
func (t Target) ClientTLS() *tls.Config {
	if t.TLS == nil || t.TLS.ServerName != "" || t.TLS.InsecureSkipVerify {
		return t.TLS
	}
	config := t.TLS.Clone()
	config.ServerName, _, _ = net.SplitHostPort(t.Addr)
	return config
}
