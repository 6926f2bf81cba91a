package handshake

import (
	"crypto/rsa"
	"crypto/tls"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// Capabilities are those offered to clients by default; CLIENT_SSL is offered if there is a certificate.
const Capabilities = mysql.CLIENT_LONG_PASSWORD | mysql.CLIENT_FOUND_ROWS | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_CONNECT_WITH_DB |
	mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_INTERACTIVE | mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_SECURE_CONNECTION |
	mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_PLUGIN_AUTH |
	mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA | mysql.CLIENT_CONNECT_ATTRS | mysql.CLIENT_MULTI_STATEMENTS | mysql.CLIENT_DEPRECATE_EOF |
	mysql.CLIENT_SESSION_TRACK | mysql.CLIENT_QUERY_ATTRIBUTES | mysql.CLIENT_LOCAL_FILES |
	mysql.CLIENT_IGNORE_SPACE | mysql.CLIENT_COMPRESS | mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM

const (
	defaultMaxPacket = 16 << 10
	defaultCollation = 45 // utf8mb4_general_ci, which every server and client knows
	maxAttributes    = 64
)

// Accounts knows who may log in. It is used by many goroutines at once.
type Accounts interface {
	// Lookup returns the account of that name. If there is none, the account returned is that of somebody else, or the zero one: the
	// login is then conducted as if it were the user's, so that it looks like any other, and refused whatever the password.
	Lookup(user string) (Account, bool)
}

// Config is what logins have in common. It isn't changed once it is in use.
type Config struct {
	ServerVersion func() string
	ConnectionID  func() uint32 // a number for each login, told to the client
	Accounts      Accounts
	Digests       *Digests        // nil: accounts known by a hash only take the full path every time
	Attempts      *Attempts       // nil: failed logins are answered at once
	TLS           *tls.Config     // nil: none
	RSA           *rsa.PrivateKey // nil: the full path of caching_sha2_password is for TLS and Unix sockets only
	Capabilities  uint32          // offered to clients; 0 means Capabilities
	Collation     func() byte     // the default told to clients, which some take for their own; nil or 0 means utf8mb4_general_ci
	Extended      func() uint32   // of MariaDB's own, offered to clients; nil: none
	MaxPacket     int             // longest payload before the login is complete, in bytes; 0 means 16 KiB
}

func (c *Config) offered() uint32 {
	offered := c.Capabilities
	if offered == 0 {
		offered = Capabilities
	}
	if c.TLS != nil {
		return offered | mysql.CLIENT_SSL
	}
	return offered &^ mysql.CLIENT_SSL
}

func (c *Config) extended() uint32 {
	if c.Extended == nil {
		return 0
	}
	return c.Extended()
}

// Client is who has logged in, and how.
type Client struct {
	Stream       *stream.Conn // encrypted if TLS is; its limit is still that of Config.MaxPacket
	NextSeq      byte         // the sequence number of the OK or ERR that the client still waits for
	ConnectionID uint32
	User         string
	Database     string            // empty if none was asked for
	Capabilities uint32            // offered and wanted
	Extended     uint32            // the same of MariaDB's own
	Collation    uint16            // ID; of a client with a larger one than 255, only the lower eight bits arrive
	Attributes   map[string]string // connection attributes, at most 64
	MaxPacket    uint32            // the longest payload that the client says it takes, in bytes; 0 if it doesn't say
	TLS          bool
	Plugin       string // by which it was authenticated

	nonce [wire.NonceSize]byte
}
